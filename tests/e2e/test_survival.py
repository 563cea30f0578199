"""Nothing is lost: cut tunnels, SIGKILL of hub, node and launcher, copied identities, replayed envelopes."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest

from harness import BIN, Deployment, DeploymentTest, Program, eventually

FINAL = {"finished", "failed", "cancelled", "timed_out", "lost"}


class CutTunnel(DeploymentTest):
    through_proxy = True

    def test_output_is_whole_while_everything_dies(self):  # proves B6
        world = self.world
        local = hashlib.sha256(subprocess.run(["seq", "1000000"], stdout=subprocess.PIPE, check=True).stdout).hexdigest()
        # Slowed down, so that the cuts and kills fall into the run.
        line = "i=0; while [ $i -lt 20 ]; do seq $((i*50000+1)) $((i*50000+50000)); i=$((i+1)); sleep 0.4; done"
        run = world.popen("run", "--shell", line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        stop = threading.Event()

        def cut_every_second():
            while not stop.wait(1.0):
                world.proxies[0].cut()

        def kill_twice():
            for program in (world.hub, world.nodes["alpha"]) * 2:
                if stop.wait(1.3):
                    return
                program.kill()
                program.start()

        threads = [threading.Thread(target=cut_every_second), threading.Thread(target=kill_twice)]
        for thread in threads:
            thread.start()
        out, err = run.communicate(timeout=180)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(run.returncode, 0, err.decode())
        self.assertEqual(hashlib.sha256(out).hexdigest(), local)


class HalfOpen(unittest.TestCase):
    def test_a_silent_link_is_noticed_and_goes_on_where_it_stood(self):  # proves X32
        world = Deployment()
        self.addCleanup(world.close)
        world.start_hub("heartbeat_interval: 1s\ndead_after: 3s\n")
        world.add_node("alpha", through_proxy=True)
        run = world.popen("run", "--stdin", "--", "sh", "-c", "cat; echo end", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(run.kill)
        run.stdin.write(b"before\n")
        run.stdin.flush()
        self.assertEqual(run.stdout.readline(), b"before\n")

        world.proxies[0].swallow = True
        run.stdin.write(b"meanwhile\n")
        run.stdin.flush()
        eventually(lambda: world.json("node", "list")[0]["health"] != "attached", 30, "the hub noticed")
        eventually(lambda: "session ended" in world.nodes["alpha"].text(), 30, "the node noticed")
        world.proxies[0].swallow = False
        world.wait_attached("alpha")
        run.stdin.write(b"after\n")
        out, _ = run.communicate(timeout=60)

        self.assertEqual((run.returncode, out), (0, b"meanwhile\nafter\nend\n"))


class Kills(unittest.TestCase):
    tasks = int(os.environ.get("OUTHAUL_E2E_TASKS", "1000"))

    def test_every_task_ends_in_exactly_one_state(self):  # proves C3 X13 X16 X18
        world = Deployment()
        self.addCleanup(world.close)
        world.start_hub()
        world.add_node("alpha")
        seed = int(os.environ.get("OUTHAUL_E2E_SEED", str(random.randrange(1 << 30))))
        draw = random.Random(seed)
        marks = world.root / "marks"
        marks.mkdir()
        ids = []
        stop = threading.Event()

        def kill_at_random():
            while not stop.wait(draw.uniform(0.3, 1.5)):
                victim = draw.choice(["hub", "node", "launcher"])
                if victim == "launcher":
                    for pid in world.launchers("alpha"):
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                else:
                    program = world.hub if victim == "hub" else world.nodes["alpha"]
                    program.kill()
                    program.start()

        killer = threading.Thread(target=kill_at_random)
        killer.start()
        try:
            # Each run leaves one mark: two marks of one number would be two runs.
            def submit(numbers):
                for number in numbers:
                    line = f"echo x >> {marks}/{number}; seq {number} {number + 500}"
                    ids.append((number, world.ok("run", "--detach", "--queue-timeout", "1h", "--shell", line, limit=400).strip()))
            lanes = [threading.Thread(target=submit, args=(range(lane, self.tasks, 4),)) for lane in range(4)]
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
        finally:
            stop.set()
            killer.join()
        self.assertEqual(len(ids), self.tasks, f"seed {seed}")
        eventually(lambda: not self._unfinished(world, ids), 300, f"all tasks ended (seed {seed})")
        states = {}
        for number, task_id in ids:
            task = world.task(task_id)
            states[task["state"]] = states.get(task["state"], 0) + 1
            runs = (marks / str(number)).read_text().count("x") if (marks / str(number)).exists() else 0
            self.assertLessEqual(runs, 1, f"task {task_id} ran {runs} times (seed {seed})")
            out = world.cli("task", "logs", task_id, text=False).stdout
            whole = b"".join(b"%d\n" % i for i in range(number, number + 501))
            if task["state"] == "finished":
                self.assertEqual(runs, 1)
                self.assertEqual(task["result"]["stdout_sha256"], hashlib.sha256(out).hexdigest(), task_id)
                self.assertEqual(out, whole)
            else:
                self.assertTrue(whole.startswith(out), task_id)
        print(f"seed {seed}: {states}")
        self.assertGreater(states.get("finished", 0), self.tasks // 2)

    def _unfinished(self, world, ids):
        done = world.cli("task", "list", "--json")
        if done.returncode != 0:
            return True
        self._all = {task["id"]: task for task in json.loads(done.stdout)}
        return [task_id for _, task_id in ids if self._all[task_id]["state"] not in FINAL]


class StoppedLauncher(DeploymentTest):
    def test_it_is_noticed_and_what_it_holds_ends_once(self):  # proves C3
        world = self.world
        running = world.ok("run", "--detach", "--shell", "echo first; sleep 1; echo last").strip()
        eventually(lambda: "first" in world.cli("task", "logs", running).stdout)
        (launcher,) = world.launchers("alpha")
        os.kill(launcher, signal.SIGSTOP)
        try:
            eventually(lambda: "the launcher does not answer" in world.nodes["alpha"].text(), 60)
            waiting = world.ok("run", "--detach", "--queue-timeout", "2m", "--", "echo", "later").strip()
            reason = eventually(lambda: world.task(waiting)["waiting"], 30)
            self.assertEqual(reason[0]["code"], "node_full")
            self.assertIsNone(world.task(running)["ended_at"])
        finally:
            os.kill(launcher, signal.SIGCONT)
        eventually(lambda: "answers again" in world.nodes["alpha"].text(), 30)
        self.assertEqual(world.ok("task", "logs", "-f", waiting), "later\n")
        self.assertEqual(world.ok("task", "logs", "-f", running), "first\nlast\n")
        for task in (waiting, running):
            eventually(lambda t=task: world.task(t)["state"] == "finished", 30)


class Identity(DeploymentTest):
    def test_a_copied_directory_is_refused_and_named(self):  # proves X31
        world = self.world
        copy = world.root / "copy"
        shutil.copytree(world.root / "alpha", copy, ignore=shutil.ignore_patterns("LOCK", "*.sock"), symlinks=True)
        twin = Program([BIN / "outhaul-node", "run", "--data", copy, "--hub", world.url], world.root / "copy.log", world.env)
        twin.start()
        self.addCleanup(twin.kill)
        eventually(lambda: "duplicate_instance" in twin.text(), 60, "the copy is refused: " + twin.text()[-500:])
        self.assertEqual(world.ok("run", "--node", "alpha", "--", "echo", "still here"), "still here\n")
        for pid in world.launchers("copy"):
            os.kill(pid, signal.SIGKILL)

    def test_a_replayed_envelope_starts_nothing(self):  # proves C6
        world = self.world
        mark = world.root / "replay-mark"
        task = world.ok("run", "--detach", "--shell", f"echo x >> {mark}").strip()
        eventually(lambda: world.task(task)["state"] == "finished")
        for restart_node in (False, True):
            # The hub forgets that the task was ever sent: the same signed bytes go out again.
            world.hub.kill()
            if restart_node:
                world.nodes["alpha"].kill()
            with contextlib.closing(sqlite3.connect(world.root / "hub" / "hub.db")) as rows, rows:
                self._forget_dispatch(rows, task)
            world.hub.start()
            if restart_node:
                world.nodes["alpha"].start()
            world.wait_attached("alpha")
            self.assertEqual(world.ok("run", "--node", "alpha", "--", "echo", "after"), "after\n")
            self.assertEqual(mark.read_text(), "x\n")

    @staticmethod
    def _forget_dispatch(rows, task):
        dispatched = 1  # store/task_store.h
        rows.execute("UPDATE tasks SET state = ?, accepted_at = NULL, finished_at = NULL, error_code = '', error_message = '', "
                     "result = x'' WHERE id = ?", (dispatched, task))


if __name__ == "__main__":
    unittest.main()
