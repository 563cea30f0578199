"""The completion scripts, in the shells they are for."""

import os
import shutil
import subprocess
import unittest

from harness import BIN

# What stands on the line before the cursor, and what must and must not be offered there.
CASES = (
    ("outhaul ", {"run", "task", "node", "help"}, {"list"}),
    ("outhaul ta", {"task"}, {"node"}),
    ("outhaul task ", {"list", "wait", "cancel"}, {"run", "create"}),
    ("outhaul node token cr", {"create"}, {"drain"}),
    ("outhaul run --que", {"--queue-timeout"}, {"--env"}),
)

BASH = """source <("$1" completion bash)
COMP_WORDS=($2); case "$2" in *' ') COMP_WORDS+=('');; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_outhaul
printf '%s\\n' "${COMPREPLY[@]}"
"""

# A shell at a terminal of its own: zsh completes nowhere else.
ZSH = """zmodload zsh/zpty
zpty shell zsh -fi
zpty -w shell "PS1= PROMPT= RPS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u"
zpty -w shell "source <('$1' completion zsh); zstyle ':completion:*' list-prompt ''; LISTMAX=10000"
zpty -w shell "print -- READ''Y"
zpty -r -m shell line '*READY*'
zpty -w -n shell "$2"$'\\t\\t'
zpty -w -n shell $'\\C-a\\C-k'
zpty -w shell "print -- DON''E"
zpty -r -m shell line '*DONE*'
print -r -- "$line"
zpty -d shell
"""


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Completion(unittest.TestCase):
    def shell(self, *argv):
        environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", TERM="dumb", HOME="/nonexistent")
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, offered_at):
        for line, wanted, unwanted in CASES:
            with self.subTest(line=line):
                offered = offered_at(line)
                self.assertLessEqual(wanted, offered)
                self.assertFalse(unwanted & offered, offered)

    def test_bash(self):  # proves N4
        self.check(lambda line: set(self.shell("bash", "-c", BASH, "-", str(BIN / "outhaul"), line).split()))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = 'outhaul completion fish | source; complete -C "$argv[1]"'
        self.check(lambda line: {word.split("\t")[0] for word in self.shell("fish", "--no-config", "-c", script, line).splitlines()})

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        self.check(lambda line: set(self.shell("zsh", "-fc", ZSH, "-", str(BIN / "outhaul"), line).split()))


if __name__ == "__main__":
    unittest.main()
