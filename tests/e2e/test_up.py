"""`outhaul up`: from nothing to a first command, deaths survived, Ctrl-C drains."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import BIN, ROOT, eventually, kill_tree, processes


class Up(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="outhaul-up-"))
        self.addCleanup(shutil.rmtree, self.root, True)
        self.env = dict(os.environ, OUTHAUL_CONFIG=str(self.root / "config.yaml"), HOME=str(self.root))

    def cli(self, *words):
        return subprocess.run([BIN / "outhaul", *words], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)

    def start(self):
        ready = self.root / "ready.json"
        ready.unlink(missing_ok=True)
        log = (self.root / "up.log").open("ab")
        up = subprocess.Popen([BIN / "outhaul", "up", "--data", self.root / "data", "--listen", "127.0.0.1:0", "--ready-file",
                               ready], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.addCleanup(self.stop, up)
        eventually(lambda: ready.exists() or up.poll() is not None, what="the ready file")
        self.assertIsNone(up.poll(), (self.root / "up.log").read_text())
        facts = json.loads(ready.read_text())
        self.assertEqual(facts["pid"], up.pid)
        return up, facts

    @staticmethod
    def stop(up):
        if up.poll() is None:
            kill_tree(up.pid)
            up.wait()

    def ours(self, name):
        return [pid for pid, exe, words in processes() if exe.endswith("/" + name) and str(self.root) in words]

    def test_a_first_command_works_and_deaths_are_survived(self):  # proves A3 A8
        up, facts = self.start()
        self.assertTrue(facts["url"].startswith("https://127.0.0.1:"))
        self.assertTrue(facts["ca_fingerprint"].startswith("sha256:"))
        self.assertEqual(self.cli("run", "--", "echo", "one").stdout, "one\n")
        for name in ("outhaul-hub", "outhaul-node"):
            for pid in self.ours(name):
                os.kill(pid, signal.SIGKILL)
            eventually(lambda: self.cli("run", "--", "echo", "two").stdout == "two\n", what=f"a command after {name} died")
        up.send_signal(signal.SIGINT)
        self.assertEqual(up.wait(60), 0)
        for name in ("outhaul-hub", "outhaul-node", "outhaul-launcher"):
            eventually(lambda: not self.ours(name), 20, f"{name} is gone")
        # A second start finds everything as it was.
        _, again = self.start()
        self.assertEqual(again["ca_fingerprint"], facts["ca_fingerprint"])
        self.assertEqual(self.cli("run", "--", "echo", "three").stdout, "three\n")
        self.assertEqual(len(json.loads(self.cli("node", "list", "--json").stdout)), 1)

    def test_a_deleted_node_directory_loses_what_ran_there_and_nothing_else(self):  # proves X16
        up, _ = self.start()
        task = self.cli("run", "--detach", "--", "sleep", "1000").stdout.strip()
        eventually(lambda: json.loads(self.cli("task", "show", task, "--json").stdout)["state"] == "running", what="it runs")
        for pid in (*self.ours("outhaul-launcher"), up.pid, *self.ours("outhaul-node"), *self.ours("outhaul-hub")):
            kill_tree(pid)
        up.wait()
        shutil.rmtree(self.root / "data" / "node")
        self.start()
        shown = json.loads(self.cli("task", "show", task, "--json").stdout)
        self.assertEqual(shown["state"], "lost", shown)
        self.assertEqual(self.cli("run", "--", "echo", "on").stdout, "on\n")

    def test_a_set_up_that_was_cut_off_is_completed(self):
        data = self.root / "data"
        data.mkdir(0o700)
        subprocess.run([BIN / "outhaul-hub", "init", "--data", data / "hub", "--deployment", "outhaul.internal"], check=True,
                       stdout=subprocess.DEVNULL)
        # As if it had been killed just before its end.
        (data / "hub" / "hub.json").unlink()
        (data / "hub" / "init-begun").touch()
        # An enrolment that got as far as its keys.
        refused = subprocess.run([BIN / "outhaul-node", "enroll", "--hub", "https://127.0.0.1:1", "--ca-fingerprint",
                                  "sha256:" + "0" * 64, "--token", "-", "--data", data / "node"], input="x\n", text=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertNotEqual(refused.returncode, 0)
        self.assertTrue((data / "node" / "FORMAT").exists())
        (data / "enrolment-token").write_text("of a hub that is no more")
        (data / "enrolment-token").chmod(0o600)
        up, _ = self.start()
        self.assertEqual(self.cli("run", "--", "echo", "one").stdout, "one\n")
        self.assertFalse((data / "enrolment-token").exists())
        up.send_signal(signal.SIGINT)
        self.assertEqual(up.wait(60), 0)
        # Enrolled, but killed before the permission was written.
        (data / "node" / "node.yaml").unlink()
        (data / "enrolment-token").write_text("used")
        (data / "enrolment-token").chmod(0o600)
        self.start()
        self.assertEqual(self.cli("run", "--", "echo", "two").stdout, "two\n")
        self.assertEqual(len(json.loads(self.cli("node", "list", "--json").stdout)), 1)

    def test_a_second_one_says_who_is_there(self):
        _, facts = self.start()
        self.assertIn("commands now go to context 'local'", (self.root / "up.log").read_text())
        ready = self.root / "ready.json"
        again = self.cli("up", "--data", str(self.root / "data"), "--ready-file", str(ready))
        self.assertEqual(again.returncode, 1)
        self.assertTrue(ready.exists(), "the first one's ready file stays")
        self.assertRegex(again.stderr, r"in use by process \d+ .*`outhaul up` runs there already: `outhaul run` reaches it")
        address = facts["url"].removeprefix("https://")
        other = self.cli("up", "--data", str(self.root / "other"), "--listen", address)
        self.assertEqual(other.returncode, 1)
        self.assertRegex(other.stderr, r"the hub did not start: .*in use.*; see .*hub\.log")

    def test_remedies_name_the_next_command(self):
        data = str(self.root / "hub")
        made = subprocess.run([BIN / "outhaul-hub", "init", "--data", data, "--deployment", "a.example"], stdout=subprocess.PIPE, text=True)
        port = ":443" if os.geteuid() == 0 else ":8443"
        self.assertIn(f"outhaul login https://a.example{port} --ca-fingerprint", made.stdout)
        self.assertIn("--listen ADDRESS:PORT", made.stdout)
        for words, said in ((["outhaul-hub", "init", "--data", data, "--deployment", "a.example"], f"outhaul-hub serve --data {data}"),
                            (["outhaul-hub", "serve", "--data", str(self.root / "none")], "outhaul-hub init --data"),
                            (["outhaul-node", "run", "--data", str(self.root / "none")], "outhaul-node enroll --hub URL")):
            done = subprocess.run([BIN / words[0], *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)

    def test_the_way_back_to_another_context_is_said(self):
        config = self.root / "config.yaml"
        config.write_text('version: 1\ncurrent: prod\ncontexts:\n  - {name: prod, url: "https://a:1", token: t, ca_fingerprint: "sha256:00"}\n')
        config.chmod(0o600)
        self.start()
        self.assertIn("outhaul context use prod", (self.root / "up.log").read_text())
        back = self.cli("context", "use", "prod")
        self.assertEqual(back.returncode, 0)
        self.assertIn("commands now go to context 'prod'", back.stderr)

    def test_the_link_of_scripts_run_replaces_nothing_of_others(self):
        # The function alone: the script itself would build.
        text = (ROOT / "scripts" / "run").read_text()
        function = text[text.index("link() {"):text.index("bin=${")]
        link = self.root / "bin" / "outhaul"

        def run():
            done = subprocess.run(["bash", "-euc", function + 'link "$1" /tree/build/release/bin/outhaul', "-", link], stderr=subprocess.PIPE,
                                  text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr

        self.assertIn("now is this tree's outhaul", run())
        self.assertEqual(run(), "")
        link.unlink()
        link.symlink_to("/other/build/release/bin/outhaul")
        self.assertIn("it was /other", run())
        self.assertEqual(os.readlink(link), "/tree/build/release/bin/outhaul")
        link.unlink()
        link.symlink_to("/usr/bin/true")
        self.assertIn("stays", run())
        self.assertEqual(os.readlink(link), "/usr/bin/true")
        link.unlink()
        link.write_text("mine")
        self.assertIn("stays", run())
        self.assertEqual(link.read_text(), "mine")

    def test_version_and_help(self):
        for name in ("outhaul", "outhaul-hub", "outhaul-node"):
            shown = subprocess.run([BIN / name, "--version"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(shown.returncode, 0)
            self.assertRegex(shown.stdout, r"^outhaul.* \d+\.\d+\.\d+\n$")
        wrong = self.cli("nonsense")
        self.assertEqual(wrong.returncode, 2)
        self.assertRegex(wrong.stderr, r"^outhaul: .*nonsense.*`outhaul --help`\n$")
        unknown = self.cli("run", "--nope", "--", "true")
        self.assertEqual(unknown.returncode, 125)
        self.assertRegex(unknown.stderr, r"^outhaul run: .*: --nope; see `outhaul run --help`\n$")
        self.assertIn("run", self.cli("--help").stdout)
        for words, flags in ((["help"], ["--help"]), (["help", "run"], ["run", "--help"]), (["version"], ["--version"]),
                             (["help", "node", "token", "create"], ["node", "token", "create", "--help"])):
            self.assertEqual(self.cli(*words).stdout, self.cli(*flags).stdout)
            self.assertEqual(self.cli(*words).returncode, 0)
        self.assertRegex(self.cli("help", "exit-codes").stdout, "127 .*no such program")
        self.assertIn(self.cli("help", "exit-codes").stdout, self.cli("run", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
