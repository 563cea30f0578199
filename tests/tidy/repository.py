"""The tree under test: its root and the files that Git tracks or would track."""
import functools
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@functools.cache
def tracked_files(root=ROOT):
    """Paths relative to `root`, sorted; without Git (an exported tree) every file outside build/."""
    # safe.directory: CI may run as another user than the one that made the checkout.
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    return sorted(pathlib.PurePath(name) for name in names if (root / name).is_file())


def tracked_text(root=ROOT):
    """(path, text) of every tracked file that is UTF-8 text."""
    for path in tracked_files(root):
        try:
            yield path, (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def allow_list(path, root=ROOT):
    """Lines of an allow-list as lists of words; comments and blank lines left out."""
    lines = (line.split("#")[0].split() for line in (root / path).read_text().splitlines())
    return [words for words in lines if words]
