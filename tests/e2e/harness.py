"""Hubs, nodes and a command line in a directory of their own, made of the real programs."""

import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("OUTHAUL_BIN", ROOT / "build" / "release" / "bin"))
START_LIMIT = 60.0


def eventually(condition, limit=START_LIMIT, what="condition"):
    """The first true value of condition(); fails after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"did not come true within {limit:.0f} s: {what}")
        select.select([], [], [], 0.02)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """One process that can be killed and started again with the same words."""

    def __init__(self, argv, log, env=None):
        self.argv = [str(word) for word in argv]
        self.log = pathlib.Path(log)
        self.env = env
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.env, start_new_session=True)
        return self

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self, number=signal.SIGKILL, limit=60):
        if self.is_alive():
            self.process.send_signal(number)
            self.process.wait(limit)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Proxy:
    """A TCP relay between node and hub that a test can cut or make swallow every packet."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = set()
        self.lock = threading.Lock()
        self.swallow = False
        self.closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.closed:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target_port), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            pair = (near, far)
            with self.lock:
                self.pairs.add(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._copy, args=(source, sink, pair), daemon=True).start()

    def _copy(self, source, sink, pair):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                if not self.swallow:
                    sink.sendall(data)
        except OSError:
            pass
        self._close(pair)

    def _close(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self._close(pair)

    def close(self):
        self.closed = True
        self.listener.close()
        self.cut()


class Deployment:
    """A hub, its nodes and a command line, below one temporary directory."""

    def __init__(self, isolation=True):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="outhaul-e2e-"))
        self.env = dict(os.environ, OUTHAUL_CONFIG=str(self.root / "config.yaml"), HOME=str(self.root),
                        XDG_STATE_HOME=str(self.root / "state"))
        self.port = free_port()
        self.hub = None
        self.nodes = {}
        self.proxies = []
        self.isolation = isolation

    # --- set-up
    def start_hub(self, config=""):
        data = self.root / "hub"
        config_file = self.root / "hub.yaml"
        config_file.write_text("version: 1\n" + config)
        subprocess.run([BIN / "outhaul-hub", "init", "--data", data, "--deployment", "e2e.internal"], check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        ready = self.root / "hub-ready.json"
        self.hub = Program([BIN / "outhaul-hub", "serve", "--data", data, "--listen", f"127.0.0.1:{self.port}",
                            "--ready-file", ready, "--config", config_file], self.root / "hub.log", self.env).start()
        eventually(lambda: ready.exists() or not self.hub.is_alive(), what="the hub's ready file")
        facts = json.loads(ready.read_text())
        self.url, self.fingerprint = facts["url"], facts["ca_fingerprint"]
        token = (data / "admin-token").read_text().strip()
        self.ok("login", self.url, "--token", "-", "--ca-fingerprint", self.fingerprint, "--name", "e2e", stdin=token + "\n")
        return self

    def add_node(self, name, through_proxy=False, config=""):
        token = json.loads(self.ok("node", "token", "create", "--json"))["token"]
        data = self.root / name
        hub_url = self.url
        if through_proxy:
            proxy = Proxy(self.port)
            self.proxies.append(proxy)
            hub_url = f"https://127.0.0.1:{proxy.port}"
        subprocess.run([BIN / "outhaul-node", "enroll", "--hub", hub_url, "--ca-fingerprint", self.fingerprint, "--token", "-",
                        "--data", data, "--name", name], input=token + "\n", text=True, check=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)
        if self.isolation:
            config_file = data / "node.yaml"
            config_file.write_text("version: 1\nisolation: [trusted]\n" + config)
            config_file.chmod(0o600)
        node = Program([BIN / "outhaul-node", "run", "--data", data, "--hub", hub_url], self.root / f"{name}.log", self.env)
        self.nodes[name] = node.start()
        self.wait_attached(name)
        return node

    # --- the command line
    def cli(self, *words, stdin=None, limit=120, text=True):
        kwargs = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run([BIN / "outhaul", *[str(word) for word in words]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=limit, env=self.env, text=text, **kwargs)

    def ok(self, *words, **kwargs):
        done = self.cli(*words, **kwargs)
        if done.returncode != 0:
            raise AssertionError(f"outhaul {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *words, **kwargs):
        return json.loads(self.ok(*words, "--json", **kwargs))

    def popen(self, *words, **kwargs):
        return subprocess.Popen([BIN / "outhaul", *[str(word) for word in words]], env=self.env, **kwargs)

    def task(self, task_id):
        return self.json("task", "show", task_id)

    def latest_task(self):
        return self.task(self.json("task", "list")[0]["id"])

    def wait_attached(self, name, limit=START_LIMIT):
        def attached():
            done = self.cli("node", "list", "--json")
            if done.returncode != 0:
                return False
            return any(node["name"] == name and node["health"] == "attached" for node in json.loads(done.stdout))
        eventually(attached, limit, f"node {name} attached; log:\n" + self.nodes[name].text()[-2000:])

    def launchers(self, name):
        """Process ids of the launchers of this node: their tag names the data directory by device and inode."""
        place = os.stat(self.root / name)
        tag = f"--tag {place.st_dev:x}-{place.st_ino:x} "
        return [pid for pid, exe, words in processes() if exe.endswith("/outhaul-launcher") and tag in words]

    def close(self):
        for program in [*self.nodes.values(), self.hub]:
            if program is not None:
                program.kill()
        for proxy in self.proxies:
            proxy.close()
        for name in self.nodes:
            for pid in self.launchers(name):
                kill_tree(pid)
        shutil.rmtree(self.root, ignore_errors=True)


def processes():
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield int(entry.name), os.readlink(entry / "exe").removesuffix(" (deleted)"), words
            except OSError:
                continue


def children_of(pid):
    found = []
    for other in pathlib.Path("/proc").iterdir():
        if other.name.isdigit():
            try:
                stat = (other / "stat").read_text()
            except OSError:
                continue
            if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(other.name))
    return found


def kill_tree(pid):
    below = children_of(pid)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    for child in below:
        kill_tree(child)


class DeploymentTest(unittest.TestCase):
    """One deployment with one node `alpha` for all tests of a class."""

    through_proxy = False

    @classmethod
    def setUpClass(cls):
        cls.world = Deployment()
        cls.addClassCleanup(cls.world.close)
        cls.world.start_hub()
        cls.world.add_node("alpha", through_proxy=cls.through_proxy)
