"""Certificates on real programs: renewed under running work, after a sleep, refused after a removal or a rotation."""

import re
import shutil
import time
import unittest

from harness import Deployment, Program, eventually

LIFETIME = 12  # seconds


def node(world, name="alpha"):
    return next(each for each in world.json("node", "list") if each["name"] == name)


def lines_with(program, phrase):
    return sum(phrase in line for line in program.text().splitlines())


class Renewal(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)
        self.world.start_hub(f"node_certificate_lifetime: {LIFETIME}s\n")
        self.world.add_node("alpha")

    def test_certificates_renew_under_a_running_task(self):  # proves A4
        world = self.world
        before = node(world)
        run = world.popen("run", "--shell", f"i=0; while [ $i -lt {2 * LIFETIME} ]; do echo line-$i; sleep 1; i=$((i+1)); done",
                          stdout=-1, stderr=-1)
        out, err = run.communicate(timeout=120)

        self.assertEqual(run.returncode, 0, err.decode())
        self.assertEqual(out.decode(), "".join(f"line-{i}\n" for i in range(2 * LIFETIME)))
        after = node(world)
        self.assertGreaterEqual(lines_with(world.nodes["alpha"], "certificate renewed"), 2)
        self.assertGreaterEqual(lines_with(world.hub, "certificate renewed"), 2)
        self.assertGreater(after["certificate"]["expires_at"], before["certificate"]["expires_at"])
        self.assertNotEqual(after["certificate"]["key_sha256"], before["certificate"]["key_sha256"])
        self.assertEqual(after["session_id"], before["session_id"])
        self.assertIn(after["certificate"]["serial"], world.ok("node", "show", "alpha"))
        # The new certificate works: the next process dials with it.
        world.nodes["alpha"].kill()
        world.nodes["alpha"].start()
        world.wait_attached("alpha")
        self.assertEqual(world.ok("run", "--", "echo", "again"), "again\n")

    def test_a_node_that_slept_renews_before_it_attaches(self):  # proves A4
        world = self.world
        world.nodes["alpha"].kill()
        ends = node(world)["certificate"]["expires_at"]
        eventually(lambda: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - 2)) > ends[:19], what="its end")

        world.nodes["alpha"].start()
        world.wait_attached("alpha")

        self.assertGreater(node(world)["certificate"]["expires_at"], ends)
        self.assertEqual(world.ok("run", "--", "echo", "awake"), "awake\n")

    def test_a_node_removed_in_mid_task_loses_its_tunnel_within_a_second(self):  # proves A6
        world = self.world
        run = world.popen("run", "--shell", "echo begun; sleep 60", stdout=-1, stderr=-1)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"begun\n")

        began = time.monotonic()
        world.ok("node", "remove", "alpha")
        removed = time.monotonic()
        eventually(lambda: "session ended" in world.nodes["alpha"].text(), 10, "the tunnel's end")
        self.assertLess(time.monotonic() - removed, 1.0)
        self.assertLess(removed - began, 5.0)
        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 125)

        # It learns why, ends itself, and never comes back.
        log = world.nodes["alpha"]
        self.assertEqual(log.process.wait(60), 77, log.text())
        self.assertIn("node_removed", log.text())
        log.start()
        self.assertEqual(log.process.wait(60), 77, log.text())
        self.assertTrue(re.search("not attached to the hub.*node_removed", log.text()), log.text())
        self.assertEqual([each["name"] for each in world.json("node", "list")], [])

    def test_a_copy_of_the_directory_is_worthless_after_a_rotation(self):  # proves A6
        world = self.world
        copy = world.root / "copy"
        shutil.copytree(world.root / "alpha", copy, ignore=shutil.ignore_patterns("LOCK", "*.sock", "launcher*"),
                        ignore_dangling_symlinks=True)
        key = node(world)["certificate"]["key_sha256"]

        world.ok("node", "rotate", "alpha")
        eventually(lambda: node(world)["certificate"]["key_sha256"] != key, 30, "the rotation")
        self.assertFalse(node(world)["certificate"]["rotating"])
        self.assertEqual(world.ok("run", "--", "echo", "still here"), "still here\n")

        world.nodes["alpha"].kill()
        thief = Program([*world.nodes["alpha"].argv[:3], copy, *world.nodes["alpha"].argv[4:]], world.root / "copy.log", world.env)
        world.nodes["copy"] = thief.start()
        eventually(lambda: "certificate revoked" in thief.text(), 60, "the refusal")
        self.assertNotEqual(node(world)["health"], "attached")
        world.nodes["alpha"].start()
        world.wait_attached("alpha")


if __name__ == "__main__":
    unittest.main()
