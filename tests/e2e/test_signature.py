"""A node that runs only what a person has signed, against a hub that sends whatever somebody put into its database."""

import sqlite3
import stat
import unittest

from harness import DeploymentTest, eventually


class Signature(DeploymentTest):
    def setUp(self):
        self.data = self.world.root / "alpha"
        self.key_file = self.world.root / "keys" / "default.pem"
        if not self.key_file.exists():
            self.world.ok("key", "create")
            self.world.ok("key", "add")
        self.require(self.public_key())
        self.restart()

    def public_key(self):
        return self.registered("default")["public_key"]

    def registered(self, name):
        return next(key for key in self.world.json("key", "list") if key["name"] == name)

    def require(self, key):
        config = self.data / "node.yaml"
        config.write_text("version: 1\nisolation: [trusted]\nrequire_user_signature: true\n"
                          f"user_keys:\n  - key: {key}\n    name: somebody\n")
        config.chmod(0o600)

    def restart(self):
        node = self.world.nodes["alpha"]
        node.kill()
        node.start()
        self.world.wait_attached("alpha")

    def test_a_signed_run_works_and_an_unsigned_one_is_refused_with_the_remedy(self):  # proves C6
        self.assertEqual(self.world.ok("run", "--sign", "--", "echo", "hello there"), "hello there\n")
        self.assertEqual(self.world.ok("run", "--sign", "--node", "alpha", "--stdin", "--", "cat", stdin="in"), "in")
        refused = self.world.cli("run", "--", "uname", "-a")
        self.assertEqual((refused.returncode, refused.stdout), (125, ""))
        self.assertIn("user_signature_missing", refused.stderr)
        self.assertIn("outhaul run --sign", refused.stderr)
        self.world.ok("context", "use", "e2e", "--sign")
        self.assertEqual(self.world.ok("run", "--shell", "echo $COLOUR", "--env", "COLOUR=red"), "red\n")
        self.assertEqual(self.world.cli("run", "--no-sign", "--", "true").returncode, 125)
        self.world.ok("context", "use", "e2e", "--no-sign")
        key = self.registered("default")["id"]
        self.assertIn(key, self.world.ok("audit", "show", "--action", "user_key.added"))

    def test_the_private_half_is_private_and_never_shown(self):  # proves C6
        self.assertEqual(stat.S_IMODE(self.key_file.stat().st_mode), 0o600)
        private = self.key_file.read_text().splitlines()[1]
        other = self.world.cli("key", "create", "--name", "other")
        self.assertRegex(other.stdout, r"^ed25519:[A-Za-z0-9+/]{43}=\n$")
        self.assertIn("require_user_signature", other.stderr)
        self.assertNotIn("PRIVATE", other.stdout + other.stderr)
        self.assertEqual(self.world.cli("key", "create", "--name", "other").returncode, 1)
        self.assertNotIn(private, self.world.ok("key", "list") + self.world.hub.text())
        self.assertIn("outhaul key create", self.world.cli("run", "--sign", "--key", "none", "--", "true").stderr)
        unknown = self.world.cli("run", "--sign", "--key", "other", "--", "true")
        self.assertEqual(unknown.returncode, 125)
        self.assertIn("outhaul key add", unknown.stderr)

    def test_a_key_that_the_nodes_owner_does_not_trust_runs_nothing(self):  # proves C6
        self.world.cli("key", "create", "--name", "stranger")
        self.world.ok("key", "add", "--name", "stranger")
        done = self.world.cli("run", "--sign", "--key", "stranger", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("user_signature_invalid", done.stderr)
        self.world.ok("key", "remove", self.registered("stranger")["id"])
        self.assertIn("outhaul key add", self.world.cli("run", "--sign", "--key", "stranger", "--", "true").stderr)

    def forge(self, task, change):
        """What somebody does who has the hub, its keys and its database: `change` gets the row and the cursor."""
        self.world.hub.kill()
        database = sqlite3.connect(self.world.root / "hub" / "hub.db")
        database.row_factory = sqlite3.Row
        with database:
            change(database, dict(database.execute("SELECT * FROM tasks WHERE id = ?", (task,)).fetchone()))
        database.close()
        self.world.hub.start()
        self.world.nodes["alpha"].start()
        self.world.wait_attached("alpha")

    def ended(self, task):
        return eventually(lambda: (lambda shown: shown if shown["ended_at"] else None)(self.world.task(task)))

    def queue(self, *words):
        self.world.nodes["alpha"].kill()
        eventually(lambda: self.world.json("node", "list")[0]["health"] != "attached")
        return self.world.ok("run", "--sign", "--detach", "--node", "alpha", "--", *words).strip()

    def test_a_captured_hub_cannot_change_what_was_signed(self):  # proves C6
        trace = self.data / "workspace" / "trace"
        task = self.queue("touch", "aaaaa")

        def change(database, row):
            changed = row["spec"].replace(b"aaaaa", b"trace", 1)
            self.assertNotEqual(changed, row["spec"])
            database.execute("UPDATE tasks SET spec = ? WHERE id = ?", (changed, task))

        self.forge(task, change)
        self.assertEqual(self.ended(task)["error_code"], "user_signature_invalid")
        self.assertFalse(trace.exists())

    def test_a_captured_hub_cannot_run_what_was_signed_twice(self):  # proves C6
        log = self.data / "workspace" / "log"
        task = self.queue("sh", "-c", "echo once >> log")
        copy = task[:-2] + "zz"

        def change(database, row):
            stream = row["stream"]
            for old, new in ((task, copy), (stream, stream[:-2] + "zz")):
                row["spec"] = row["spec"].replace(old.encode(), new.encode())
            row["id"], row["stream"] = copy, stream[:-2] + "zz"
            marks = ",".join("?" * len(row))
            database.execute(f"INSERT INTO tasks ({','.join(row)}) VALUES ({marks})", list(row.values()))

        self.forge(task, change)
        ends = [self.ended(one) for one in (task, copy)]
        self.assertEqual({end["error_code"] for end in ends}, {None, "user_signature_replayed"})
        self.assertEqual(log.read_text(), "once\n")


if __name__ == "__main__":
    unittest.main()
