"""The node's owner: policy.yaml, the questions it asks, and the lock, with the real programs."""

import json
import os
import pathlib
import subprocess
import unittest

from harness import BIN, DeploymentTest, eventually

POLICY = """version: 1
mode: PERMISSIVE
deny: [curl]
ask_within: 60s
executables:
  - {path: %s, ask: once}
"""


class Owner(DeploymentTest):
    def setUp(self):
        self.data = self.world.root / "alpha"
        self.script = self.data / "workspace" / "asked"
        self.script.parent.mkdir(exist_ok=True)
        self.write_script("echo approved")
        self.policy(POLICY % self.script)
        self.restart()

    def write_script(self, line):
        fresh = self.script.with_suffix(".new")
        fresh.write_text(f"#!/bin/sh\n{line}\n")
        fresh.chmod(0o755)
        os.replace(fresh, self.script)

    def policy(self, text):
        path = self.data / "policy.yaml"
        path.write_text(text)
        path.chmod(0o600)

    def restart(self):
        node = self.world.nodes["alpha"]
        node.kill()
        node.start()
        self.world.wait_attached("alpha")

    def owner(self, *words, code=0):
        done = subprocess.run([BIN / "outhaul-node", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, env=self.world.env)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout

    def questions(self):
        return json.loads(self.owner("approvals", "list", "--data", self.data, "--json"))["questions"]

    def submit(self, *words):
        task = self.world.ok("run", "--detach", *words).strip()
        return task, eventually(lambda: [question for question in self.questions() if question["task"] == task])[0]

    def answer(self, task, word):
        self.owner("approvals", "answer", task, word, "--data", self.data)

    def ended(self, task):
        return eventually(lambda: (lambda shown: shown if shown["ended_at"] else None)(self.world.task(task)))

    def test_what_the_policy_denies_is_refused_without_a_reason_that_leaks(self):  # proves C7
        done = self.world.cli("run", "--shell", "true | cur''l http://localhost")
        self.assertEqual(done.returncode, 125)
        self.assertIn("task_policy_refused", done.stderr)
        self.assertNotIn("deny", done.stderr)
        self.assertIn("`deny` lists curl", self.world.nodes["alpha"].text())
        self.assertEqual(self.world.cli("run", "--", "sudo", "id").returncode, 125)
        self.assertEqual(self.world.ok("run", "--shell", "echo fine | cat"), "fine\n")

    def test_check_and_explain(self):  # proves C7
        self.assertIn("asked", self.owner("policy", "explain", "--data", self.data, "--", self.script, code=3))
        self.assertIn("line", self.owner("policy", "explain", "--data", self.data, "--json", "--shell", "curl x", code=4))
        self.owner("policy", "explain", "--data", self.data, "--", "true")
        self.policy("version: 1\nmode: STRICT\nexecutables: [{path: /usr/bin/python3}]\n")
        self.owner("policy", "check", "--data", self.data, code=1)
        self.policy("version: 1\nmode: PERMISSIVE\nexecutables: [{path: /bin/sh}]\n")
        self.assertIn("line 3: /bin/sh", self.owner("policy", "check", "--data", self.data))

    def test_a_task_waits_for_its_answer_and_says_so(self):  # proves C8
        run = self.world.popen("run", "--", "./asked", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        question = eventually(self.questions)[0]
        self.assertEqual(question["argv"], ["./asked"])
        self.assertEqual(self.world.task(question["task"])["state"], "awaiting_consent")
        self.answer(question["task"], "once")
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (0, "approved\n"), err)
        self.assertIn("waiting for a person at the node", err)

    def test_a_no_is_remembered(self):  # proves C8
        task, _ = self.submit("--env", "N=1", "--", "./asked")
        self.answer(task, "never")
        self.assertEqual(self.ended(task)["error_code"], "consent_denied")
        self.restart()
        self.assertIn("consent_denied", self.world.cli("run", "--env", "N=1", "--", "./asked").stderr)

    def test_what_changed_after_the_approval_does_not_run(self):  # proves X25
        def replace_script():
            self.write_script("echo replaced")

        def write_into_script():
            self.script.write_text("#!/bin/sh\necho written\n")

        def swap_directory():
            workspace = self.script.parent
            aside = workspace.with_name("aside")
            workspace.rename(aside)
            workspace.mkdir()
            (workspace / "asked").write_bytes((aside / "asked").read_bytes())
            (workspace / "asked").chmod(0o755)

        for change in (replace_script, write_into_script, swap_directory):
            with self.subTest(change.__name__):
                task, _ = self.submit("--", "./asked")
                change()
                self.answer(task, "once")
                self.assertEqual(self.ended(task)["error_code"], "consent_void")
                self.assertEqual(self.world.ok("task", "logs", task), "")

    def test_a_question_outlives_the_node_process(self):  # proves C8
        task, _ = self.submit("--", "./asked")
        self.restart()
        self.assertEqual([question["task"] for question in self.questions()], [task])
        self.answer(task, "once")
        self.assertEqual(self.ended(task)["state"], "finished")

    def test_a_question_is_answered_while_no_node_runs(self):  # proves C8
        task, _ = self.submit("--", "./asked")
        node = self.world.nodes["alpha"]
        node.kill()
        self.assertEqual([question["task"] for question in self.questions()], [task])
        self.answer(task, "once")
        node.start()
        self.world.wait_attached("alpha")
        self.assertEqual(self.ended(task)["state"], "finished")
        self.assertEqual(self.world.ok("task", "logs", task), "approved\n")

    def test_the_lock_ends_what_runs_and_holds_across_restarts(self):  # proves C8
        task = self.world.ok("run", "--detach", "--shell", "trap '' TERM; sleep 600").strip()
        eventually(lambda: self.world.task(task)["state"] in ("accepted", "running"))
        self.owner("lock", "--data", self.data, "--reason", "holiday")
        self.assertEqual(self.ended(task)["error_code"], "node_locked")
        self.restart()
        done = self.world.cli("run", "--queue-timeout", "1s", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("locked", done.stderr)
        self.assertTrue(self.world.json("node", "show", "alpha")["locked"])
        self.owner("unlock", "--data", self.data)
        self.assertEqual(self.world.ok("run", "--", "echo", "again"), "again\n")

    def test_the_lock_works_while_no_node_runs(self):  # proves C8
        marker = self.world.root / "marker"
        task = self.world.ok("run", "--detach", "--shell", f"echo $$ > {marker}; exec sleep 600").strip()
        pid = int(eventually(lambda: marker.exists() and marker.read_text().strip()))
        self.world.nodes["alpha"].kill()
        self.owner("lock", "--data", self.data)
        self.assertFalse(pathlib.Path(f"/proc/{pid}/exe").exists())
        self.world.nodes["alpha"].start()
        self.world.wait_attached("alpha")
        self.assertIn(self.ended(task)["state"], ("failed", "finished"))
        self.owner("unlock", "--data", self.data)
        self.assertEqual(self.world.ok("run", "--", "echo", "again"), "again\n")

    def test_the_owner_is_asked_only_by_a_socket_of_their_own(self):  # proves C8
        self.assertEqual((self.data / "owner.sock").stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
