"""The spine's costs beside its peers in one run: raw posix_spawn, ssh, openssl. Medians; CPU seconds beside.

Prints one Markdown table. What a machine lacks is named in the table and not guessed.
OUTHAUL_BENCH_RUNS changes the number of runs (default 5), OUTHAUL_BENCH_BYTES the size of the bulk output.
"""

import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import BIN, Deployment, children_of, eventually, free_port  # noqa: E402

BENCHES = BIN.parent / "bench" if (BIN.parent / "bench").exists() else BIN.parent
RUNS = int(os.environ.get("OUTHAUL_BENCH_RUNS", "5"))
BULK = int(os.environ.get("OUTHAUL_BENCH_BYTES", str(1 << 30)))
TICK = os.sysconf("SC_CLK_TCK")
rows = []


def find_bench(name):
    for place in (BIN, BIN.parent, BENCHES):
        if (place / name).exists():
            return place / name
    raise SystemExit(f"bench: {name} is not built: scripts/bench builds it")


def row(what, ours, peer, ratio, target):
    rows.append((what, ours, peer, ratio, target))
    print(f"  {what}: {ours} | {peer} | {ratio} (target {target})", file=sys.stderr)


def cpu_of(pid):
    """User plus system CPU seconds of the process itself, and of the children that it has reaped."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK, (int(fields[13]) + int(fields[14])) / TICK


def anonymous_kib(pid):
    return int(re.search(r"RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def timed(argv, env=None):
    start = time.perf_counter()
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=env)
    return (time.perf_counter() - start) * 1e3


def alternating(first, second, times):
    """Both commands in turn, so that whatever else the machine does falls on both."""
    ones, others = [], []
    for _ in range(times):
        ones.append(timed(*first))
        others.append(timed(*second))
    return statistics.median(ones), statistics.median(others)


class Ssh:
    """An sshd of our own with a key of our own, and one multiplexed connection to it."""

    def __init__(self, root):
        self.root = root / "ssh"
        self.root.mkdir()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.root / name], check=True)
        shutil.copy(self.root / "user.pub", self.root / "authorized_keys")
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        self.port = free_port()
        self.server = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-p", str(self.port), "-h", self.root / "host",
             "-o", f"AuthorizedKeysFile={self.root}/authorized_keys", "-o", "StrictModes=no", "-o", "ListenAddress=127.0.0.1",
             "-o", "UsePAM=no", "-o", f"PidFile={self.root}/pid"], stderr=subprocess.DEVNULL)
        # The first value of an option wins, so the multiplexed form only adds to the plain one.
        self.plain = ["ssh", "-F", "/dev/null", "-p", str(self.port), "-i", str(self.root / "user"), "-o",
                     "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={self.root}/known", "-o", "LogLevel=ERROR",
                      "-o", "Ciphers=aes128-gcm@openssh.com"]
        self.base = [*self.plain, "-o", f"ControlPath={self.root}/ctl", "127.0.0.1"]
        eventually(lambda: subprocess.run([*self.base[:-1], "-o", "ControlMaster=yes", "-o", "ControlPersist=yes", "127.0.0.1",
                                           "true"], stderr=subprocess.DEVNULL).returncode == 0, what="sshd")

    def close(self):
        subprocess.run([*self.base[:-1], "-O", "exit", "127.0.0.1"], stderr=subprocess.DEVNULL)
        self.server.terminate()
        self.server.wait()


def bench_startup():
    outhaul, openssl = alternating(([BIN / "outhaul", "--version"],), (["openssl", "version"],), 20 * RUNS)
    row("`outhaul --version`", f"{outhaul:.2f} ms", f"openssl version {openssl:.2f} ms", f"{outhaul / openssl:.2f}", "<= 2")


def bench_true(world):
    raw_program, api = find_bench("raw_spawn"), find_bench("api_bench")
    token = world.root / "hub" / "admin-token"
    call = [api, world.url, world.fingerprint, token]
    ratios, rates, lines = [], [], []
    for _ in range(RUNS):
        raw = json.loads(subprocess.check_output([raw_program, "/usr/bin/true", "300", "50", "1500"]))
        one = json.loads(subprocess.check_output([*call, "latency", "300", "/usr/bin/true"]))
        before = [cpu_of(pid)[0] for pid in world.pids()]
        many = json.loads(subprocess.check_output([*call, "rate", "50", "1500", "/usr/bin/true"]))
        ours = sum(cpu_of(pid)[0] for pid in world.pids()) - sum(before)
        ratios.append(one["p50_us"] / raw["p50_us"])
        rates.append(many["rate"] / raw["rate"])
        lines.append((one["p50_us"], raw["p50_us"], many["rate"], raw["rate"], ours / 1500 * 1e6 + many["client_cpu_us"]))
    middle = [statistics.median(column) for column in zip(*lines)]
    row("`true` over an open API connection, p50", f"{middle[0]:.0f} us", f"raw spawn {middle[1]:.0f} us",
        f"{statistics.median(ratios):.2f}", "<= 2")
    row("`true`, 50 in flight", f"{middle[2]:.0f}/s, {middle[4]:.0f} us CPU of ours each", f"raw spawn {middle[3]:.0f}/s",
        f"{statistics.median(rates):.2f}", ">= 0.6")


def bench_command_line(world, ssh):
    if ssh is None:
        return row("`outhaul run -- true`, whole process", "-", "ssh is absent", "-", "<= 0.5")
    outhaul, peer = alternating(([BIN / "outhaul", "run", "--", "true"], world.env), ([*ssh.base, "true"],), 10 * RUNS)
    row("`outhaul run -- true`, whole process", f"{outhaul:.1f} ms", f"ssh ControlMaster {peer:.1f} ms", f"{outhaul / peer:.2f}",
        "<= 0.5")


PRODUCER = f"head -c {BULK} /dev/zero; times >&2"


def producer_cpu(text):
    """The children's line of the shell's `times`."""
    parts = re.findall(r"(\d+)m([\d.]+)s", text.splitlines()[-1])
    return sum(int(minutes) * 60 + float(seconds) for minutes, seconds in parts)


def run_bulk(argv, pids, env=None, sample=None):
    """CPU seconds per GiB of `pids` and the client, without the producer; seconds per GiB; peak anonymous KiB."""
    before = {pid: cpu_of(pid) for pid in pids}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with open(os.devnull, "wb") as sink:
        client = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.PIPE, env=env)
        peaks = {}
        while sample and client.poll() is None:
            for name, pid in sample(client.pid).items():
                try:
                    peaks[name] = max(peaks.get(name, 0), anonymous_kib(pid))
                except (OSError, AttributeError):
                    pass
            time.sleep(0.05)  # a sampling interval
        errors = client.communicate()[1].decode()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    client_cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    assert client.returncode == 0, errors
    servers = sum(cpu_of(pid)[0] - before[pid][0] for pid in pids)
    scale = (1 << 30) / BULK
    return (servers + client_cpu) * scale, seconds * scale, peaks, producer_cpu(errors) * scale


def bench_bulk(world, ssh):
    ours, peers, walls, peer_walls, peaks = [], [], [], [], {}
    for _ in range(RUNS):
        named = world.named_pids()
        cpu, wall, seen, _ = run_bulk([BIN / "outhaul", "run", "--shell", PRODUCER], list(named.values()), world.env,
                                      lambda client: {**named, "client": client})
        ours.append(cpu)
        walls.append(wall)
        for name, kib in seen.items():
            peaks[name] = max(peaks.get(name, 0), kib)
        if ssh is not None:
            # The session's sshd is reaped by the one that we started: its children's time, less the producer's.
            before = cpu_of(ssh.server.pid)[1]
            plain = [*ssh.plain, "127.0.0.1", f"sh -c '{PRODUCER}'"]
            cpu, wall, _, producer = run_bulk(plain, [ssh.server.pid])
            eventually(lambda: cpu_of(ssh.server.pid)[1] > before, what="sshd reaped its session")
            peers.append(cpu + (cpu_of(ssh.server.pid)[1] - before) * (1 << 30) / BULK - producer)
            peer_walls.append(wall)
    text = f"{statistics.median(ours):.2f} CPU s/GiB, {1024 / statistics.median(walls):.0f} MiB/s"
    if peers:
        row("1 GiB of output, durable on both sides", text,
            f"ssh+sshd aes128-gcm {statistics.median(peers):.2f} CPU s/GiB, {1024 / statistics.median(peer_walls):.0f} MiB/s",
            f"{statistics.median(ours) / statistics.median(peers):.2f}", "<= 2.5")
    else:
        row("1 GiB of output, durable on both sides", text, "ssh is absent", "-", "<= 2.5")
    row("anonymous memory meanwhile", ", ".join(f"{name} {kib / 1024:.1f} MiB" for name, kib in sorted(peaks.items())), "-",
        f"{max(peaks.values()) / 1024:.1f} MiB", "< 64 MiB each")


def bench_idle(world):
    kib = anonymous_kib(world.nodes["alpha"].process.pid)
    row("an idle node, anonymous memory", f"{kib / 1024:.1f} MiB", "-", "-", "<= 15 MiB")


def bench_tunnel():
    lines = [json.loads(subprocess.check_output([find_bench("tunnel_bench")])) for _ in range(RUNS)]
    middle = {key: statistics.median(line[key] for line in lines) for key in lines[0]}
    row("interactive beside bulk, p50", f"{middle['busy_p50_us']:.0f} us", f"idle {middle['idle_p50_us']:.0f} us",
        f"{middle['busy_p50_us'] / middle['idle_p50_us']:.2f}", "<= 1.5")
    row("interactive beside bulk, p99", f"{middle['busy_p99_us'] / 1000:.2f} ms", f"bulk {middle['bulk_mib_s']:.0f} MiB/s", "-",
        "<= 3 ms")


class ApiProbe:
    """Somebody who lists tasks over a connection of their own, ever again, and how long each answer took."""

    def __init__(self, world):
        token = (world.root / "hub" / "admin-token").read_text().strip()
        self.headers = {"Authorization": f"Bearer {token}"}
        self.client = http.client.HTTPSConnection("127.0.0.1", world.port, context=ssl._create_unverified_context(), timeout=60)
        self.took = []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.probe)

    def probe(self):
        # Until the hub listens nobody is answered, fast or slowly.
        eventually(self.connects, what="the hub listens")
        while not self.done.is_set():
            start = time.perf_counter()
            self.client.request("GET", "/api/v1/tasks?limit=10", headers=self.headers)
            assert self.client.getresponse().read()
            self.took.append((time.perf_counter() - start) * 1e3)
            self.done.wait(0.005)

    def connects(self):
        try:
            self.client.connect()
        except ConnectionRefusedError:
            return False
        return True

    def percentile(self, part):
        return sorted(self.took)[int(part * (len(self.took) - 1))]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def bench_many_nodes(world):
    count = os.environ.get("OUTHAUL_BENCH_NODES", "5000")
    hub = world.hub
    before = anonymous_kib(hub.process.pid)
    load = subprocess.Popen([find_bench("node_load"), world.url, world.fingerprint, world.root / "hub" / "admin-token", count],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert load.stdout.readline().strip() == "attached"
        each = (anonymous_kib(hub.process.pid) - before) / int(count)
        row(f"hub memory per idle node, {count} nodes", f"{each:.1f} KiB", "-", "-", "<= 60 KiB")
        hub.kill()
        hub.start()
        start = time.perf_counter()
        with ApiProbe(world) as probe:
            assert load.stdout.readline().strip() == "attached"
            took = time.perf_counter() - start
        row(f"all {count} back after a hub restart", f"{took:.1f} s", "-", "-", "<= 60 s")
        row("the API meanwhile, p99", f"{probe.percentile(0.99):.0f} ms", f"p50 {probe.percentile(0.5):.1f} ms, {len(probe.took)} requests", "-",
            "<= 200 ms")
    finally:
        load.stdin.close()
        load.kill()
        load.wait()


class BenchWorld(Deployment):
    def named_pids(self):
        named = {"hub": self.hub.process.pid, "node": self.nodes["alpha"].process.pid}
        for number, pid in enumerate(self.launchers("alpha")):
            named[f"launcher{number or ''}"] = pid
        return named

    def pids(self):
        return list(self.named_pids().values())


def main():
    chosen = set(sys.argv[1:])
    world = BenchWorld()
    ssh = None
    try:
        world.start_hub()
        world.add_node("alpha")
        if shutil.which("ssh") and pathlib.Path("/usr/sbin/sshd").exists():
            ssh = Ssh(world.root)
        steps = {"startup": bench_startup, "idle": lambda: bench_idle(world), "true": lambda: bench_true(world),
                 "cli": lambda: bench_command_line(world, ssh), "bulk": lambda: bench_bulk(world, ssh), "tunnel": bench_tunnel,
                 "nodes": lambda: bench_many_nodes(world)}
        for name, step in steps.items():
            if not chosen or name in chosen:
                step()
    finally:
        if ssh is not None:
            ssh.close()
        world.close()
    print("| what | Outhaul | beside | ratio | target |\n|---|---|---|---|---|")
    for line in rows:
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
