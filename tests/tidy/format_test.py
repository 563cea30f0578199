"""Every C++ file is as clang-format writes it; scripts/format does it."""
import re
import shutil
import subprocess
import unittest

import repository


class Format(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang-format-19"), "clang-format-19 is not installed: run scripts/setup")
    def test_tree_is_formatted(self):
        check = subprocess.run([repository.ROOT / "scripts" / "format", "--check"], capture_output=True, text=True)
        files = sorted(set(re.findall(r"^([^\s:]+):\d+:\d+: error:", check.stderr, re.M)))
        self.assertEqual(files, [], "run scripts/format")


if __name__ == "__main__":
    unittest.main()
