"""Bad input at every door: a clear code, no secret repeated, and the next request is served."""

import hashlib
import http.client
import json
import os
import pathlib
import pty
import re
import resource
import signal
import socket
import ssl
import subprocess
import unittest

from harness import BIN, Deployment, DeploymentTest, eventually

PLANTED = "oht_" + "Zz9" * 14 + "Z"


class Doors(DeploymentTest):
    def request(self, method, path, body=None, token=None, headers=None):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE  # the fingerprint is the command line's business
        client = http.client.HTTPSConnection("127.0.0.1", self.world.port, context=context, timeout=30)
        try:
            sent = dict(headers or {})
            if token:
                sent["Authorization"] = "Bearer " + token
            client.request(method, path, body=body, headers=sent)
            answer = client.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        finally:
            client.close()

    def admin(self):
        return (self.world.root / "hub" / "admin-token").read_text().strip()

    def test_problems_have_codes_and_repeat_no_secret(self):
        admin = self.admin()
        rows = [
            ("GET", "/api/v1/nodes", None, None, 401, "unauthenticated"),
            ("GET", "/api/v1/nodes", None, PLANTED, 401, "unauthenticated"),
            ("POST", "/api/v1/tasks", "{", admin, 400, "invalid"),
            ("POST", "/api/v1/tasks", "{}", admin, 400, "invalid"),
            ("POST", "/api/v1/tasks", json.dumps({"argv": ["true"], "shell": "true"}), admin, 400, "invalid"),
            ("POST", "/api/v1/tasks", json.dumps({"argv": ["true"], PLANTED: 1}), admin, 400, "invalid"),
            ("POST", "/api/v1/tasks", json.dumps({"argv": ["x" * 300_000]}), admin, 413, "too_large"),
            ("POST", "/api/v1/tasks", json.dumps({"argv": ["true"], "cwd": "../up"}), admin, 400, "invalid"),
            ("GET", "/api/v1/tasks/" + PLANTED, None, admin, 404, "not_found"),
            ("GET", "/api/v1/nodes?limit=9999", None, admin, 400, "invalid"),
            ("PATCH", "/api/v1/nodes", None, admin, 405, "method_not_allowed"),
            ("GET", "/api/v1/nothing", None, admin, 404, "not_found"),
            ("POST", "/api/v1/enroll", json.dumps({"token": PLANTED}), None, 400, "invalid"),
        ]
        for method, path, body, token, status, code in rows:
            with self.subTest(method=method, path=path, body=(body or "")[:60]):
                got, text = self.request(method, path, body, token, {"Content-Type": "application/json"})
                problem = json.loads(text)
                self.assertIn(problem["code"], (code, "invalid", "not_found"), text)
                self.assertEqual(problem["status"], got)
                self.assertEqual(got // 100, status // 100, text)
                self.assertNotIn(PLANTED, text)
        self.assertEqual(self.request("GET", "/api/v1/whoami", token=admin)[0], 200)
        self.assertNotIn(PLANTED, self.world.hub.text())
        self.assertNotIn(admin, self.world.hub.text())

    def test_noise_on_the_port_is_survived(self):
        for noise in (b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b"\x16\x03\x01\xff\xff" + b"\0" * 100):
            with socket.create_connection(("127.0.0.1", self.world.port)) as raw:
                raw.sendall(noise)
        self.assertEqual(self.world.ok("run", "--", "echo", "served"), "served\n")

    @staticmethod
    def anonymous_bytes(pid):
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(re.search(r"^Anonymous:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024

    def test_silent_strangers_cost_little_and_are_sent_away(self):
        count = 3000
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        hub = self.world.hub.process.pid
        before = self.anonymous_bytes(hub)
        strangers = [socket.create_connection(("127.0.0.1", self.world.port)) for _ in range(count)]
        for stranger in strangers[::2]:
            stranger.sendall(b"\x16\x03\x01\x02")  # the start of a handshake
        eventually(lambda: len(os.listdir(f"/proc/{hub}/fd")) >= count, 40, "all are taken in")
        held = len(os.listdir(f"/proc/{hub}/fd"))
        self.assertLess((self.anonymous_bytes(hub) - before) / count, 4096)
        self.assertEqual(self.world.ok("run", "--", "echo", "served").strip(), "served")
        # A byte now and then is no reason to stay.
        loris = strangers[0]

        def is_cut():
            try:
                loris.send(b"x")
                return False
            except OSError:
                return True
        eventually(is_cut, 40, "the slow one is cut")
        eventually(lambda: len(os.listdir(f"/proc/{hub}/fd")) < held - count + 50, 40, "the silent ones are closed")
        for stranger in strangers:
            stranger.close()

    def test_a_head_that_never_ends_is_cut(self):
        context = ssl._create_unverified_context()
        with socket.create_connection(("127.0.0.1", self.world.port)) as raw, context.wrap_socket(raw) as slow:
            slow.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: h\r\nA: ")
            slow.settimeout(1)

            def is_cut():
                try:
                    slow.sendall(b"x")
                    return slow.recv(4096) == b""
                except TimeoutError:
                    return False
                except OSError:
                    return True
            eventually(is_cut, 40, "the slow head is cut")

    def test_a_wrong_token_or_fingerprint_is_refused_by_name(self):
        world = self.world
        wrong = world.cli("login", world.url, "--token", PLANTED, "--ca-fingerprint", world.fingerprint, "--name", "x")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("unauthenticated", wrong.stderr)
        self.assertNotIn(PLANTED, wrong.stderr)
        other = "sha256:" + "0" * 64
        foreign = world.cli("login", world.url, "--token", "-", "--ca-fingerprint", other, "--name", "x", stdin="oht_x\n")
        self.assertIn("ca_fingerprint_mismatch", foreign.stderr)

    def test_an_unknown_hub_is_trusted_by_a_person_only(self):
        world = self.world
        words = ["login", world.url, "--name", "asked"]
        env = dict(world.env, OUTHAUL_CONFIG=str(world.root / "asked.yaml"), OUTHAUL_TOKEN=self.admin())
        silent = subprocess.run([BIN / "outhaul", *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(silent.returncode, 1)
        self.assertIn("--ca-fingerprint", silent.stderr)
        for answer, code in (("n", 1), ("y", 0)):
            with self.subTest(answer=answer):
                ours, theirs = pty.openpty()
                run = subprocess.Popen([BIN / "outhaul", *words], env=env, stdin=theirs, stdout=theirs, stderr=theirs,
                                       start_new_session=True)
                os.close(theirs)
                shown = b""
                while b"[y/N]" not in shown:
                    shown += os.read(ours, 4096)
                self.assertIn(world.fingerprint.encode(), shown)
                os.write(ours, answer.encode() + b"\n")
                self.assertEqual(run.wait(30), code)
                os.close(ours)
        self.assertIn(world.fingerprint, (world.root / "asked.yaml").read_text())

    def test_a_token_leaves_the_process_list(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            deaf.settimeout(30)
            url = f"https://127.0.0.1:{deaf.getsockname()[1]}"
            for argv in (["outhaul", "login", url, "--ca-fingerprint", "sha256:" + "0" * 64, "--token", PLANTED],
                         ["outhaul", "login", url, "--ca-fingerprint", "sha256:" + "0" * 64, "--token=" + PLANTED]):
                run = subprocess.Popen([BIN / argv[0], *argv[1:]], env=self.world.env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                taken, _ = deaf.accept()
                self.assertNotIn(PLANTED.encode(), pathlib.Path(f"/proc/{run.pid}/cmdline").read_bytes())
                run.kill()
                run.wait()
                taken.close()

    def test_the_node_listens_to_nobody(self):  # proves B1
        node = self.world.nodes["alpha"].process.pid
        inodes = set()
        for pid in [node, *self.world.launchers("alpha")]:
            for entry in os.listdir(f"/proc/{pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{pid}/fd/{entry}")
                except OSError:
                    continue
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
        listening = "0A"
        for table in ("tcp", "tcp6", "udp", "udp6"):
            with open(f"/proc/net/{table}") as lines:
                for line in list(lines)[1:]:
                    fields = line.split()
                    if fields[9] in inodes:
                        self.assertNotEqual(fields[3], listening, line)
        self.assertTrue(inodes)

    def test_removing_a_node_closes_its_session(self):
        world = self.world
        world.add_node("doomed")
        world.ok("node", "remove", "doomed")
        names = [node["name"] for node in world.json("node", "list")]
        self.assertNotIn("doomed", names)
        eventually(lambda: "node_removed" in world.nodes["doomed"].text(), 60, "the node is told")
        world.nodes["doomed"].kill()

    def test_a_member_sees_only_its_own(self):
        world = self.world
        mine = world.ok("run", "--detach", "--", "true").strip()
        world.ok("account", "create", "guest")
        token = json.loads(world.ok("token", "create", "--account", "guest", "--role", "member", "--json"))["token"]
        self.assertEqual(self.request("GET", "/api/v1/tasks/" + mine, token=token)[0], 404)
        self.assertEqual(self.request("POST", "/api/v1/accounts", json.dumps({"name": "y"}), token,
                                      {"Content-Type": "application/json"})[0], 403)
        world.ok("account", "disable", "guest")
        self.assertEqual(self.request("GET", "/api/v1/whoami", token=token)[0], 401)


class Files(unittest.TestCase):
    def setUp(self):
        self.world = Deployment()
        self.addCleanup(self.world.close)

    def serve(self, *words):
        return subprocess.run([BIN / "outhaul-hub", "serve", "--data", self.world.root / "hub", "--listen",
                               f"127.0.0.1:{self.world.port}", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, env=self.world.env)

    def test_a_corrupt_database_is_named_and_left_alone(self):  # proves O8
        self.world.start_hub()
        self.world.hub.kill(signal.SIGTERM)
        path = self.world.root / "hub" / "hub.db"
        bytes_before = bytearray(path.read_bytes())
        bytes_before[0:64] = b"\xff" * 64
        path.write_bytes(bytes_before)
        done = self.serve()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("store_corrupt", done.stdout)
        self.assertEqual(hashlib.sha256(path.read_bytes()).digest(), hashlib.sha256(bytes(bytes_before)).digest())

    def test_configuration_faults_are_all_named(self):  # proves K11
        self.world.start_hub()
        self.world.hub.kill(signal.SIGTERM)
        config = self.world.root / "hub.yaml"
        config.write_text("version: 1\nlissten: x\nheartbeat_interval: [1]\n")
        config.chmod(0o600)
        done = self.serve("--config", str(config))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("config_invalid", done.stdout)
        self.assertIn("hub.yaml:2", done.stdout)
        self.assertIn("lissten", done.stdout)

    def test_loose_permissions_are_refused_with_the_remedy(self):  # proves A10
        self.world.start_hub()
        node = self.world.add_node("alpha")
        node.kill(signal.SIGTERM)
        key = self.world.root / "alpha" / "signing.key"
        key.chmod(0o644)
        done = subprocess.run(node.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, env=self.world.env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("file_permissions_loose", done.stdout)
        self.assertIn("chmod", done.stdout)

    def test_a_node_runs_nothing_that_its_owner_did_not_allow(self):
        self.world.isolation = False
        self.world.start_hub()
        self.world.add_node("alpha")
        done = self.world.cli("run", "--queue-timeout", "2s", "--", "true")
        self.assertEqual(done.returncode, 125)

    def test_enrolling_twice_is_refused(self):  # proves A10
        self.world.start_hub()
        node = self.world.add_node("alpha")
        token = json.loads(self.world.ok("node", "token", "create", "--json"))["token"]
        node.kill()
        again = subprocess.run([BIN / "outhaul-node", "enroll", "--hub", self.world.url, "--ca-fingerprint", self.world.fingerprint,
                                "--token", "-", "--data", self.world.root / "alpha", "--name", "alpha"], input=token + "\n",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, env=self.world.env)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("identity_exists", again.stdout)


if __name__ == "__main__":
    unittest.main()
