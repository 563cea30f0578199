"""Markers in comments: COMPAT(remove-after=...) and `proves <id>`."""
# proves Q3
import datetime
import re
import sys
import unittest

import repository

sys.path.insert(0, str(repository.ROOT / "scripts"))
import generate_docs  # noqa: E402

COMPAT = re.compile(r"(?<!\w)COMPAT(?!\w)[^\n]*")
WELL_FORMED = re.compile(r"COMPAT\(remove-after=(\d{4}-\d{2}-\d{2})\): \S.{9,}")
CAPABILITIES = "docs/capabilities.md"


def compat_faults(text, today):
    """Faults of the COMPAT markers in `text`: malformed, or past their date."""
    faults = []
    for marker in COMPAT.findall(text):
        match = WELL_FORMED.match(marker)
        try:
            date = datetime.date.fromisoformat(match[1]) if match else None
        except ValueError:
            date = None
        if date is None:
            faults.append(f"malformed: {marker[:60]}")
        elif date < today:
            faults.append(f"due since {date}: {marker[:60]}")
    return faults


def capability_rows():
    text = (repository.ROOT / CAPABILITIES).read_text()
    rows = [generate_docs.CAPABILITY_ROW.match(line) for line in text.splitlines() if re.match(r"\| [A-QX]\d", line)]
    return text, rows


class Compat(unittest.TestCase):
    def test_tree_has_only_well_formed_markers_that_are_not_due(self):
        for path, text in repository.tracked_text():
            if path.suffix in (".cc", ".h", ".proto", ".sql", ".ts", ".cmake", ".yaml"):
                self.assertEqual(compat_faults(text, datetime.date.today()), [], path)

    def test_a_marker_is_judged_by_form_and_date(self):
        today = datetime.date(2030, 6, 1)
        rows = [
            ("// COMPAT(remove-after=2030-06-01): nodes before 0.2 send no epoch", None),
            ("// COMPAT(remove-after=2030-05-31): nodes before 0.2 send no epoch", "due since 2030-05-31"),
            ("// COMPAT(remove-after=2030-06-01):", "malformed"),
            ("// COMPAT(remove-after=2030-06-01): later", "malformed"),
            ("// COMPAT(remove-after=2030-13-01): nodes before 0.2 send no epoch", "malformed"),
            ("// COMPAT: nodes before 0.2 send no epoch", "malformed"),
            ("// COMPATIBLE with everything", None),
            ("OPENSSL_API_COMPAT=30000", None),
        ]
        for text, fault in rows:
            with self.subTest(text=text):
                found = compat_faults(text, today)
                self.assertEqual(len(found), 0 if fault is None else 1)
                if fault:
                    self.assertIn(fault, found[0])


class Proves(unittest.TestCase):
    def test_every_row_is_well_formed_and_unique(self):
        _, rows = capability_rows()
        self.assertGreater(len(rows), 150)
        self.assertNotIn(None, rows)
        names = [row[1] for row in rows]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_every_proven_id_has_a_row(self):
        _, rows = capability_rows()
        known = {row[1] for row in rows}
        for capability, paths in generate_docs.proofs().items():
            self.assertIn(capability, known, paths)

    def test_every_row_that_says_works_has_a_test_that_proves_it(self):
        _, rows = capability_rows()
        proven = generate_docs.proofs()
        unproven = [row[1] for row in rows if row[3] == "works" and row[1] not in proven]
        self.assertEqual(unproven, [])

    def test_a_mark_may_name_several_ids(self):
        marks = generate_docs.PROVES.findall("// proves C3\n# proves C4, X5 and X18: all\n// proves A1 A2\n// improves C9\n")
        self.assertEqual(marks, ["C3", "C4, X5 and X18", "A1 A2"])


if __name__ == "__main__":
    unittest.main()
