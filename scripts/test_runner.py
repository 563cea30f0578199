"""Runs the tiers of tests and prints totals; see scripts/test for its command line."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIERS = ("tidy", "unit", "contract", "sim", "golden", "e2e", "faults")
DEFAULT_TIERS = TIERS[:-1]  # the planted faults need a build of their own
# Seconds that one test program or script may take, on the slowest machine that CI has.
TIME_LIMITS = {"tidy": 300, "unit": 300, "contract": 600, "sim": 1500, "golden": 300, "e2e": 1800, "faults": 1500}
DEFAULT_SEEDS = 2000
# The simulation is one thread; two processes use the two cores that CI has.
SIM_PROCESSES = 2
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
    "TSAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
}


@dataclass
class Outcome:
    """What one program or script reported."""

    name: str
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)  # (test, reason)
    output: str = ""
    seconds: float = 0.0

    def summary(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


@dataclass
class Job:
    name: str
    command: list
    report: str  # "gtest" or "unittest": the form of the report file
    time_limit: int


def run_command(job, environment):
    """Gives (exit code or None when the time limit passed, output). Ends the whole process group at the limit."""
    process = subprocess.Popen(
        job.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=job.time_limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output


def read_gtest_report(path, outcome):
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None:
            outcome.failed.append(name)
        elif skip is not None:
            reason = (skip.get("message") or "no reason given").splitlines()
            outcome.skipped.append((name, reason[-1]))
        elif case.get("status") == "notrun":
            outcome.skipped.append((name, "disabled"))
        else:
            outcome.passed += 1


def read_unittest_report(path, outcome):
    report = json.loads(path.read_text())
    outcome.passed = report["passed"]
    outcome.failed = report["failed"]
    outcome.skipped = [tuple(skip) for skip in report["skipped"]]


def read_crashed_output(outcome):
    """A program that died wrote no report: its lines tell what passed and which test it died in."""
    outcome.passed = len(re.findall(r"^\[ +OK \] ", outcome.output, re.M))
    outcome.failed += sorted(set(re.findall(r"^\[  FAILED  \] ([\w/.]+)", outcome.output, re.M)))
    running = re.findall(r"^\[ RUN      \] (\S+)", outcome.output, re.M)
    return running[-1] if running else "start"


def run_job(job):
    outcome = Outcome(job.name)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        environment = {**SANITIZER_ENVIRONMENT, **os.environ, "OUTHAUL_TEST_REPORT": str(report)}
        if job.report == "gtest":
            environment["GTEST_OUTPUT"] = f"xml:{report}"
        code, outcome.output = run_command(job, environment)
        outcome.seconds = time.monotonic() - started
        if report.exists() and code is not None:
            (read_gtest_report if job.report == "gtest" else read_unittest_report)(report, outcome)
            if code != 0 and not outcome.failed:
                outcome.failed.append(f"{job.name}: exit code {code} after its tests")
            return outcome
        last = read_crashed_output(outcome)
        if code is None:
            outcome.failed.append(f"{job.name}: ended after its time limit of {job.time_limit} s, in {last}")
        elif code != 0 or job.report == "unittest":
            outcome.failed.append(f"{job.name}: exit code {code} without a report, in {last}")
        elif outcome.passed == 0:
            outcome.passed = 1
    return outcome


def python_jobs(tier, options):
    scripts = sorted((ROOT / "tests" / tier).glob("*.py"))
    scripts = [script for script in scripts if "    def test_" in script.read_text()]
    runner = [sys.executable, "-B", "scripts/unittest_runner.py"]
    return [Job(f"{tier}/{script.stem}", runner + [str(script)], "unittest", TIME_LIMITS[tier])
            for script in scripts if is_chosen(script.stem, options)]


def is_chosen(name, options):
    return not options.words or any(word in name for word in options.words)


def program_job(name, tier, options, arguments=()):
    program = ROOT / "build" / options.preset / "bin" / name
    return Job(f"{tier}/{name}", [str(program), *arguments, *options.gtest], "gtest", TIME_LIMITS[tier])


def build(preset, targets):
    if targets:
        subprocess.run([ROOT / "scripts" / "build", preset, *targets], check=True, cwd=ROOT)


def has_sources(folder, pattern="*.cc"):
    return any((ROOT / folder).rglob(pattern))


def tidy_jobs(options):
    return python_jobs("tidy", options)


def unit_jobs(options):
    folders = [folder.name for folder in sorted((ROOT / "src").iterdir())
               if folder.is_dir() and has_sources(folder, "*_test.cc")]
    if options.words:
        folders = [folder for folder in folders if folder in options.words]
    names = [f"test_{folder}" for folder in folders]
    build(options.preset, names)
    return [program_job(name, "unit", options) for name in names]


def contract_jobs(options):
    if not has_sources("tests/contract"):
        return []
    build(options.preset, ["test_contract"])
    return [program_job("test_contract", "contract", options)]


def sim_jobs(options):
    if not has_sources("tests/sim"):
        return []
    build(options.preset, ["test_sim"])
    jobs = []
    share = -(-options.seeds // SIM_PROCESSES)
    for first in range(0, options.seeds, share):
        seeds = ["--seeds", str(min(share, options.seeds - first)), "--from", str(options.first_seed + first)]
        jobs.append(program_job("test_sim", "sim", options, seeds))
        jobs[-1].name += " " + " ".join(seeds)
    return jobs


def faults_jobs(options):
    """The simulation must find each planted fault; only the release build is fast enough to try them all."""
    sources = (ROOT / "tests" / "sim").rglob("*.cc")
    if options.preset != "release" or not any("OUTHAUL_PLANTED_FAULTS" in source.read_text() for source in sources):
        return []
    build("faults", ["test_sim"])
    program = ROOT / "build" / "faults" / "bin" / "test_sim"
    return [Job("sim/planted faults", [str(program), "--gtest_filter=*PlantedFault*"], "gtest", TIME_LIMITS["sim"])]


def golden_jobs(options):
    jobs = python_jobs("golden", options)
    if jobs:
        build(options.preset, ["programs"])
    if has_sources("tests/golden"):
        build(options.preset, ["test_golden"])
        jobs.append(program_job("test_golden", "golden", options))
    return jobs


def e2e_jobs(options):
    jobs = python_jobs("e2e", options)
    if jobs:
        build(options.preset, ["programs"])
    return jobs


def report_outcome(outcome):
    print(f"  {outcome.name}: {outcome.summary()} ({outcome.seconds:.1f} s)", flush=True)
    for test, reason in outcome.skipped:
        print(f"    skipped {test}: {reason}")
    if outcome.failed:
        for test in outcome.failed:
            print(f"    FAILED {test}")
        for line in outcome.output.splitlines()[-200:]:
            print(f"    | {line}")
    sys.stdout.flush()


def run_tier(tier, options):
    """Gives the outcomes of the tier, or none when the tree has no such tests."""
    try:
        jobs = globals()[f"{tier}_jobs"](options)
    except subprocess.CalledProcessError as error:
        print(f"{tier}: the build failed", flush=True)
        return [Outcome(tier, failed=[f"build: exit code {error.returncode}"])]
    print(f"{tier}" + ("" if jobs else ": no tests in the tree"), flush=True)
    # End-to-end tests watch real processes and times, so nothing else may compete with them.
    workers = 1 if tier == "e2e" else 2
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for outcome in pool.map(run_job, jobs):
            report_outcome(outcome)
            outcomes.append(outcome)
    return outcomes


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="scripts/test", description="Tiers: " + " ".join(TIERS))
    parser.add_argument("--preset", default="release")
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="how many seeds the simulation runs")
    parser.add_argument("--from", type=int, default=1, dest="first_seed", help="the first seed")
    parser.add_argument("words", nargs="*", help="tiers, then names to choose within them")
    options, rest = parser.parse_known_args(arguments)
    options.gtest = [argument for argument in rest if argument.startswith("--gtest")]
    if len(options.gtest) != len(rest):
        parser.error(f"unknown: {' '.join(set(rest) - set(options.gtest))}")
    options.tiers = [word for word in options.words if word in TIERS]
    options.words = [word for word in options.words if word not in TIERS]
    if options.words and not options.tiers:
        parser.error(f"no such tier: {' '.join(options.words)}")
    return options


def main():
    options = parse_options(sys.argv[1:])
    in_ci = os.environ.get("CI") == "true"
    outcomes, faults = [], []
    for tier in options.tiers or DEFAULT_TIERS:
        of_tier = run_tier(tier, options)
        if of_tier and in_ci and sum(outcome.passed + len(outcome.failed) for outcome in of_tier) == 0:
            faults.append(f"{tier}: no test ran")
        outcomes += of_tier
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    skipped = sum(len(outcome.skipped) for outcome in outcomes)
    if in_ci and skipped:
        faults.append("a skipped test fails under CI")
    for fault in faults:
        print(fault)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or faults or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
