"""What audit and receipts cost: CPU seconds of hub, node and launcher a task, against a build without them.

Prints one Markdown table. The build without is made for this bench alone (preset `noaudit`) when it is not there.
OUTHAUL_BENCH_TASKS changes the number of tasks in a round (default 300), OUTHAUL_BENCH_RUNS the rounds (default 5).
"""

import importlib
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import harness  # noqa: E402

TASKS = int(os.environ.get("OUTHAUL_BENCH_TASKS", "300"))
RUNS = int(os.environ.get("OUTHAUL_BENCH_RUNS", "5"))
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """User plus system CPU seconds of the process, without its children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def build_without():
    bin_directory = ROOT / "build" / "noaudit" / "bin"
    if not (bin_directory / "outhaul-node").exists():
        subprocess.run(["cmake", "--preset", "noaudit"], cwd=ROOT, check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", "--preset", "noaudit", "--target", "programs"], cwd=ROOT, check=True, stdout=sys.stderr)
    return bin_directory


class World:
    """One deployment of one build, kept for all rounds."""

    def __init__(self, bin_directory):
        os.environ["OUTHAUL_BIN"] = str(bin_directory)
        module = importlib.reload(harness)
        self.world = module.Deployment()
        self.world.start_hub()
        self.world.add_node("alpha")
        self.round()  # warm: connections, caches, the launcher

    def pids(self):
        return [self.world.hub.process.pid, self.world.nodes["alpha"].process.pid, *self.world.launchers("alpha")]

    def round(self):
        """CPU milliseconds a task."""
        before = sum(cpu_of(pid) for pid in self.pids())
        for _ in range(TASKS):
            self.world.ok("run", "--", "true")
        return (sum(cpu_of(pid) for pid in self.pids()) - before) / TASKS * 1e3


def main():
    builds = {"with": World(harness.BIN), "without": World(build_without())}
    samples = {name: [] for name in builds}
    try:
        for _ in range(RUNS):
            for name, world in builds.items():
                samples[name].append(world.round())
    finally:
        for world in builds.values():
            world.world.close()
    ours, base = (statistics.median(samples[name]) for name in ("with", "without"))
    print("| what | with | without | more | target |\n|---|---|---|---|---|")
    print(f"| CPU of hub, node and launcher a task | {ours:.2f} ms | {base:.2f} ms | {(ours / base - 1) * 100:+.1f} % | <= +15 % |")
    for place in (harness.BIN, harness.BIN.parent):
        if (place / "audit_bench").exists():
            print()
            print(subprocess.run([place / "audit_bench"], check=True, stdout=subprocess.PIPE, text=True).stdout, end="")
            break


if __name__ == "__main__":
    main()
