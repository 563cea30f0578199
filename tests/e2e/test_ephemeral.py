"""Short-lived nodes on real programs: one command enrols, runs and leaves, and nothing of it stays in the registry."""

import json
import os
import signal
import tempfile
import unittest

from harness import BIN, Deployment, Program, eventually


class Ephemeral(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)
        self.world.start_hub("heartbeat_interval: 1s\ndead_after: 2s\nephemeral_lost_after: 3s\n")
        self.temporary = self.world.root / "tmp"
        self.temporary.mkdir()

    def start(self, *words, name="short", token_by="file"):
        world = self.world
        token = json.loads(world.ok("node", "token", "create", "--json"))["token"]
        env = dict(world.env, TMPDIR=str(self.temporary))
        how = []
        if token_by == "file":
            file = world.root / f"{name}.token"
            file.write_text(token + "\n")
            file.chmod(0o600)
            how = ["--token-file", file]
        else:
            env["OUTHAUL_TOKEN"] = token
        node = Program([BIN / "outhaul-node", "run", "--ephemeral", "--hub", world.url, "--ca-fingerprint", world.fingerprint,
                        "--name", name, "--isolation", "trusted", *how, *words], world.root / f"{name}.log", env).start()
        self.addCleanup(node.kill)
        return node

    def nodes(self):
        return [each["name"] for each in self.world.json("node", "list")]

    def attached(self, node, name="short"):
        eventually(lambda: any(each["name"] == name and each["health"] == "attached" for each in self.world.json("node", "list")) or
                   not node.is_alive(), what="attached: " + node.text()[-2000:])
        self.assertTrue(node.is_alive(), node.text())

    def ended(self, node, status=0, limit=60):
        self.assertEqual(node.process.wait(limit), status, node.text())

    def actions(self, name):
        lines = self.world.ok("audit", "show", "--json").splitlines()
        return [entry["action"] for entry in map(json.loads, lines) if name in json.dumps(entry)]

    def test_it_leaves_after_its_tasks_and_nothing_stays(self):  # proves A11
        world = self.world
        node = self.start("--tasks", "2", token_by="environment")
        self.attached(node)
        self.assertTrue(world.json("node", "list")[0]["ephemeral"])

        self.assertEqual(world.ok("run", "--shell", "seq 100000 | tail -1"), "100000\n")
        self.assertTrue(node.is_alive())
        self.assertEqual(world.ok("run", "--", "echo", "second"), "second\n")

        self.ended(node)
        self.assertEqual(self.nodes(), [])
        self.assertEqual(os.listdir(self.temporary), [])
        self.assertIn("node.left", self.actions("short"))
        self.assertTrue(all(each["state"] == "finished" for each in world.json("task", "list")), world.json("task", "list"))

    def test_a_signal_ends_what_runs_delivers_it_and_leaves(self):  # proves A11
        world = self.world
        config = world.root / "short.yaml"
        config.write_text("version: 1\ndrain_limit: 1s\n")
        config.chmod(0o600)
        node = self.start("--config", config, "--data", world.root / "given")
        self.attached(node)
        run = world.popen("run", "--shell", "trap 'echo ended; exit 7' TERM; echo begun; sleep 600 & wait", stdout=-1, stderr=-1)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"begun\n")

        node.process.send_signal(signal.SIGTERM)
        self.ended(node)
        out, _ = run.communicate(timeout=30)

        self.assertEqual(out, b"ended\n")
        self.assertEqual(self.nodes(), [])
        # A directory that was given stays, as evidence; nothing in it is an identity any more.
        left = set(os.listdir(world.root / "given"))
        self.assertIn("identity-left.json", left)
        self.assertFalse(left & {"identity.json", "tls.key", "signing.key"}, left)
        again = self.start("--data", world.root / "given", name="again")
        self.ended(again, 1)
        self.assertIn("has left the hub", again.text())

    def test_one_that_died_is_removed_by_the_hub(self):  # proves A11
        world = self.world
        node = self.start()
        self.attached(node)
        run = world.popen("run", "--shell", "echo begun; sleep 600", stdout=-1, stderr=-1)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"begun\n")

        node.kill()
        eventually(lambda: self.nodes() == [], 30, "the node gone: " + str(self.nodes()))

        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 125)
        self.assertEqual(world.latest_task()["state"], "lost")
        self.assertIn("node.removed", self.actions("short") + self.actions("ephemeral"))

    def test_it_leaves_when_it_has_nothing_to_do(self):  # proves A11
        node = self.start("--idle", "1s")

        self.ended(node)

        self.assertEqual(self.nodes(), [])

    def test_words_that_do_not_go_together_are_refused(self):
        for words in (["run"], ["run", "--tasks", "1", "--data", "x"], ["run", "--ephemeral"], ["run", "--ephemeral", "--hub", "https://h"],
                      ["run", "--data", "x", "--isolation", "trusted"]):
            node = Program([BIN / "outhaul-node", *words], self.world.root / "words.log", self.world.env).start()
            self.assertEqual(node.process.wait(30), 2, (words, node.text()))


if __name__ == "__main__":
    unittest.main()
