"""What the documents tell people to type works: every `sh` block of the README and of docs/ is run as it stands."""

import os
import re
import subprocess

from harness import BIN, ROOT, DeploymentTest

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


def blocks():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for number, block in enumerate(BLOCK.findall(path.read_text()), 1):
            yield f"{path.relative_to(ROOT)} block {number}", block


class Documents(DeploymentTest):
    def test_every_command_block_runs(self):
        environment = dict(self.world.env, PATH=f"{BIN}:{os.environ['PATH']}")
        found = 0
        for name, block in blocks():
            found += 1
            with self.subTest(block=name):
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], env=environment, cwd=self.world.root,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(found, 0)
