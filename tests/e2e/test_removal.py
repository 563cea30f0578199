"""A removed node ends what it runs, on real programs; a hub that has no business with it cannot make it do so."""

import shutil
import signal
import subprocess
import time
import unittest

from harness import BIN, Deployment, eventually, processes


def sleepers(mark):
    return [pid for pid, _, words in processes() if words.strip() == f"sleep {mark}"]


class Removal(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)
        self.world.start_hub()

    def begin(self, script):
        run = self.world.popen("run", "--shell", "echo begun; " + script, stdout=-1, stderr=-1)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"begun\n")
        return run

    def restart_hub(self, data):
        hub = self.world.hub
        hub.argv[hub.argv.index("--data") + 1] = str(data)
        ready = self.world.root / "hub-ready.json"
        ready.unlink(missing_ok=True)
        hub.start()
        eventually(lambda: ready.exists() or not hub.is_alive(), what="the hub again: " + hub.text()[-1000:])
        self.assertTrue(hub.is_alive(), hub.text())

    def test_its_programs_end_by_term_grace_and_kill(self):  # proves A6
        world = self.world
        node = world.add_node("alpha")
        polite = self.begin("trap 'echo told; exit 3' TERM; sleep 76001 & wait")
        stubborn = self.begin("trap '' TERM; sleep 76002")
        eventually(lambda: sleepers(76001) and sleepers(76002), what="both programs")

        began = time.monotonic()
        world.ok("node", "remove", "alpha")
        eventually(lambda: "session ended" in node.text(), 10, "the tunnel's end")
        cut = time.monotonic() - began
        eventually(lambda: not sleepers(76001), 10, "the one that heeds TERM")
        polite_ended = time.monotonic() - began
        self.assertEqual(node.process.wait(60), 77, node.text())

        self.assertLess(cut, 1.5)  # the command line's own start is in it
        self.assertLess(polite_ended, 5)
        self.assertEqual(sleepers(76002), [])
        self.assertIn("what runs here is ended", node.text())
        for run in (polite, stubborn):
            self.assertEqual(run.wait(30), 125)
        eventually(lambda: not world.launchers("alpha"), 30, "the launcher's end")
        self.assertTrue((world.root / "alpha" / "identity.json").exists())
        print(f"tunnel cut after {cut * 1000:.0f} ms, the first program ended after {polite_ended * 1000:.0f} ms")

    def test_one_that_was_away_ends_them_when_it_comes_back(self):  # proves A6
        world = self.world
        node = world.add_node("alpha")
        self.begin("sleep 76003")
        node.kill()
        world.ok("node", "remove", "alpha")
        self.assertTrue(sleepers(76003))

        node.start()
        self.assertEqual(node.process.wait(60), 77, node.text())

        self.assertEqual(sleepers(76003), [])

    def test_a_restored_or_foreign_hub_ends_nothing(self):  # proves A6
        world = self.world
        # As a backup of before the enrolment.
        world.hub.kill(signal.SIGTERM)
        shutil.copytree(world.root / "hub", world.root / "yesterday")
        self.restart_hub(world.root / "hub")
        node = world.add_node("alpha")
        self.begin("sleep 76004")
        world.hub.kill(signal.SIGTERM)

        self.restart_hub(world.root / "yesterday")
        eventually(lambda: "node_unknown" in node.text(), 60, "the refusal")
        world.hub.kill()

        # Another deployment of the same name: it has no certificate of the authority that the node pinned.
        subprocess.run([BIN / "outhaul-hub", "init", "--data", world.root / "foreign", "--deployment", "e2e.internal"], check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=world.env)
        refusals = node.text().count("not attached to the hub")
        self.restart_hub(world.root / "foreign")
        eventually(lambda: node.text().count("not attached to the hub") > refusals + 1, 60, "attempts")
        world.hub.kill()

        self.assertTrue(node.is_alive())
        self.assertTrue(sleepers(76004))
        self.assertNotIn("what runs here is ended", node.text())
        self.restart_hub(world.root / "hub")
        world.wait_attached("alpha")


if __name__ == "__main__":
    unittest.main()
