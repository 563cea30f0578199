"""What is missing or cut on disk is named and kept, by a start and by `outhaul-hub check`; nothing is made in its place."""

import contextlib
import hashlib
import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import unittest

from harness import BIN, Deployment


def picture(directory, besides=()):
    """Name and content of every file below, without what a reader may touch."""
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(pathlib.Path(directory).rglob("*"))
            if path.is_file() and path.name not in ("LOCK", "hub.db-shm", "hub.db-wal", *besides)}


def journal_of(directory):
    return sorted((directory / "streams").glob("journal-*"))[-1]


class Damage(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)
        self.world.start_hub()
        self.world.add_node("alpha")
        self.world.ok("run", "--", "seq", "200000")
        self.world.ok("run", "--", "echo", "small")
        self.world.nodes["alpha"].kill()
        self.world.hub.kill()
        self.hub_data = self.world.root / "hub"
        self.node_data = self.world.root / "alpha"

    def check(self):
        done = subprocess.run([BIN / "outhaul-hub", "check", "--data", self.hub_data, "--json"], env=self.world.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        return done.returncode, json.loads(done.stdout)

    def refused(self, argv):
        done = subprocess.run(argv, env=self.world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def serve(self):
        return self.refused([BIN / "outhaul-hub", "serve", "--data", self.hub_data, "--listen", "127.0.0.1:0"])

    def test_a_missing_or_empty_journal_is_never_made_anew(self):
        def empty(data):
            journal_of(data).write_bytes(b"")

        def remove(data):
            journal_of(data).unlink()

        def remove_directory(data):
            shutil.rmtree(data / "streams")

        for data, start in ((self.hub_data, self.serve),
                            (self.node_data,
                             lambda: self.refused([BIN / "outhaul-node", "run", "--data", self.node_data]))):
            for spoil in (empty, remove, remove_directory):
                with self.subTest(data=data.name, spoil=spoil.__name__):
                    spoil(data)
                    before = picture(data, ["hub.db"])  # the database has a journal of its own
                    said = start()
                    self.assertIn("journal_corrupt", said)
                    self.assertIn("runbooks/journal-corrupt.md", said)
                    self.assertEqual(picture(data, ["hub.db"]), before)
                    if data == self.hub_data:
                        before = picture(data)
                        status, found = self.check()
                        self.assertEqual((status, found["ok"]), (1, False))
                        self.assertEqual(found["faults"][0]["code"], "journal_corrupt")
                        self.assertEqual(picture(data), before)

    def test_a_cut_end_is_reported_with_its_offset_and_the_rest_is_kept(self):
        status, found = self.check()
        self.assertEqual((status, found["ok"], found["streams"]["cuts"]), (0, True, []))
        journal = journal_of(self.hub_data)
        whole = journal.read_bytes()
        journal.write_bytes(whole + b"torn")
        before = picture(self.hub_data)

        status, found = self.check()

        self.assertEqual((status, found["ok"]), (0, True))
        self.assertEqual([cut["file"] for cut in found["streams"]["cuts"]], [journal.name])
        # Behind the last record there were only the zeros of the room kept ahead.
        end = found["streams"]["cuts"][0]["offset"]
        self.assertEqual(whole[end:].strip(b"\0"), b"")
        self.assertNotEqual(whole[end - 64:end].strip(b"\0"), b"")
        self.assertEqual(picture(self.hub_data), before)
        self.world.hub.start()
        self.world.nodes["alpha"].start()
        self.world.wait_attached("alpha")
        self.assertIn(f'"offset":{end}', self.world.hub.text())
        self.assertEqual(self.world.ok("run", "--", "echo", "after"), "after\n")

    def test_a_damaged_segment_is_found_by_check(self):
        segment = sorted((self.hub_data / "streams").glob("seg-*"))[0]
        damaged = bytearray(segment.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        segment.write_bytes(damaged)
        status, found = self.check()
        self.assertEqual(status, 1)
        fault = found["faults"][0]
        self.assertEqual((fault["code"], fault["details"]["file"]), ("journal_corrupt", segment.name))
        self.assertLessEqual(int(fault["details"]["offset"]), len(damaged) // 2)

    def test_damaged_output_in_the_database_is_found_by_check(self):
        self.world.hub.start()
        self.world.nodes["alpha"].start()
        self.world.wait_attached("alpha")
        self.world.ok("run", "--", "echo", "kept")
        self.world.hub.kill(signal.SIGTERM)
        database = self.hub_data / "hub.db"
        with contextlib.closing(sqlite3.connect(database)) as sql, sql:
            stream, task, records = sql.execute("SELECT id, task, records FROM streams WHERE place = 0 LIMIT 1").fetchone()
            sql.execute("UPDATE streams SET records = ? WHERE id = ?", (records[:40] + bytes([records[40] ^ 1]) + records[41:], stream))
        status, found = self.check()
        self.assertEqual(status, 1)
        fault = found["faults"][0]
        self.assertEqual((fault["code"], fault["details"]["task"]), ("store_corrupt", task))

    def test_a_database_that_is_missing_or_damaged_is_left_alone(self):
        database = self.hub_data / "hub.db"
        page = bytearray(database.read_bytes())
        page[0:16] = b"not a database!!"
        database.write_bytes(page)
        before = picture(self.hub_data)
        self.assertIn("store_corrupt", self.serve())
        self.assertEqual(picture(self.hub_data), before)
        database.unlink()
        before = picture(self.hub_data)
        said = self.serve()
        self.assertRegex(said, r"\[(store_corrupt|not_found)\]")
        self.assertEqual(picture(self.hub_data), before)
        self.assertEqual(self.check()[0], 1)


class FullDisk(unittest.TestCase):
    def test_a_full_node_disk_ends_the_writer_alone(self):  # proves X1
        world = Deployment()
        self.addCleanup(world.close)
        world.start_hub()
        place = world.root / "alpha"
        place.mkdir(mode=0o700)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "outhaul-e2e", place], stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("no file system may be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", place])
        world.add_node("alpha", config="disk_floor_mib: 2\nfull_disk_patience: 2s\n")
        other = world.popen("run", "--shell", "sleep 12; echo other", stdout=subprocess.PIPE, text=True)

        writer = world.cli("run", "--shell", "head -c 50000000 /dev/zero", text=False)

        self.assertNotEqual(writer.returncode, 0)
        self.assertIn(b"node_disk_full", writer.stderr)
        self.assertIn(b"floor of 2097152 bytes", writer.stderr)
        self.assertIn(b"are left out here", writer.stderr)
        self.assertGreater(len(writer.stdout), 1_000_000)
        self.assertEqual(writer.stdout.strip(b"\0"), b"")
        self.assertEqual(other.communicate(timeout=60)[0], "other\n")
        self.assertEqual(other.returncode, 0)
        self.assertTrue(world.nodes["alpha"].is_alive())
        self.assertEqual(world.ok("run", "--", "echo", "room again"), "room again\n")
        self.assertEqual(world.json("node", "list")[0]["health"], "attached")


if __name__ == "__main__":
    unittest.main()
