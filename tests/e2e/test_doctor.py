"""`outhaul-node doctor` names the very thing that is wrong, and the service manager hears what it waits for."""

import json
import re
import shutil
import signal
import socket
import subprocess
import unittest

from harness import BIN, ROOT, DeploymentTest, Program, eventually, free_port


class Doctor(DeploymentTest):
    def setUp(self):
        self.data = self.world.root / "alpha"

    def examine(self, *words, code=0, data=None):
        done = subprocess.run([BIN / "outhaul-node", "doctor", "--data", data or self.data, "--json", *map(str, words)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              env=self.world.env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    def failed(self, name, *words, **kwargs):
        checks = self.examine(*words, code=1, **kwargs)
        failing = [each for each, check in checks.items() if check["health"] == "fail"]
        self.assertEqual(failing, [name], checks)
        self.assertTrue(checks[name]["remedy"], checks[name])
        return checks[name]

    def test_a_well_node_has_no_fault_also_while_it_runs(self):
        checks = self.examine()
        self.assertEqual({each["health"] for each in checks.values()}, {"ok"}, checks)
        for name in ("directory", "process", "journal", "launcher", "lock", "policy", "slots", "disk", "identity", "certificate",
                     "dns", "tcp", "tls", "hub", "clock"):
            self.assertIn(name, checks)

    def test_each_step_to_the_hub_is_named(self):
        self.assertIn("no-such-host.invalid", self.failed("dns", "--hub", "https://no-such-host.invalid")["what"])
        self.failed("tcp", "--hub", f"https://127.0.0.1:{free_port()}")
        foreign = self.world.root / "foreign"
        subprocess.run([BIN / "outhaul-hub", "init", "--data", foreign, "--deployment", "e2e.internal"], check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.world.env)
        port = free_port()
        hub = Program([BIN / "outhaul-hub", "serve", "--data", foreign, "--listen", f"127.0.0.1:{port}"],
                      self.world.root / "foreign.log", self.world.env).start()
        self.addCleanup(hub.kill)
        eventually(lambda: "serving" in hub.text(), what="the foreign hub")
        self.failed("tls", "--hub", f"https://127.0.0.1:{port}")

    def test_what_is_wrong_in_the_directory_is_named(self):
        self.failed("directory", data=self.world.root / "nowhere")
        node = self.world.nodes["alpha"]
        node.kill()
        self.addCleanup(lambda: (node.start(), self.world.wait_attached("alpha")))
        copy = self.world.root / "copy"
        shutil.copytree(self.data, copy, ignore=shutil.ignore_patterns("*.sock"))
        self.assertEqual(self.examine(data=copy)["process"]["health"], "warn")

        (copy / "signing.key").chmod(0o644)
        self.assertIn("chmod", json.dumps(self.failed("identity", data=copy)))
        (copy / "signing.key").chmod(0o600)
        (copy / "node.yaml").write_text("version: 1\nslots: many\n")
        self.failed("node.yaml", data=copy)
        (copy / "node.yaml").write_text("version: 1\ndisk_floor_mib: 1048576\n")
        checks = self.examine(data=copy, code=1)
        self.assertEqual((checks["disk"]["health"], checks["isolation"]["health"]), ("fail", "warn"))
        (copy / "node.yaml").write_text("version: 1\n")
        (copy / "locked").write_text("{")
        (copy / "locked").chmod(0o600)
        self.assertEqual(self.examine(data=copy)["lock"]["health"], "warn")
        (copy / "locked").unlink()
        shutil.rmtree(copy / "streams")
        self.failed("journal", data=copy)


class ServiceManager(DeploymentTest):
    def test_units_are_whole(self):
        analyze = shutil.which("systemd-analyze")
        units = sorted((ROOT / "packaging" / "systemd").glob("*.service"))
        self.assertEqual([unit.name for unit in units], ["outhaul-hub.service", "outhaul-node.service"])
        for unit in units:
            text = unit.read_text()
            self.assertEqual(re.findall("Type=(.*)", text), ["notify"])
            here = self.world.root / unit.name
            # The programs stand elsewhere here.
            here.write_text(text.replace("/usr/bin/", f"{BIN}/"))
            if analyze:
                done = subprocess.run([analyze, "verify", "--man=no", here], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=60)
                self.assertNotIn(unit.name, done.stdout)

    def test_it_hears_ready_watchdog_and_stopping(self):
        world = self.world
        path = str(world.root / "notify")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(path)
        manager.settimeout(30)
        node = world.nodes["alpha"]
        node.kill()
        world.nodes["alpha"] = node = Program(node.argv, node.log, dict(world.env, NOTIFY_SOCKET=path, WATCHDOG_USEC="200000"))
        node.start()
        heard = [manager.recv(100) for _ in range(5)]
        self.assertIn(b"READY=1", heard)
        self.assertGreaterEqual(heard.count(b"WATCHDOG=1"), 3)

        node.process.send_signal(signal.SIGTERM)
        while manager.recv(100) != b"STOPPING=1":
            pass
        self.assertEqual(node.process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
