"""Documents that are made from the code are up to date; scripts/golden writes them."""
import sys
import unittest

import repository

sys.path.insert(0, str(repository.ROOT / "scripts"))
import generate_docs  # noqa: E402


class GeneratedDocs(unittest.TestCase):
    def test_committed_documents_are_what_the_code_says(self):
        for name, text in generate_docs.generated().items():
            with self.subTest(document=name):
                self.assertTrue((repository.ROOT / name).read_text() == text, f"{name} is stale: run scripts/golden")

    def test_an_entry_of_another_form_is_refused_with_its_line(self):
        with self.assertRaisesRegex(ValueError, ":2: not OUTHAUL_ERROR"):
            generate_docs.errors_text('// General\nOUTHAUL_ERROR(invalid, fix_input, "The request.", "Correct it.")\n')

    def test_the_last_column_is_rewritten_and_the_rest_kept(self):
        row = "| C3 | a task runs at most once | works | `old_test.cc` |\n"
        self.assertEqual(generate_docs.capabilities_text("# Title\n" + row, {"C3": ["a_test.cc", "b_test.cc"]}),
                         "# Title\n| C3 | a task runs at most once | works | `a_test.cc`, `b_test.cc` |\n")
        self.assertEqual(generate_docs.capabilities_text(row, {}), "| C3 | a task runs at most once | works | |\n")


if __name__ == "__main__":
    unittest.main()
