"""Documents: fixed folders, dated records, and links that lead somewhere."""
# proves Q7
import re
import unittest

import repository

# Folder below docs/ -> the names of its documents.
FOLDERS = {
    "": re.compile(r"[a-z-]+\.(md|json)"),
    "decisions": re.compile(r"\d{4}-[a-z0-9-]+\.md"),
    "guides": re.compile(r"[a-z0-9-]+\.md"),
    "records": re.compile(r"\d{4}-\d{2}-\d{2}-[a-z0-9-]+\.md"),
    "runbooks": re.compile(r"[a-z0-9-]+\.md"),
}
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MENTION = re.compile(r"\b(?:docs/[\w./-]+\.(?:md|json)|scripts/[a-z_]+(?:\.[a-z]+)?)\b")


def documents():
    return [path for path in repository.tracked_files() if path.parts[0] == "docs"]


class Documents(unittest.TestCase):
    def test_each_document_is_in_a_known_folder_under_a_fitting_name(self):
        for path in documents():
            with self.subTest(path=str(path)):
                self.assertLessEqual(len(path.parts), 3)
                folder = path.parts[1] if len(path.parts) == 3 else ""
                self.assertIn(folder, FOLDERS)
                self.assertRegex(path.name, FOLDERS[folder])

    def test_decisions_have_numbers_of_their_own(self):
        numbers = [path.name[:4] for path in documents() if path.parts[1] == "decisions"]
        self.assertEqual(sorted(numbers), sorted(set(numbers)))

    def test_relative_links_lead_to_files(self):
        for path, text in repository.tracked_text():
            if path.suffix == ".md":
                for target in LINK.findall(text):
                    if "://" not in target:
                        there = repository.ROOT / path.parent / target
                        self.assertTrue(there.exists(), f"{path}: {target}")

    def test_documents_named_in_code_and_documents_exist(self):
        for path, text in repository.tracked_text():
            if path.parts[0] in ("src", "docs", "proto") or path.suffix == ".md":
                for name in MENTION.findall(text):
                    self.assertTrue((repository.ROOT / name).exists(), f"{path}: {name}")

    def test_configuration_keys_are_documented_and_no_others(self):
        text = (repository.ROOT / "docs/configuration.md").read_text()
        for file, section in (("src/hub/hub_config.cc", "hub.yaml"), ("src/node/node_config.cc", "node.yaml")):
            code = (repository.ROOT / file).read_text()
            read = set(re.findall(r'read_\w+\((?:reader, )?"(\w+)"', code))
            rows = text.split(f"## {section}")[1].split("\n## ")[0]
            documented = {key for row in re.findall(r"^\| (`[^|]*) \|", rows, re.M) for key in re.findall(r"`(\w+)`", row)}
            self.assertEqual(read, documented, file)


if __name__ == "__main__":
    unittest.main()
