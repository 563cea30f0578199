"""A hub is backed up while it serves, dies, and is restored: nothing runs twice, and what nodes still hold comes back."""

import json
import shutil
import stat
import subprocess

from harness import BIN, DeploymentTest, eventually


class Restore(DeploymentTest):
    def setUp(self):
        self.starts = {}

    def data(self):
        """The hub's directory: another one once it was restored."""
        restored = self.world.root / "hub2"
        return restored if restored.exists() else self.world.root / "hub"

    def hub_program(self, *words):
        return subprocess.run([BIN / "outhaul-hub", *[str(word) for word in words]], env=self.world.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def back_up(self, name):
        place = self.world.root / name
        done = self.hub_program("backup", "--data", self.data(), "--to", place, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return place, json.loads(done.stdout)

    def start(self, line):
        """A task that writes down each of its starts."""
        starts = self.world.root / f"starts-{len(self.starts)}"
        task = json.loads(self.world.ok("run", "--detach", "--json", "--shell", f"echo x >> {starts}; {line}"))["id"]
        self.starts[task] = starts
        return task

    def wait_state(self, task, *states):
        return eventually(lambda: (row := self.world.task(task))["state"] in states and row, what=f"{task} is {states}")

    def test_a_hub_that_died_goes_on_from_its_backup(self):
        world = self.world
        flag, late = world.root / "flag", world.root / "late"
        before = self.start("echo before")
        self.wait_state(before, "finished")
        running = self.start(f"echo half; while [ ! -e {flag} ]; do sleep 0.05; done; echo whole")
        self.wait_state(running, "running")
        world.ok("node", "drain", "alpha")
        queued = self.start("echo queued")
        self.assertEqual(world.task(queued)["state"], "queued")

        place, made = self.back_up("backup")
        world.ok("node", "drain", "--undo", "alpha")
        self.wait_state(queued, "finished")
        after = self.start("echo after")
        self.wait_state(after, "finished")
        adopted = self.start(f"echo early; while [ ! -e {late} ]; do sleep 0.05; done; echo late")
        self.wait_state(adopted, "running")
        world.hub.kill()
        flag.touch()
        restored = self.hub_program("restore", "--from", place, "--data", world.root / "hub2", "--json")
        self.assertEqual(restored.returncode, 0, restored.stderr)
        facts = json.loads(restored.stdout)
        self.assertGreater(facts["epoch"], made["epoch"])
        self.assertEqual(facts["tasks_in_doubt"], 2)
        self.assertIn("alpha", facts["valid_again"]["nodes"])
        self.assertEqual(self.hub_program("check", "--data", world.root / "hub2").returncode, 0)
        shutil.move(world.root / "hub", world.root / "replaced")
        world.hub.argv[world.hub.argv.index(str(world.root / "hub"))] = str(world.root / "hub2")
        world.hub.start()
        world.wait_attached("alpha")

        self.wait_state(running, "finished")
        self.assertEqual(world.ok("task", "logs", running), "half\nwhole\n")
        self.assertEqual(self.wait_state(queued, "lost")["error_code"], "hub_restored")
        eventually(lambda: world.cli("task", "show", adopted).returncode == 0, what="the task is handed over")
        late.touch()
        self.wait_state(adopted, "finished")
        self.assertEqual(world.ok("task", "logs", adopted), "early\nlate\n")
        self.assertNotEqual(world.cli("task", "show", after).returncode, 0)
        self.assertEqual(world.ok("task", "logs", before), "before\n")
        world.ok("node", "drain", "--undo", "alpha")
        fresh = self.start("echo fresh")
        self.wait_state(fresh, "finished")
        for task in (before, running, queued, after, adopted, fresh):
            self.assertEqual(self.starts[task].read_text(), "x\n", task)

        done = world.cli("audit", "verify", "--data", world.root / "hub2", "--data", world.root / "alpha")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"log.restored epoch={facts['epoch']}", done.stdout)

    def test_what_is_no_whole_backup_is_refused_and_nothing_is_made(self):
        world = self.world
        place, _ = self.back_up("whole")
        self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o700)
        for file in place.rglob("*"):
            self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o077, 0, file)
        journal = next(file for file in (place / "streams").iterdir() if file.name.startswith("journal-"))
        cases = (
            ("changed", "backup_damaged", lambda copy: flip(copy / "streams" / journal.name)),
            ("missing", "backup_damaged", lambda copy: (copy / "ca.key").unlink()),
            ("database", "backup_damaged", lambda copy: flip(copy / "hub.db")),
            ("cut off", "backup_foreign", lambda copy: (copy / "manifest.json").unlink()),
            ("another's", "backup_foreign", lambda copy: rewrite(copy, kind="photographs")),
            ("newer", "data_format_newer", lambda copy: rewrite(copy, format=99)),
            ("name that leaves", "backup_damaged", lambda copy: rename_entry(copy, "../hub.db")),
        )
        for name, code, harm in cases:
            with self.subTest(name):
                copy = world.root / f"backup {name}"
                shutil.copytree(place, copy)
                harm(copy)
                target = world.root / f"restored {name}"
                done = self.hub_program("restore", "--from", copy, "--data", target)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"[{code}]", done.stderr)
                self.assertFalse(target.exists())

    def test_a_directory_in_use_is_neither_overwritten_nor_served_from_a_backup(self):
        world = self.world
        place, _ = self.back_up("again")
        into_hub = self.hub_program("restore", "--from", place, "--data", world.root / "alpha")
        self.assertIn("[conflict]", into_hub.stderr)
        onto = self.hub_program("backup", "--data", self.data(), "--to", place)
        self.assertIn("[conflict]", onto.stderr)
        served = self.hub_program("serve", "--data", place, "--listen", "127.0.0.1:0")
        self.assertIn("[not_found]", served.stderr)


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def rewrite(copy, **changes):
    file = copy / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def rename_entry(copy, name):
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"][0]["name"] = name
    (copy / "manifest.json").write_text(json.dumps(manifest))


if __name__ == "__main__":
    import unittest
    unittest.main()
