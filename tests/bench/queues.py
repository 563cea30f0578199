"""How fast a task is durably accepted, beside the queues that people would use: beanstalkd, BullMQ on Redis, PostgreSQL.

64 clients, each with one request under way; every acceptance is synced to the disk before it is answered. Beside it what a no-op costs from
its submission to its end: here a program that a node starts, there a job that is claimed and completed and runs nothing. Prints Markdown tables.
OUTHAUL_BENCH_RUNS changes the number of rounds (default 3), OUTHAUL_BENCH_TASKS the jobs of a round (default 12000).
Peers that this machine lacks are named and left out: apt-get install beanstalkd redis-server postgresql nodejs; BullMQ comes from npm.
"""

import json
import os
import pathlib
import pwd
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from spine import cpu_of, find_bench  # noqa: E402
from harness import ROOT, Deployment, eventually, free_port  # noqa: E402

CLIENTS = 64
RUNS = int(os.environ.get("OUTHAUL_BENCH_RUNS", "3"))
TASKS = int(os.environ.get("OUTHAUL_BENCH_TASKS", "12000"))
BULLMQ = ("bullmq@6.7.0", "ioredis@6.0.0")
LOAD = pathlib.Path(__file__).with_name("queue_peers.mjs")
INSERT = "INSERT INTO jobs (body) VALUES ('{\"argv\":[\"/usr/bin/true\"],\"selector\":{\"pool\":\"nobody\"}}');\n"
CLAIM = """BEGIN;
SELECT id FROM jobs WHERE state = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1 \\gset
UPDATE jobs SET state = 'finished' WHERE id = :id;
COMMIT;
"""


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Outhaul:
    name = "Outhaul"

    def __init__(self, _):
        self.world = Deployment()
        self.world.start_hub()
        self.world.add_node("alpha")

    def pids(self):
        node = self.world.nodes["alpha"].process.pid
        return [self.world.hub.process.pid, node, *self.world.launchers("alpha")]

    def rate(self, mode, total, program="/usr/bin/true"):
        call = [find_bench("api_bench"), self.world.url, self.world.fingerprint, self.world.root / "hub" / "admin-token"]
        return json.loads(subprocess.check_output([*call, mode, str(CLIENTS), str(total), program]))["rate"]

    def put(self):
        return self.rate("accept", TASKS)

    def work(self):
        return self.rate("rate", TASKS // 6)

    def close(self):
        self.world.close()


class Server:
    """A peer: one server process on a port of its own, and the load program of its kind."""

    def __init__(self, argv, port, **kwargs):
        self.port = port
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)
        eventually(lambda: is_listening(port))

    def pids(self):
        return [self.process.pid]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Beanstalkd(Server):
    name = "beanstalkd `-f 0`"

    def __init__(self, root):
        (root / "beanstalkd").mkdir()
        port = free_port()
        super().__init__(["beanstalkd", "-l", "127.0.0.1", "-p", str(port), "-b", root / "beanstalkd", "-f", "0"], port)

    def load(self, what):
        return json.loads(subprocess.check_output(["node", LOAD, "beanstalkd", str(self.port), what, str(CLIENTS), str(TASKS)]))["rate"]

    def put(self):
        return self.load("put")

    def work(self):
        return self.load("work")


class BullMQ(Server):
    name = "BullMQ, Redis `appendfsync always`"

    def __init__(self, root):
        self.modules = ROOT / "build" / "bench_peers"
        if not (self.modules / "node_modules" / "bullmq").exists():
            self.modules.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--ignore-scripts", "--no-save", "--prefix", self.modules, *BULLMQ], check=True, stdout=sys.stderr)
        (root / "redis").mkdir()
        port = free_port()
        super().__init__(["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", root / "redis", "--appendonly", "yes",
                          "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"], port)

    def load(self, what):
        env = dict(os.environ, NODE_PATH=str(self.modules / "node_modules"))
        return json.loads(subprocess.check_output(["node", LOAD, "bullmq", str(self.port), what, str(CLIENTS), str(TASKS)], env=env))["rate"]

    put, work = (lambda self: self.load("put")), (lambda self: self.load("work"))


class PostgreSQL(Server):
    name = "PostgreSQL, SKIP LOCKED"

    def __init__(self, root):
        self.bin = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        place = root / "postgresql"
        place.mkdir()
        shutil.chown(place, self.user)
        root.chmod(0o755)
        self.root, port = place, free_port()
        self.run("initdb", "-D", place / "data", "-A", "trust", "-U", "bench")
        super().__init__(self.words("postgres", "-D", place / "data", "-p", str(port), "-k", place, "-c", "listen_addresses=127.0.0.1"), port,
                         cwd=place)
        self.sql("CREATE TABLE jobs (id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'queued', body jsonb NOT NULL);"
                 "CREATE INDEX queued ON jobs (id) WHERE state = 'queued';")

    def words(self, program, *words):
        as_user = ["runuser", "-u", self.user, "--"] if os.geteuid() == 0 else []
        return [*as_user, self.bin / program, *map(str, words)]

    def run(self, program, *words):
        return subprocess.run(self.words(program, *words), check=True, capture_output=True, text=True, cwd=self.root).stdout

    def sql(self, text):
        self.run("psql", "-h", self.root, "-p", self.port, "-U", "bench", "-q", "-c", text, "postgres")

    def load(self, text, total):
        script = self.root / "script.sql"
        script.write_text(text)
        out = self.run("pgbench", "-n", "-h", self.root, "-p", self.port, "-U", "bench", "-c", CLIENTS, "-j", 2, "-t", total // CLIENTS, "-f",
                       script, "postgres")
        return float(next(line for line in out.splitlines() if line.startswith("tps")).split()[2])

    def put(self):
        return self.load(INSERT, TASKS)

    def work(self):
        return self.load(CLAIM, TASKS)

    def pids(self):
        return [int((self.root / "data" / "postmaster.pid").read_text().split()[0])]


def present():
    yield Outhaul, True
    yield Beanstalkd, shutil.which("beanstalkd") and shutil.which("node")
    yield BullMQ, shutil.which("redis-server") and shutil.which("npm")
    yield PostgreSQL, pathlib.Path("/usr/lib/postgresql").exists()


def measured(queue, what):
    """(rate, CPU microseconds of the servers each)."""
    before = {pid: sum(cpu_of(pid)) for pid in queue.pids()}
    rate = getattr(queue, what)()
    spent = sum(sum(cpu_of(pid)) - before[pid] for pid in queue.pids())
    jobs = TASKS // 6 if what == "work" and isinstance(queue, Outhaul) else TASKS
    return rate, spent / jobs * 1e6


def main():
    with tempfile.TemporaryDirectory(prefix="outhaul-bench-") as name:
        queues = [kind(pathlib.Path(name)) for kind, here in present() if here]
        results = {(queue.name, what): [] for queue in queues for what in ("put", "work")}
        try:
            for _ in range(RUNS):
                for what in ("put", "work"):
                    for queue in queues:
                        results[queue.name, what].append(measured(queue, what))
                        print(f"  {queue.name} {what}: {results[queue.name, what][-1]}", file=sys.stderr)
        finally:
            for queue in queues:
                queue.close()
    middle = {key: [statistics.median(column) for column in zip(*samples)] for key, samples in results.items()}
    peers = [queue.name for queue in queues[1:]]
    print("| queue | accepted durably | server CPU each | no-op to its end | server CPU each |\n|---|---|---|---|---|")
    for queue in queues:
        put, work = middle[queue.name, "put"], middle[queue.name, "work"]
        print(f"| {queue.name} | {put[0]:,.0f}/s | {put[1]:.0f} us | {work[0]:,.0f}/s | {work[1]:.0f} us |")
    if peers:
        best = max(middle[name, "put"][0] for name in peers)
        print(f"\nAccepted: {middle['Outhaul', 'put'][0] / best:.2f} of the best of {', '.join(peers)} (target >= 1.5).")


if __name__ == "__main__":
    main()
