"""One command, end to end: what it prints, how it ends, what it was given."""

import array
import fcntl
import hashlib
import json
import os
import random
import re
import select
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

    def test_a_revoked_token_ends_what_it_reads_at_once(self):  # proves N5
        world = self.world
        made = world.json("token", "create", "--role", "member")
        words = ("login", world.url, "--ca-fingerprint", world.fingerprint, "--name", "short-lived", "--token", "-")
        world.ok(*words, stdin=made["token"] + "\n")
        world.ok("context", "use", "e2e")
        line = "echo begun; exec sleep 60"
        with world.popen("--context", "short-lived", "run", "--shell", line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True) as reader:
            self.assertEqual(reader.stdout.readline(), "begun\n")

            world.ok("token", "revoke", made["id"])

            self.assertEqual(reader.wait(10), 125)
            self.assertIn("unauthenticated", reader.stderr.read())
        world.ok("task", "cancel", "--signal", "KILL", world.latest_task()["id"])

    def test_exit_codes_say_whose_doing_it_was(self):  # proves N4
        self.assertEqual(self.world.cli("run", "--shell", "exit 7").returncode, 7)
        killed = self.world.cli("run", "--shell", "kill -9 $$")
        self.assertEqual(killed.returncode, 137)
        self.assertIn("signal 9", killed.stderr)
        for words, code, said in (
                (["--", "/no/such/program"], 127, "on alpha: /no/such/program: .*program_not_found"),
                (["--", "no-such-program"], 127, "no-such-program: .*No such file.*PATH"),
                (["--", "/etc/passwd"], 126, "/etc/passwd: .*program_not_executable"),
                (["--cwd", "nope", "--", "true"], 125, "on alpha: /.*/workspace/nope: .*directory_unavailable.*--cwd"),
                (["--shell", "exit 124"], 124, "the command itself exited with 124"),
                (["--timeout", "200ms", "--", "sleep", "60"], 124, "task_timed_out")):
            with self.subTest(words=words):
                done = self.world.cli("run", *words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, said)

    def test_a_wrong_command_line_has_one_code(self):
        for words, said in (([], "say what to run"), (["--timeout", "30", "--", "true"], "--timeout: .*write 30s"),
                            (["--env", "SURELY_UNSET", "--", "true"], "--env SURELY_UNSET=VALUE"), (["--nope", "--", "true"], "--nope")):
            done = self.world.cli("run", *words)
            self.assertEqual(done.returncode, 125, words)
            self.assertRegex(done.stderr, said)
        self.assertEqual(self.world.cli("task", "wait").returncode, 125)
        for words, said in ((["task", "logs", "--from", "-1", "x"], "--from: `-1`"), (["task", "show"], "id"), (["task"], "subcommand"),
                            (["node", "token", "create", "--label", "gpu"], "--label gpu"), (["help", "nonsense"], "nonsense"),
                            (["node", "token", "create", "--expires-in", "5"], "write 5s"), (["login", "ftp://x/y"], "ftp|https")):
            done = self.world.cli(*words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertRegex(done.stderr, said)
        for name in ("outhaul-hub", "outhaul-node"):
            done = subprocess.run([BIN / name, "run", "--nope"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"^{name}.*; see `{name}.* --help`\n$")

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
        self.assertEqual(done.returncode, 124)
        self.assertIn("task_timed_out", done.stderr)
        self.assertLess(time.monotonic() - started, 15)

    def test_a_holder_of_the_pipe_does_not_delay_the_exit(self):  # proves X6
        started = time.monotonic()
        done = self.world.cli("run", "--shell", "setsid sleep 300 & echo done; exit 4")
        self.assertEqual((done.returncode, done.stdout), (4, "done\n"))
        self.assertLess(time.monotonic() - started, 15)
        self.assertIn("sleep", self.world.latest_task()["result"]["pipe_holder"])

    def test_input_that_cannot_be_read_ends_the_command(self):
        directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            run = self.world.popen("run", "--stdin", "--", "cat", stdin=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        finally:
            os.close(directory)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 125, err)
        self.assertIn(b"read standard input", err)
        self.assertEqual(self.world.latest_task()["state"], "cancelled")

    def test_an_empty_name_is_not_any_node(self):
        for option in ("--node", "--pool"):
            self.assertEqual(self.world.cli("run", option, "", "--", "true").returncode, 125)

    def test_a_stopped_program_is_ended_at_once(self):  # proves C4
        task = self.world.ok("run", "--detach", "--shell", "kill -STOP $$").strip()
        running = eventually(lambda: (shown := self.world.task(task))["state"] == "running" and shown, what="it runs")
        self.assertEqual((running["exit_code"], running["signal"]), (None, None), "it has not ended")
        self.world.ok("task", "cancel", task)
        eventually(lambda: self.world.task(task)["state"] == "cancelled", 30, "it is cancelled")
        self.assertEqual(self.world.task(task)["signal"], signal.SIGTERM, "not KILL once its grace is over")

    def test_an_interrupt_before_the_answer_cancels_too(self):
        for after_ms in range(0, 60, 6):
            run = self.world.popen("run", "--shell", "echo up; sleep 1000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            select.select([], [], [], after_ms / 1000)
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=60)
        eventually(lambda: all(task["state"] in ("cancelled", "finished", "failed") for task in self.world.json("task", "list")),
                   30, "nothing is left running")

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

    def _interrupted(self, script, number):
        run = self.world.popen("run", "--shell", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"up\n")
        run.send_signal(number)
        _, said = run.communicate(timeout=30)
        return run.returncode, said.decode()

    def test_an_interrupted_run_says_what_happens_and_gives_the_right_code(self):  # proves N4
        code, said = self._interrupted("echo up; sleep 300", signal.SIGTERM)
        self.assertEqual(code, 143)
        self.assertRegex(said, "a command that runs gets TERM now and KILL in 10 seconds")
        self.assertEqual(self.world.latest_task()["state"], "cancelled")
        trap = "trap 'exit 7' INT; echo up; while :; do sleep 0.1; done"
        code, said = self._interrupted(trap, signal.SIGINT)
        self.assertEqual(code, 7, said)
        task = self.world.latest_task()
        self.assertEqual((task["state"], task["exit_code"], task["result"]["end"]), ("cancelled", 7, "cancelled"))

    def test_interrupt_is_heard_while_nobody_reads_the_output(self):
        run = self.world.popen("run", "--shell", "yes stalled", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        task = eventually(lambda: self.world.json("task", "list", "--state", "running"))[0]["id"]
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
        eventually(lambda: not any(self.world.json("task", "list", "--state", state) for state in ("accepted", "running")), 30, "the task of the first line has ended")

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
        self.assertEqual(self.world.ok("echo", "--node", "alpha", stdin="of standard\ninput"), "of standard\ninput")
        self.assertEqual(self.world.cli("echo", "--node", "alpha").returncode, 125)

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
            self.assertIn("node drain --undo alpha", done.stderr)
            self.assertEqual(done.returncode, 125)
            self.assertIn("alpha: it is draining", done.stderr)
        finally:
            self.world.ok("node", "drain", "--undo", "alpha")

    def test_a_pool_that_no_node_is_in_is_said(self):  # proves X14
        done = self.world.cli("run", "--pool", "nowhere", "--queue-timeout", "3s", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr.count("the task waits for a node:"), 1, done.stderr)
        self.assertIn("`outhaul node list` shows", done.stderr)

    def test_json_lines_end_with_the_result_as_the_hub_shows_it(self):  # proves N4
        done = self.world.cli("run", "--json", "--shell", "printf abc; exit 3")
        self.assertEqual(done.returncode, 3)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[0]["data"], "YWJj")
        self.assertEqual(lines[-1]["kind"], "result")
        shown = self.world.task(lines[-1]["task_id"])
        self.assertEqual(lines[-1]["result"], shown["result"])
        self.assertEqual(shown["result"]["exit_code"], 3)

    def test_wait_gives_the_code_of_the_task_and_follow_does_not(self):
        fine, three, killed = [self.world.ok("run", "--detach", "--shell", line).strip()
                               for line in ("sleep 0.3", "sleep 0.2; exit 3", "kill -9 $$")]
        self.assertEqual(self.world.cli("task", "wait", fine).returncode, 0)
        several = self.world.cli("task", "wait", fine, three, killed)
        self.assertEqual(several.returncode, 3)
        self.assertIn(f"{killed}: the command was ended by signal 9", several.stderr)
        self.assertEqual(self.world.cli("task", "wait", "task_nonsense").returncode, 125)
        followed = self.world.cli("task", "logs", "--follow", three)
        self.assertEqual(followed.returncode, 0)
        self.assertIn("exited with 3", followed.stderr)

    def test_people_are_shown_lines_and_not_json(self):
        task = self.world.ok("run", "--detach", "--shell", "exit 3").strip()
        self.world.cli("task", "wait", task)
        listed = next(line for line in self.world.ok("task", "list").splitlines() if task in line)
        self.assertRegex(listed, r"finished +exit 3 ")
        shown = {"task show": self.world.ok("task", "show", task), "node show": self.world.ok("node", "show", "alpha"),
                 "node drain": self.world.ok("node", "drain", "alpha"), "undo": self.world.ok("node", "drain", "--undo", "alpha"),
                 "task cancel": self.world.ok("task", "cancel", task)}
        for name, text in shown.items():
            with self.subTest(name):
                self.assertNotRegex(text, r'[{}]|null|"')
        self.assertRegex(shown["task show"], r"result exit code +3\n")
        self.assertRegex(shown["node drain"], "^alpha takes no new task, .*--undo alpha")
        self.assertRegex(shown["task cancel"], "has ended: finished, exit 3")

    def test_the_command_for_a_new_machine_holds_no_token(self):  # proves A2
        text = self.world.ok("node", "token", "create")
        token = re.search(r"^  (ohe_\S+)$", text, re.M).group(1)
        self.assertEqual(text.count(token), 1)
        command = re.search(r"^  (outhaul-node enroll .*)$", text, re.M).group(1)
        self.assertIn("--token -", command)
        self.assertIn(f"--hub https://e2e.internal:{self.world.port} ", command)

    def test_ordinary_ends_leave_no_errors_in_the_log(self):
        self.assertEqual(self.world.ok("run", "--stdin", "--", "cat", stdin="hello"), "hello")
        self.world.ok("run", "--stdin", "--", "true", stdin="nobody reads this")
        log = [json.loads(line) for line in self.world.hub.text().splitlines() if line.startswith("{")]
        self.assertEqual([line for line in log if line["level"] == "error"], [])

    def test_listings_are_json(self):  # proves N4
        for words in (["node", "list"], ["task", "list"], ["context", "list"], ["account", "list"], ["token", "list"],
                      ["node", "token", "list"]):
            self.assertIsInstance(self.world.json(*words), list, words)


if __name__ == "__main__":
    unittest.main()
