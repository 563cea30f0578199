"""Runs clang-tidy over the files that changed since they last passed; see scripts/tidy."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
CLANG_TIDY = "clang-tidy-19"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
SEARCHED = ("src", "proto", ".")  # where quoted includes are found
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "outhaul" / "tidy"


def own_sources():
    """Maps each of the tree's own .cc files to its compile command."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    sources = {pathlib.Path(entry["file"]): entry["command"] for entry in commands}
    return {path: command for path, command in sources.items()
            if path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "tests")}


def closure(path):
    """The file and everything of the tree that it includes; generated headers count by their .proto."""
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen or not current.is_file():
            continue
        seen.add(current)
        for name in INCLUDE.findall(current.read_text(errors="replace")):
            name = re.sub(r"\.pb\.h$", ".proto", name)
            waiting += [ROOT / folder / name for folder in SEARCHED]
    return sorted(seen)


def key_of(path, command, rules):
    """Changes with the file, what it includes, the flags and the rules; the same in every checkout."""
    digest = hashlib.sha256(rules + command.replace(str(ROOT), "").encode())
    for part in closure(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()


def check(path):
    """Gives clang-tidy's findings; empty when there are none."""
    run = subprocess.run([CLANG_TIDY, "-p", BUILD, "--quiet", path], capture_output=True, text=True, cwd=ROOT)
    return run.stdout.strip() or ("" if run.returncode == 0 else run.stderr.strip())


def newest_first(paths):
    """By the last commit that touched each: with a limit of time, what changed last is read."""
    names = subprocess.run(["git", "log", "--format=", "--name-only"], capture_output=True, text=True, cwd=ROOT).stdout.split("\n")
    place = {}
    for number, name in enumerate(names):
        place.setdefault(name, number)
    return sorted(paths, key=lambda path: (place.get(str(path.relative_to(ROOT)), len(names)), path))


def main():
    words = sys.argv[1:]
    limit = float(words.pop(0).removeprefix("--seconds=")) if words and words[0].startswith("--seconds=") else None
    deadline = None if limit is None else time.monotonic() + limit
    chosen = {(ROOT / name).resolve() for name in words}
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    rules = version + (ROOT / ".clang-tidy").read_bytes()
    CACHE.mkdir(parents=True, exist_ok=True)
    waiting = {}
    for path, command in own_sources().items():
        key = CACHE / key_of(path, command, rules)
        if (path in chosen or not chosen) and not key.exists():
            waiting[path] = key
    waiting = {path: waiting[path] for path in newest_first(waiting)}
    failed = left = 0

    def check_in_time(path):
        return None if deadline is not None and time.monotonic() > deadline else check(path)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, findings in zip(waiting, pool.map(check_in_time, waiting)):
            if findings is None:
                left += 1
            elif findings:
                failed += 1
                print(findings, flush=True)
            else:
                waiting[path].touch()
    print(f"tidy: {len(waiting) - left} files read, {failed} with findings, {left} not reached in time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
