"""Tests wait for what they expect, never for time to pass."""
import re
import unittest

import repository

SLEEP = re.compile(r"this_thread::sleep|\b(?:u|nano)sleep\(|(?<![\w.])sleep\(\d|\btime\.sleep\(")
# Looking again at what only the kernel or another process changes needs a pause; it lives in one function with a
# limit, named wait_until_... or wait_for_....
POLLING = re.compile(r"\bdef wait_(?:until|for)\w*\(.*?(?=\ndef |\nclass |\n    def |\Z)"
                     r"|\bwait_until_\w+\([^;{]*\) (?:const )?\{.*?\n\}", re.S)


def sleeps_in(text):
    return SLEEP.findall(POLLING.sub("", text))


class Waiting(unittest.TestCase):
    def test_no_test_sleeps(self):
        for path, text in repository.tracked_text():
            if path.suffix in (".cc", ".h", ".py") and (path.parts[0] == "tests" or path.stem.endswith("_test")):
                if path.parts[:2] not in (("tests", "tidy"), ("tests", "bench")):
                    self.assertEqual(sleeps_in(text), [], path)

    def test_no_product_code_sleeps(self):
        for path, text in repository.tracked_text():
            if path.suffix in (".cc", ".h") and path.parts[0] == "src":
                self.assertEqual(sleeps_in(text), [], path)

    def test_sleeping_is_told_from_polling(self):
        self.assertEqual(len(sleeps_in("def test_x():\n    time.sleep(1)\n")), 1)
        self.assertEqual(len(sleeps_in("std::this_thread::sleep_for(1s); usleep(5); sleep(1);")), 3)
        self.assertEqual(sleeps_in('clock.sleep_for(1s); run("sleep 30")'), [])
        self.assertEqual(sleeps_in("def wait_until(check):\n    while not check():\n        time.sleep(0.01)\n"), [])
        self.assertEqual(sleeps_in("void wait_until_empty(int x) {\n  nanosleep(x);\n}\n"), [])
        self.assertEqual(len(sleeps_in("void wait_until_empty(int x);\nvoid f() { nanosleep(x); }\n")), 1)


if __name__ == "__main__":
    unittest.main()
