"""What ran can be proven afterwards: receipts and audit logs, checked without the hub, and caught when they were changed."""

import hashlib
import json
import pathlib
import shutil
import signal
import struct
import subprocess

from harness import BIN, DeploymentTest, eventually

FILE_HEADER = 64


def log_files(directory):
    return sorted((pathlib.Path(directory) / "streams").glob("audit-*"))


def record_starts(data):
    at, starts = FILE_HEADER, []
    while at < len(data):
        starts.append(at)
        at += 16 + struct.unpack_from("<I", data, at + 4)[0] + 32
    return starts


class Audit(DeploymentTest):
    def offline(self, *words):
        """The command line of somebody who has files and nothing else."""
        env = dict(self.world.env, OUTHAUL_CONFIG=str(self.world.root / "nowhere.yaml"))
        return subprocess.run([BIN / "outhaul", *[str(word) for word in words]], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)

    def confirmed(self, *directories):
        words = [word for directory in directories for word in ("--data", directory)]
        done = self.offline("audit", "verify", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [log["witnessed_until"] for log in json.loads(done.stdout)["logs"]]

    def verify(self, *directories):
        words = [word for directory in directories for word in ("--data", directory)]
        return self.offline("audit", "verify", *words)

    def test_a_receipt_proves_what_ran_without_the_hub(self):  # proves P4
        world = self.world
        output = "one\n" * 1000
        task = json.loads(world.ok("run", "--detach", "--json", "--shell", "yes one | head -n 1000; exit 3"))["id"]
        eventually(lambda: world.task(task)["state"] == "finished", what="the task ends")
        file = world.root / "receipt.json"
        world.ok("task", "receipt", "show", "--output", file, task)

        good = self.offline("task", "receipt", "verify", "--ca-fingerprint", world.fingerprint, "--json", file)
        facts = json.loads(good.stdout)
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertTrue(facts["valid"])
        self.assertEqual(facts["task_id"], task)
        self.assertEqual(facts["exit_code"], 3)
        self.assertEqual(facts["streams"]["stdout"]["sha256"], hashlib.sha256(output.encode()).hexdigest())
        shell = pathlib.Path("/bin/sh").read_bytes()
        self.assertEqual(facts["executable_sha256"], hashlib.sha256(shell).hexdigest())
        self.assertIn("yes one", facts["command"])

        other_ca = "sha256:" + "0" * 64
        self.assertEqual(self.offline("task", "receipt", "verify", "--ca-fingerprint", other_ca, file).returncode, 1)
        self.assertEqual(self.offline("task", "receipt", "verify", file).returncode, 1)
        text = file.read_text()
        at = text.index('"payload":"') + 40
        file.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1:])
        bad = self.offline("task", "receipt", "verify", "--ca-fingerprint", world.fingerprint, "--json", file)
        self.assertEqual(bad.returncode, 1)
        self.assertFalse(json.loads(bad.stdout)["valid"])

    def test_what_happened_and_what_was_refused_stands_in_the_log(self):  # proves N1 N7
        world = self.world
        task = json.loads(world.ok("run", "--detach", "--json", "--", "true"))["id"]
        eventually(lambda: world.task(task)["state"] == "finished", what="the task ends")
        world.cli("login", world.url, "--token", "-", "--ca-fingerprint", world.fingerprint, "--name", "stranger",
                  stdin="oht_" + "a" * 43 + "\n")
        world.ok("context", "use", "e2e")
        entries = [json.loads(line) for line in world.ok("audit", "show", "--json").splitlines()]
        of_task = [entry["action"] for entry in entries if entry["subject"] == task]
        self.assertEqual(of_task, ["task.submitted", "task.dispatched", "task.ended"])
        actions = {entry["action"] for entry in entries}
        self.assertTrue({"process.started", "node.enrolled", "node_token.created", "session.attached"} <= actions, actions)
        shown = [json.loads(line) for line in world.ok("audit", "show", "--json", "--subject", task).splitlines()]
        self.assertEqual(len(shown), 3)
        world.ok("audit", "verify")
        events = [json.loads(line) for line in world.ok("audit", "export").splitlines()]
        ended = [event for event in events if event["metadata"]["event_code"] == "task.ended"]
        self.assertTrue(ended)
        self.assertEqual({event["class_uid"] for event in ended}, {1007})
        self.assertEqual({event["metadata"]["product"]["name"] for event in events}, {"Outhaul"})
        bundle = world.root / "hub.audit"
        world.ok("audit", "export", "--bundle", bundle)
        self.assertEqual(self.offline("audit", "verify", "--bundle", bundle).returncode, 0)
        data = bytearray(bundle.read_bytes())
        data[-300] ^= 1
        bundle.write_bytes(data)
        self.assertEqual(self.offline("audit", "verify", "--bundle", bundle).returncode, 1)

    def test_a_change_a_removal_and_a_cut_are_named(self):  # proves N1 X64
        world = self.world
        for number in range(3):
            self.assertEqual(world.ok("run", "--", "echo", number), f"{number}\n")
        # Both run, and their heartbeats tell each other where they stand.
        eventually(lambda: min(self.confirmed(world.root / "hub", world.root / "alpha")) > 6, what="heads of each other")

        # In order: node and hub say goodbye with everything signed and filed.
        world.nodes["alpha"].kill(signal.SIGTERM)
        world.hub.kill(signal.SIGTERM)
        self.addCleanup(self.start_again)
        whole = self.verify(world.root / "hub", world.root / "alpha")
        self.assertEqual(whole.returncode, 0, whole.stdout + whole.stderr)
        self.assertIn("confirmed by others up to record", whole.stdout)

        for side, other in (("hub", "alpha"), ("alpha", "hub")):
            copy = world.root / f"copy-{side}"

            def fresh():
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(world.root / side / "streams", copy / "streams")
                return log_files(copy)[0]

            with self.subTest(side=side, what="a byte"):
                file = fresh()
                data = bytearray(file.read_bytes())
                place = record_starts(data)[2]
                data[place + 20] ^= 4
                file.write_bytes(data)
                done = self.verify(copy, world.root / other)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{file.name} offset {place}", done.stdout)
            with self.subTest(side=side, what="a record"):
                file = fresh()
                data = file.read_bytes()
                starts = record_starts(data)
                file.write_bytes(data[:starts[3]] + data[starts[4]:])
                done = self.verify(copy, world.root / other)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{file.name} offset {starts[3]}", done.stdout)
            with self.subTest(side=side, what="the tail, its own journal gone too"):
                file = fresh()
                data = file.read_bytes()
                file.write_bytes(data[:record_starts(data)[5]])
                for journal in (copy / "streams").glob("journal-*"):
                    journal.unlink()
                self.assertEqual(self.verify(copy).returncode, 0)
                done = self.verify(copy, world.root / other)
                self.assertEqual(done.returncode, 1)
                self.assertIn("the log ends at record 5, and", done.stdout)
            with self.subTest(side=side, what="the whole log"):
                fresh().unlink()
                done = self.verify(copy, world.root / other)
                self.assertEqual(done.returncode, 1)

    def start_again(self):
        self.world.hub.start()
        self.world.nodes["alpha"].start()
        self.world.wait_attached("alpha")
