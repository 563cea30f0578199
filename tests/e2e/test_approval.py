"""Enrolment with approval on real programs: both sides show one fingerprint, and nothing is issued before an operator agrees."""

import json
import re
import signal
import unittest

from harness import BIN, Deployment, Program, eventually


class Approval(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)
        self.world.start_hub()

    def token(self, *words):
        return json.loads(self.world.ok("node", "token", "create", "--json", *words))

    def enrol(self, token, name="careful", data=None):
        world = self.world
        env = dict(world.env, OUTHAUL_TOKEN=token["token"])
        program = Program([BIN / "outhaul-node", "enroll", "--hub", world.url, "--ca-fingerprint", world.fingerprint,
                           "--data", data or world.root / name, "--name", name], world.root / f"{name}.log", env).start()
        self.addCleanup(program.kill)
        return program

    def waiting(self, program):
        found = eventually(lambda: re.search("sha256:[0-9a-f]{64}", program.text()), what="the fingerprint: " + program.text())
        return found.group()

    def test_it_becomes_a_node_when_the_fingerprints_are_the_same(self):  # proves A9
        world = self.world
        token = self.token("--approve")
        program = self.enrol(token)
        shown = self.waiting(program)
        pending = world.json("node", "pending")
        self.assertEqual([each["fingerprint"] for each in pending], [shown])
        self.assertIn(shown, world.ok("node", "pending"))
        self.assertEqual(pending[0]["id"], token["id"])
        self.assertEqual(world.json("node", "list"), [])

        # Neither a restart of the hub nor one of the machine changes what waits.
        world.hub.kill(signal.SIGKILL)
        (world.root / "hub-ready.json").unlink()
        world.hub.start()
        eventually(lambda: (world.root / "hub-ready.json").exists(), what="the hub again")
        self.assertTrue(program.is_alive(), program.text())
        program.kill()
        program = self.enrol(token)
        eventually(lambda: program.text().count(shown) >= 2, what="the same fingerprint: " + program.text())

        wrong = "sha256:" + "0" * 64
        refused = world.cli("node", "approve", token["id"], "--fingerprint", wrong)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertTrue(program.is_alive())
        world.ok("node", "approve", token["id"], "--fingerprint", shown)

        self.assertEqual(program.process.wait(30), 0, program.text())
        self.assertEqual([each["name"] for each in world.json("node", "list")], ["careful"])
        self.assertEqual(world.json("node", "pending"), [])
        actions = [json.loads(line)["action"] for line in world.ok("audit", "show", "--json").splitlines()]
        for action in ("enrolment.asked", "enrolment.approved", "node.enrolled"):
            self.assertIn(action, actions)
        # A decision is final.
        self.assertEqual(world.cli("node", "deny", token["id"], "--fingerprint", shown).returncode, 1)

    def test_who_is_denied_gets_nothing_and_neither_does_another_with_the_token(self):  # proves A9
        world = self.world
        token = self.token("--approve")
        program = self.enrol(token)
        shown = self.waiting(program)
        thief = self.enrol(token, name="thief")
        self.assertEqual(thief.process.wait(30), 1)
        self.assertIn("enrolment_token_invalid", thief.text())

        world.ok("node", "deny", token["id"], "--fingerprint", shown)

        self.assertEqual(program.process.wait(30), 1, program.text())
        self.assertIn("denied", program.text())
        self.assertEqual(world.json("node", "list"), [])
        self.assertEqual(world.json("node", "pending"), [])

    def test_a_revoked_token_makes_no_node(self):  # proves A1
        world = self.world
        token, asked = self.token(), self.token("--approve")
        waiting = self.enrol(asked, name="waiting")
        self.waiting(waiting)
        for each in (token, asked):
            self.assertIn("revoked", world.ok("node", "token", "revoke", each["id"]))

        self.assertEqual(waiting.process.wait(30), 1)
        late = self.enrol(token, name="late")
        self.assertEqual(late.process.wait(30), 1)
        self.assertIn("enrolment_token_invalid", late.text())
        self.assertEqual(world.cli("node", "token", "revoke", token["id"]).returncode, 1)


if __name__ == "__main__":
    unittest.main()
