"""scripts/test counts what really happened: crashes, time limits, skips and tiers in which nothing ran."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import repository

sys.path.insert(0, str(repository.ROOT / "scripts"))
import test_runner  # noqa: E402

GTEST_REPORT = """<testsuites><testsuite>
<testcase name="A" classname="Suite" status="run"/>
<testcase name="B" classname="Suite" status="run"><failure message="x"/></testcase>
<testcase name="C" classname="Suite" status="run"><skipped message="file.cc:7&#x0A;no cgroups here"/></testcase>
<testcase name="D" classname="Suite" status="notrun"/>
</testsuite></testsuites>"""


class RunJob(unittest.TestCase):
    def run_script(self, script, report="gtest", time_limit=60):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text("import json, os, sys, signal\n" + script)
            return test_runner.run_job(test_runner.Job("it", [sys.executable, str(path)], report, time_limit))

    def test_a_gtest_report_is_counted_with_reasons(self):
        outcome = self.run_script("path = os.environ['GTEST_OUTPUT'].removeprefix('xml:')\n"
                                  f"open(path, 'w').write('''{GTEST_REPORT}''')\nsys.exit(1)\n")
        self.assertEqual((outcome.passed, outcome.failed), (1, ["Suite.B"]))
        self.assertEqual(outcome.skipped, [("Suite.C", "no cgroups here"), ("Suite.D", "disabled")])

    def test_a_failing_exit_after_passing_tests_is_a_failure(self):
        outcome = self.run_script("path = os.environ['OUTHAUL_TEST_REPORT']\n"
                                  "json.dump({'passed': 3, 'failed': [], 'skipped': []}, open(path, 'w'))\n"
                                  "sys.exit(7)\n", report="unittest")
        self.assertEqual((outcome.passed, len(outcome.failed)), (3, 1))

    def test_a_crash_names_the_test_it_died_in(self):
        outcome = self.run_script("print('[ RUN      ] A.B\\n[       OK ] A.B (0 ms)\\n[ RUN      ] A.C', flush=True)\n"
                                  "os.kill(os.getpid(), signal.SIGABRT)\n")
        self.assertEqual(outcome.passed, 1)
        self.assertIn("A.C", outcome.failed[0])

    def test_the_time_limit_ends_the_program_and_what_it_started(self):
        outcome = self.run_script("import subprocess\nsubprocess.run(['cat'], stdin=os.pipe()[0])\n", time_limit=1)
        self.assertIn("time limit of 1 s", outcome.failed[0])

    def test_a_script_without_a_report_fails(self):
        self.assertEqual(len(self.run_script("sys.exit(0)\n", report="unittest").failed), 1)


class Totals(unittest.TestCase):
    def totals(self, outcomes, in_ci):
        output = io.StringIO()
        environment = {**os.environ, "CI": "true" if in_ci else "false"}
        with mock.patch.object(test_runner, "run_tier", lambda tier, options: outcomes), \
                mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", ["test", "unit"]), \
                contextlib.redirect_stdout(output):
            code = test_runner.main()
        return code, output.getvalue().splitlines()[-1]

    def test_the_last_line_is_the_totals(self):
        outcome = test_runner.Outcome("it", passed=2, failed=["x"], skipped=[("y", "z")])
        self.assertEqual(self.totals([outcome], in_ci=False), (1, "2 passed, 1 failed, 1 skipped"))

    def test_a_skip_fails_under_ci_alone(self):
        outcome = test_runner.Outcome("it", passed=2, skipped=[("y", "z")])
        self.assertEqual(self.totals([outcome], in_ci=False)[0], 0)
        self.assertEqual(self.totals([outcome], in_ci=True)[0], 1)

    def test_a_tier_in_which_nothing_ran_fails_under_ci(self):
        self.assertEqual(self.totals([test_runner.Outcome("it")], in_ci=True)[0], 1)
        self.assertEqual(self.totals([], in_ci=False)[0], 1)


if __name__ == "__main__":
    unittest.main()
