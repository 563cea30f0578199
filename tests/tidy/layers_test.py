"""Includes against src/LAYERS: who may include whom, and which outside libraries."""
import pathlib
import re
import tempfile
import textwrap
import unittest

import repository

LINE = re.compile(r"^([a-z]+):([^|]*)\|(.*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
# The outside libraries of src/LAYERS by the headers they bring. fmt stands in for <format>, which libstdc++ 12
# has not, and is everybody's.
LIBRARIES = {
    "boost/beast": "beast", "boost/json": "json", "boost/asio": "asio", "openssl/": "openssl", "google/": "protobuf",
    "sodium": "sodium", "sqlite3": "sqlite", "yaml-cpp/": "yaml", "re2/": "re2", "CLI/": "cli11", "gtest/": "gtest",
    "gmock/": "gtest",
}
REFUSED_NAMES = {"util", "utils", "common", "misc", "helper", "helpers"}


def read_layers(text):
    """Maps each folder to (folders it may include, libraries it may use)."""
    layers = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            folder, folders, libraries = LINE.match(line).groups()
            layers[folder] = (set(folders.split()), set(libraries.split()))
    return layers


def library_of(header):
    return next((name for prefix, name in LIBRARIES.items() if header.startswith(prefix)), None)


def fault_of(path, quote, header, layers, root):
    """Why this include is refused, or None."""
    folder = path.parts[1]
    folders, libraries = layers[folder]
    if path.stem.endswith("_test"):
        # A test links everything below its folder anyway, and may look at all of it.
        folders, libraries = folders | reachable(folder, layers) | {"testing"}, libraries | {"gtest", "asio"}
    if quote == "<":
        library = library_of(header)
        return f"{folder} may not use {library}" if library and library not in libraries else None
    if header.startswith("outhaul/v1/"):
        return None if "proto" in folders else f"{folder} may not include proto"
    if not (root / "src" / header).is_file():
        return f'"{header}" is no file below src/'
    other = header.split("/")[0]
    return None if other == folder or other in folders else f"{folder} may not include {other}"


def faults_of(root, paths):
    layers = read_layers((root / "src" / "LAYERS").read_text())
    faults = []
    for path in paths:
        if path.parts[0] != "src" or path.suffix not in (".h", ".cc"):
            continue
        if path.parts[1] not in layers:
            faults.append(f"{path}: src/LAYERS has no line for {path.parts[1]}")
            continue
        for quote, header in INCLUDE.findall((root / path).read_text()):
            fault = fault_of(path, quote, header, layers, root)
            if fault:
                faults.append(f"{path}: {fault} (src/LAYERS)")
    return faults


def reachable(folder, layers):
    seen, waiting = set(), [folder]
    while waiting:
        for other in layers[waiting.pop()][0] - seen:
            seen.add(other)
            waiting.append(other)
    return seen


class Layers(unittest.TestCase):
    def setUp(self):
        self.layers = read_layers((repository.ROOT / "src" / "LAYERS").read_text())

    def test_tree_includes_only_what_layers_allow(self):
        self.assertEqual(faults_of(repository.ROOT, repository.tracked_files()), [])

    def test_faults_are_planted_in_sources_only(self):
        # The preset `faults` defines the macro for such sources alone: in a header it would have two meanings.
        for path in repository.tracked_files():
            if path.suffix == ".h" and path.name != "planted_fault.h":
                self.assertNotIn("planted_fault.h", (repository.ROOT / path).read_text(), path)

    def test_no_folder_reaches_itself(self):
        for folder in self.layers:
            self.assertNotIn(folder, reachable(folder, self.layers))

    def test_hub_and_node_never_meet(self):
        self.assertNotIn("node", reachable("hub", self.layers))
        self.assertNotIn("hub", reachable("node", self.layers))

    def test_the_launcher_stands_alone(self):
        self.assertEqual(self.layers["launcher"], (set(), set()))

    def test_no_program_links_what_tests_link(self):
        for folder, (folders, libraries) in self.layers.items():
            if folder != "testing":
                self.assertFalse(folders & {"testing"} or libraries & {"gtest"}, folder)


class SampleTree(unittest.TestCase):
    LAYERS = """\
        # a comment
        base: | asio
        wire: base | protobuf
        node: base wire |
        """

    def faults(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for sample in ("src/base/a.h", "src/wire/b.h", name):
                (root / sample).parent.mkdir(parents=True, exist_ok=True)
                (root / sample).write_text("")
            (root / "src" / "LAYERS").write_text(textwrap.dedent(self.LAYERS))
            (root / name).write_text(text)
            return faults_of(root, [pathlib.PurePath(name)])

    def test_what_is_allowed_passes(self):
        self.assertEqual(self.faults("src/wire/c.cc", '#include "base/a.h"\n#include <string>\n'), [])
        self.assertEqual(self.faults("src/wire/c.cc", '#include "wire/b.h"\n#include <google/x.h>\n'), [])
        self.assertEqual(self.faults("src/node/c_test.cc", '#include "base/a.h"\n#include <gtest/gtest.h>\n'), [])

    def test_each_kind_of_violation_is_named(self):
        rows = [
            ("src/base/c.cc", '#include "wire/b.h"', "base may not include wire"),
            ("src/node/c.cc", '#  include <google/x.h>', "node may not use protobuf"),
            ("src/wire/c.cc", "#include <boost/asio/post.hpp>", "wire may not use asio"),
            ("src/node/c.cc", '#include "outhaul/v1/task.pb.h"', "node may not include proto"),
            ("src/node/c.cc", '#include "nothing/here.h"', "is no file below src/"),
            ("src/node/deep/er/c.h", '#include "node/../base/b.h"', "is no file below src/"),
            ("src/base/c_test.cc", '#include "wire/b.h"', "base may not include wire"),
            ("src/new/c.cc", "", "no line for new"),
        ]
        for name, text, fault in rows:
            with self.subTest(fault=fault):
                found = self.faults(name, text + "\n")
                self.assertEqual(len(found), 1, found)
                self.assertIn(fault, found[0])


class Folders(unittest.TestCase):
    def test_no_folder_has_a_name_that_says_nothing(self):
        for path in repository.tracked_files():
            refused = REFUSED_NAMES.intersection(path.parts[:-1]) | REFUSED_NAMES.intersection({path.stem})
            self.assertFalse(refused, path)

    def test_each_source_folder_has_a_readme_of_at_most_fifteen_lines(self):
        folders = {path.parts[1] for path in repository.tracked_files() if path.parts[0] == "src" and len(path.parts) > 2}
        for folder in sorted(folders):
            with self.subTest(folder=folder):
                readme = repository.ROOT / "src" / folder / "README.md"
                self.assertTrue(readme.is_file(), "no README.md")
                self.assertLessEqual(len(readme.read_text().splitlines()), 15)


if __name__ == "__main__":
    unittest.main()
