"""Limits of size and complexity, with one list of exceptions that may only shrink."""
# proves Q2
import pathlib
import textwrap
import unittest

import cpp_metrics
import repository

FUNCTION_LIMITS = {"cyclomatic": 15, "branches": 12, "statements": 50, "lines": 70}
FILE_LINES = 800
CODE_SUFFIXES = (".cc", ".h", ".py", ".ts", ".proto", ".cmake")
EXCEPTIONS = "tests/tidy/limits_exceptions.txt"


def is_exempt_from_complexity(path):
    return path.parts[0] in ("tests", "scripts", "deploy") or "migrations" in path.parts or path.stem.endswith("_test")


def over_limits(path, text):
    """Yields (path, function, measure, value, limit) of everything over a limit in one file."""
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield str(path), "-", "lines", lines, FILE_LINES
    if path.suffix not in (".cc", ".h") or is_exempt_from_complexity(path):
        return
    for function in cpp_metrics.functions_of(text):
        for measure, limit in FUNCTION_LIMITS.items():
            if getattr(function, measure) > limit:
                name = function.name.replace(" ", "_")
                yield str(path), name, measure, getattr(function, measure), limit


def judge(found, exceptions):
    """Faults of what was found against the exceptions {(path, function, measure): value}."""
    faults, left = [], dict(exceptions)
    for path, function, measure, value, limit in found:
        allowed = left.pop((path, function, measure), None)
        if allowed is None:
            faults.append(f"{path}: {function}: {measure} {value}, limit {limit}")
        elif value > allowed:
            faults.append(f"{path}: {function}: {measure} grew from {allowed} to {value}")
        elif value < allowed:
            faults.append(f"{path}: {function}: {measure} is {value} now: lower the exception from {allowed}")
    faults += [f"{' '.join(key)}: the exception is no longer needed: remove it" for key in left]
    return faults


class Limits(unittest.TestCase):
    def test_tree_is_within_limits_or_excepted(self):
        exceptions = {(path, function, measure): int(value)
                      for path, function, measure, value, _ in repository.allow_list(EXCEPTIONS)}
        found = [fault for path, text in repository.tracked_text() if path.suffix in CODE_SUFFIXES
                 for fault in over_limits(path, text)]
        self.assertEqual(judge(found, exceptions), [])

    def test_an_exception_may_neither_grow_nor_outlive_its_need(self):
        found = [("src/a.cc", "f", "lines", 80, 70)]
        key = ("src/a.cc", "f", "lines")
        self.assertEqual(judge(found, {key: 80}), [])
        self.assertIn("grew", judge(found, {key: 79})[0])
        self.assertIn("lower", judge(found, {key: 81})[0])
        self.assertIn("limit 70", judge(found, {})[0])
        self.assertIn("no longer needed", judge([], {key: 80})[0])

    def test_a_long_file_is_found_tests_included(self):
        text = "// line\n" * (FILE_LINES + 1)
        self.assertEqual(len(list(over_limits(pathlib.PurePath("src/base/a_test.cc"), text))), 1)

    def test_a_long_function_is_found_in_the_product_and_not_in_tests(self):
        text = "void f() {\n" + "  g();\n" * 70 + "}\n"
        found = list(over_limits(pathlib.PurePath("src/base/a.cc"), text))
        self.assertEqual([measure for _, _, measure, _, _ in found], ["statements", "lines"])
        self.assertEqual(list(over_limits(pathlib.PurePath("src/base/a_test.cc"), text)), [])


class Metrics(unittest.TestCase):
    def measure(self, text):
        return cpp_metrics.functions_of(textwrap.dedent(text))

    def test_decisions_are_counted_and_references_are_not(self):
        function, = self.measure("""
            template <class T>
            Result<int> Thing::decide(T&& value, int n) && {
              for (int i = 0; i < n; ++i) {
                if (i > 2 && value || !n) return 1;
                auto&& bound = value;
                do { n = n ? 1 : 2; } while (n > 3);
              }
              switch (n) { case 1: return 2; case 2: return 3; default: return 4; }
            }
            """)
        self.assertEqual(function.name, "Thing::decide")
        self.assertEqual((function.cyclomatic, function.branches), (8, 3))

    def test_text_in_strings_and_comments_is_not_code(self):
        function, = self.measure("""
            void f() {
              // if (a && b) while
              g("if { while (x) }", R"x(for ( { " )x", '{', 1'000);  /* if */
            }
            """)
        self.assertEqual((function.cyclomatic, function.statements), (1, 1))

    def test_constructors_initializers_and_tables_are_told_apart(self):
        functions = self.measure("""
            const Row rows[] = {{1, "a"}, {2, "b"}};
            class Thing final : public Base<int> {
             public:
              Thing() : a_{1}, b_(2), c_{f(3)} {
                if (a_) go();
              }
              bool operator()(int x) const { return x && a_; }
             private:
              int a_{0};
              std::vector<int> b_ = {1, 2};
            };
            """)
        self.assertEqual([(f.name, f.cyclomatic) for f in functions], [("Thing", 2), ("operator()", 2)])

    def test_a_lambda_is_a_function_of_its_own(self):
        outer, inner = self.measure("""
            void f() {
              int numbers[] {1, 2};
              each([&](int x) -> bool { if (x) return true; return false; });
            }
            """)
        self.assertEqual((outer.cyclomatic, inner.name, inner.cyclomatic), (1, "f lambda", 2))


if __name__ == "__main__":
    unittest.main()
