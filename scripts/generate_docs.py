"""Writes what docs/ takes from the code: docs/errors.md and the last column of docs/capabilities.md.

scripts/golden runs it; tests/tidy/generated_docs_test.py compares its answers with the committed files.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ERROR_LIST = "src/base/error_code_list.h"
ERRORS = "docs/errors.md"
CAPABILITIES = "docs/capabilities.md"

ERROR_ENTRY = re.compile(r'^OUTHAUL_ERROR\((\w+), (\w+), (\d+), ("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*")\)$')
ERROR_SUBJECT = re.compile(r"^// ([A-Z][^.]*)$")
CAPABILITY_ROW = re.compile(r"^\| ([A-QX]\d+) \| (.+?) \| (works|partly|not yet) \|(.*)\|$")
# "proves C3", "proves C3 C4", "proves C3, C4 and X18": in a comment of a test.
PROVES = re.compile(r"(?://|#)\s*proves\s+([A-QX]\d+(?:(?:,\s*|\s+(?:and\s+)?)[A-QX]\d+\b)*)")
PROOF_FOLDERS = ("src", "tests")

ERRORS_HEAD = """# Errors

Every failure has one of these codes, in `code` of an API answer (`application/problem+json`), in the log and on the
command line. The class is the decision it leaves the caller:

| class | what the caller can do |
|---|---|
| `retry` | the same request may succeed later |
| `reread` | somebody else changed it: read again, decide again |
| `stop` | nothing the caller sends will help; an operator must look |
| `fix_input` | the request itself is wrong |

Generated from `src/base/error_code_list.h` by `scripts/golden`. A code is added, never renamed.
"""


def errors_text(source):
    """docs/errors.md for the text of the error list; ValueError names a line of another form."""
    lines = [ERRORS_HEAD.rstrip("\n")]
    for number, line in enumerate(source.splitlines(), 1):
        entry, subject = ERROR_ENTRY.match(line), ERROR_SUBJECT.match(line)
        if entry:
            name, error_class, status, meaning, remedy = entry.groups()
            meaning, remedy = ast.literal_eval(meaning), ast.literal_eval(remedy)
            lines.append(f"| `{name}` | {error_class} | {status} | {meaning} | {remedy} |")
        elif subject:
            lines += [f"\n## {subject[1]}\n", "| code | class | HTTP | meaning | what to do |", "|---|---|---|---|---|"]
        elif line.strip() and not line.startswith("//"):
            raise ValueError(f"{ERROR_LIST}:{number}: not OUTHAUL_ERROR(code, class, status, \"meaning\", \"remedy\")")
    return "\n".join(lines) + "\n"


def proofs(root=ROOT):
    """Maps each id to the sorted test files that say `proves <id>`."""
    found = {}
    for folder in PROOF_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not is_test_file(path.relative_to(root)):
                continue
            for marks in PROVES.findall(path.read_text()):
                for capability in re.findall(r"[A-QX]\d+", marks):
                    found.setdefault(capability, set()).add(str(path.relative_to(root)))
    return {capability: sorted(paths) for capability, paths in found.items()}


def is_test_file(path):
    if path.suffix not in (".cc", ".h", ".py"):
        return False
    return path.parts[0] == "tests" or path.name.endswith("_test.cc")


def capabilities_text(source, proven):
    """docs/capabilities.md with its last column made from `proven`."""
    lines = []
    for line in source.splitlines():
        row = CAPABILITY_ROW.match(line)
        if row:
            paths = ", ".join(f"`{path}`" for path in proven.get(row[1], []))
            line = f"| {row[1]} | {row[2]} | {row[3]} |{f' {paths} ' if paths else ' '}|"
        lines.append(line)
    return "\n".join(lines) + "\n"


def generated(root=ROOT):
    """Maps each generated document to the text it should have."""
    return {
        ERRORS: errors_text((root / ERROR_LIST).read_text()),
        CAPABILITIES: capabilities_text((root / CAPABILITIES).read_text(), proofs(root)),
    }


def main():
    for name, text in generated().items():
        path = ROOT / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"written: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
