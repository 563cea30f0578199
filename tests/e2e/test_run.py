"""One command, end to end: what it prints, how it ends, what it was given."""

import array
import fcntl
import hashlib
import json
import os
import random
import signal
import subprocess
import termios
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

    def test_input_larger_than_what_the_hub_holds_arrives_whole(self):  # proves C1
        data = random.Random(7).randbytes(40_000_000)
        # It reads nothing at first, so that the hub has to hold all it can.
        done = self.world.cli("run", "--stdin", "--shell", "sleep 1; sha256sum", stdin=data, text=False)
        self.assertEqual(done.stdout.decode().split()[0], hashlib.sha256(data).hexdigest(), done.stderr)

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

    def test_interrupt_is_heard_while_nobody_reads_the_output(self):
        run = self.world.popen("run", "--shell", "yes stalled", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        task = eventually(lambda: self.world.json("task", "list", "--state", "accepted"))[0]["id"]
        # The pipe is full when what can be read at once does not grow any more.
        eventually(lambda: self._waiting_bytes(run.stdout) >= 60000)
        run.send_signal(signal.SIGINT)
        eventually(lambda: self.world.task(task)["state"] == "cancelled", 30, "cancelled")
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(10), 130)
        run.stdout.close()

    @staticmethod
    def _waiting_bytes(pipe):
        count = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, count)
        return count[0]

    def test_a_reader_that_leaves_ends_it_quietly(self):
        outhaul = str(BIN / "outhaul")
        task = self.world.ok("run", "--detach", "--shell", "seq 100000").strip()
        eventually(lambda: self.world.task(task)["state"] == "finished", 30)
        for line in ('"$0" run --shell "yes; true" | head -n 1', f'"$0" task logs -f {task} | head -n 1',
                     '"$0" task list --json | true', '"$0" --help-all | true'):
            with self.subTest(line=line):
                done = subprocess.run(["bash", "-c", line + '; exit "${PIPESTATUS[0]}"', outhaul], env=self.world.env,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
                self.assertIn(done.returncode, (141, 0) if "| true" in line else (141,))
                self.assertEqual(done.stderr, b"")
        eventually(lambda: not self.world.json("task", "list", "--state", "accepted"), 30, "the task of the first line has ended")

    def test_the_mode_of_shared_descriptors_is_left_alone(self):
        ends = [os.pipe(), os.pipe()]
        shared = (ends[0][0], ends[1][1])
        run = self.world.popen("run", "--stdin", "--", "cat", stdin=shared[0], stdout=shared[1])
        os.write(ends[0][1], b"x" * 50000)
        eventually(lambda: self._waiting_bytes(ends[1][0]) == 50000)
        modes = [fcntl.fcntl(end, fcntl.F_GETFL) & os.O_NONBLOCK for end in shared]
        os.close(ends[0][1])
        self.assertEqual(run.wait(30), 0)
        modes += [fcntl.fcntl(end, fcntl.F_GETFL) & os.O_NONBLOCK for end in shared]
        self.assertEqual(modes, [0, 0, 0, 0])
        for end in (*shared, ends[1][0]):
            os.close(end)

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
        self.assertEqual(self.world.ok("echo", "--node", "alpha", "hello"), "hello\n")
        self.assertEqual(self.world.ok("echo", ""), "\n")

    def test_logs_from_an_offset(self):
        task = self.world.ok("run", "--detach", "--shell", "printf 0123456789").strip()
        self.assertEqual(self.world.ok("task", "logs", "-f", "--from", "4", task), "456789")

    def test_unknown_node_is_named(self):
        done = self.world.cli("run", "--node", "nobody", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertNotEqual(done.stderr, "")

    def test_waiting_says_why_while_it_lasts_and_at_its_end(self):  # proves X14
        self.world.ok("node", "drain", "alpha")
        try:
            done = self.world.cli("run", "--json", "--queue-timeout", "4s", "--", "true")
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            waiting = [line for line in lines if line["kind"] == "waiting"]
            self.assertEqual(waiting[0]["waiting"][0]["code"], "draining")
            self.assertEqual(done.returncode, 125)
            self.assertIn("alpha: it is draining", done.stderr)
        finally:
            self.world.ok("node", "drain", "--undo", "alpha")

    def test_listings_are_json(self):  # proves N4
        for words in (["node", "list"], ["task", "list"], ["context", "list"], ["account", "list"], ["token", "list"],
                      ["node", "token", "list"]):
            self.assertIsInstance(self.world.json(*words), list, words)


if __name__ == "__main__":
    unittest.main()
