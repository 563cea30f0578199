"""Bad input at every door: a clear code, no secret repeated, and the next request is served."""

import hashlib
import http.client
import json
import os
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

    def test_a_wrong_token_or_fingerprint_is_refused_by_name(self):
        world = self.world
        wrong = world.cli("login", world.url, "--token", PLANTED, "--ca-fingerprint", world.fingerprint, "--name", "x")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("unauthenticated", wrong.stderr)
        self.assertNotIn(PLANTED, wrong.stderr)
        other = "sha256:" + "0" * 64
        foreign = world.cli("login", world.url, "--token", "-", "--ca-fingerprint", other, "--name", "x", stdin="oht_x\n")
        self.assertIn("ca_fingerprint_mismatch", foreign.stderr)

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
