"""unittest_runner.py FILE: runs the unittest cases of one file, writes counts as JSON to $OUTHAUL_TEST_REPORT."""
import importlib.util
import json
import os
import pathlib
import sys
import unittest


class Counting(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.passed += 1


def load_file(path):
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def main():
    module = load_file(pathlib.Path(sys.argv[1]).resolve())
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(resultclass=Counting, verbosity=2, stream=sys.stdout).run(suite)
    broken = result.failures + result.errors
    report = {
        "passed": result.passed,
        "failed": [str(test) for test, _ in broken] + [str(test) for test in result.unexpectedSuccesses],
        "skipped": [(str(test), reason) for test, reason in result.skipped],
    }
    if os.environ.get("OUTHAUL_TEST_REPORT"):
        pathlib.Path(os.environ["OUTHAUL_TEST_REPORT"]).write_text(json.dumps(report))
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
