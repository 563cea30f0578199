"""One command, end to end: what it prints, how it ends, what it was given."""

import hashlib
import json
import os
import signal
import subprocess
import time
import unittest

from harness import BIN, DeploymentTest, eventually


class Run(DeploymentTest):
    def test_output_is_the_commands_own(self):  # proves C1
        local = subprocess.run(["uname", "-a"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertEqual(self.world.ok("run", "--", "uname", "-a"), local)

    def test_exit_codes_say_whose_doing_it_was(self):  # proves N4
        self.assertEqual(self.world.cli("run", "--shell", "exit 7").returncode, 7)
        killed = self.world.cli("run", "--shell", "kill -9 $$")
        self.assertEqual(killed.returncode, 137)
        self.assertIn("signal 9", killed.stderr)
        missing = self.world.cli("run", "--", "/no/such/program")
        self.assertEqual(missing.returncode, 125)
        self.assertIn("spawn_failed", missing.stderr)
        nothing = self.world.cli("run")
        self.assertEqual(nothing.returncode, 125)

    def test_streams_are_kept_apart_and_binary_safe(self):  # proves X3
        raw = bytes(range(256)) * 300
        script = "import sys,os; os.write(1, bytes(range(256))*300); os.write(2, b'\\x1b[31m\\xc3')"
        done = self.world.cli("run", "--", "/usr/bin/python3", "-c", script, text=False)
        self.assertEqual(done.stdout, raw)
        self.assertEqual(done.stderr, b"\x1b[31m\xc3")

    def test_large_output_arrives_whole(self):
        local = subprocess.run(["seq", "1000000"], stdout=subprocess.PIPE, check=True).stdout
        done = self.world.cli("run", "--shell", "seq 1000000", text=False)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(local).hexdigest())

    def test_chatty_crash_loses_nothing(self):  # proves X5
        script = "import os,sys\nd=os.urandom(5_000_000)\nsys.stdout.buffer.write(d)\nsys.stdout.flush()\nos.abort()"
        done = self.world.cli("run", "--json", "--", "/usr/bin/python3", "-c", script)
        self.assertEqual(done.returncode, 128 + signal.SIGABRT)
        task = self.world.latest_task()
        data = self.world.cli("task", "logs", task["id"], text=False).stdout
        self.assertEqual(len(data), 5_000_000)
        self.assertEqual(task["result"]["stdout_bytes"], 5_000_000)
        self.assertEqual(task["result"]["stdout_sha256"], hashlib.sha256(data).hexdigest())

    def test_stdin_is_empty_unless_given(self):  # proves X7
        self.assertEqual(self.world.ok("run", "--", "cat"), "")
        text = "line\n" * 100_000
        self.assertEqual(self.world.ok("run", "--stdin", "--", "cat", stdin=text), text)

    def test_environment_and_directory(self):  # proves C1
        out = self.world.ok("run", "--env", "COLOUR=red", "--shell", 'mkdir -p sub; echo "$COLOUR:$HOME:$UNSET"; env | sort')
        self.assertTrue(out.startswith("red:"))
        self.assertNotIn("OUTHAUL_CONFIG", out)
        self.assertTrue(self.world.ok("run", "--cwd", "sub", "--", "pwd").strip().endswith("/sub"))
        self.assertEqual(self.world.cli("run", "--cwd", "../..", "--", "pwd").returncode, 125)

    def test_timeout_ends_the_whole_tree(self):  # proves C4
        started = time.monotonic()
        done = self.world.cli("run", "--timeout", "500ms", "--shell", "sleep 300 & sleep 300")
        self.assertEqual(done.returncode, 125)
        self.assertIn("task_timed_out", done.stderr)
        self.assertLess(time.monotonic() - started, 15)

    def test_a_holder_of_the_pipe_does_not_delay_the_exit(self):  # proves X6
        started = time.monotonic()
        done = self.world.cli("run", "--shell", "setsid sleep 300 & echo done; exit 4")
        self.assertEqual((done.returncode, done.stdout), (4, "done\n"))
        self.assertLess(time.monotonic() - started, 15)
        self.assertIn("sleep", self.world.latest_task()["result"]["pipe_holder"])

    def test_cancel_ends_what_ignores_term(self):  # proves X17
        script = "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 300\" &) ; echo ready; sleep 300; sleep 300"
        task = self.world.ok("run", "--detach", "--shell", script).strip()
        eventually(lambda: "ready" in self.world.cli("task", "logs", task).stdout)
        self.world.ok("task", "cancel", task, "--grace", "300ms")
        shown = eventually(lambda: (lambda t: t if t["state"] == "cancelled" else None)(self.world.task(task)), 30)
        self.assertGreaterEqual(shown["result"]["processes_killed"], 2)

    def test_first_interrupt_cancels(self):
        run = self.world.popen("run", "--shell", "echo up; sleep 300", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"up\n")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(30), 130)
        run.stdout.close()
        run.stderr.close()

    def test_a_standard_output_that_fails_is_our_failure_at_once(self):
        started = time.monotonic()
        for redirection in (">/dev/full", ">&-"):
            with self.subTest(redirection=redirection):
                done = subprocess.run(["bash", "-c", f'"$0" run -- echo hi {redirection}', str(BIN / "outhaul")],
                                      env=self.world.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 125)
                self.assertIn("write the output", done.stderr)
        self.assertLess(time.monotonic() - started, 30)

    def test_a_closed_standard_input_is_its_end(self):  # proves X7
        done = subprocess.run(["bash", "-c", '"$0" run --stdin -- cat <&-', str(BIN / "outhaul")], env=self.world.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_echo(self):  # proves C11
        self.assertEqual(self.world.ok("echo", "--node", "alpha", "hello").rstrip("\n"), "hello")

    def test_logs_from_an_offset(self):
        task = self.world.ok("run", "--detach", "--shell", "printf 0123456789").strip()
        self.assertEqual(self.world.ok("task", "logs", "-f", "--from", "4", task), "456789")

    def test_unknown_node_is_named(self):
        done = self.world.cli("run", "--node", "nobody", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertNotEqual(done.stderr, "")

    def test_listings_are_json(self):  # proves N4
        for words in (["node", "list"], ["task", "list"], ["context", "list"], ["account", "list"], ["token", "list"],
                      ["node", "token", "list"]):
            self.assertIsInstance(self.world.json(*words), list, words)


if __name__ == "__main__":
    unittest.main()
