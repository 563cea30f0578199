"""Sizes of C++ functions, counted from tokens: no compiler, so a whole tree takes a second or two.

Relies on the house format (clang-format): a binary `&&` has a space on both sides, an rvalue reference has none before.
A lambda is counted as a function of its own; its lines belong to the enclosing function too.
"""
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
      | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)")
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
      | (?P<number>\.?\d(?:'?[\w.]|[eEpP][+-])*)
      | (?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>::|->|&&|\|\||<<=|>>=|<=>|[-+*/%&|^=!<>]=|\+\+|--|.)""",
    re.X | re.S | re.M)

SCOPES = {"class", "struct", "union", "enum", "namespace"}
BRANCHES = {"if", "for", "while", "switch", "catch"}
DECISIONS = {"if", "for", "while", "case", "catch", "&&", "||", "?", "and", "or"}
CONTROL_STATEMENTS = {"if", "for", "while", "switch"}  # the others end with a semicolon
WORD = re.compile(r"[A-Za-z_]\w*$")


@dataclass
class Token:
    text: str
    line: int
    spaced: bool  # whitespace stands before it


@dataclass
class Function:
    name: str
    line: int
    cyclomatic: int = 1
    branches: int = 0
    statements: int = 0
    lines: int = 0


@dataclass
class Brace:
    kind: str  # scope, function, lambda, block or list
    function: Function  # of a function or lambda, else None
    follows: str  # the word before the brace


def tokens_of(text):
    """Tokens without comments and preprocessor lines; a string or character literal becomes the token `""`."""
    tokens, line, spaced = [], 1, True
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment", "directive"):
            spaced = True
        else:
            is_literal = kind in ("raw", "delimiter", "string", "character")
            tokens.append(Token('""' if is_literal else match[0], line, spaced))
            spaced = False
        line += match[0].count("\n")
    return tokens


class Reader:
    """Walks the tokens once, with a stack of open braces."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.found = []
        self.braces = []
        self.for_heads = []  # one entry an open parenthesis: whether `for` opened it
        self.header = 0  # where the declaration before the next brace starts
        self.is_after_do = False

    def read(self):
        for position, token in enumerate(self.tokens):
            self.count(position, token)
            self.is_after_do = False
            if token.text == "(":
                self.for_heads.append(self.text_at(position - 1) == "for")
            elif token.text == ")" and self.for_heads:
                self.for_heads.pop()
            elif token.text == "{":
                self.open_brace(position)
            elif token.text == "}" and self.braces:
                self.close_brace(position)
            elif token.text == ";" or self.ends_access_label(position):
                self.header = position + 1
        return self.found

    def text_at(self, position):
        return self.tokens[position].text if 0 <= position < len(self.tokens) else ""

    def ends_access_label(self, position):
        return self.text_at(position) == ":" and self.text_at(position - 1) in ("public", "private", "protected")

    def current(self):
        return next((brace.function for brace in reversed(self.braces) if brace.function), None)

    def count(self, position, token):
        function = self.current()
        if function is None or (token.text == "while" and self.is_after_do):
            return
        if token.text in BRANCHES:
            function.branches += 1
        if token.text in DECISIONS and (token.text != "&&" or self.is_binary_and(position)):
            function.cyclomatic += 1
        in_for_head = bool(self.for_heads) and self.for_heads[-1]
        if token.text in CONTROL_STATEMENTS or (token.text == ";" and not in_for_head):
            function.statements += 1

    def is_binary_and(self, position):
        return self.tokens[position].spaced and self.text_at(position + 1) not in ("{", ";", ",", ")", "->")

    def open_brace(self, position):
        kind = self.kind_of(position)
        function = None
        if kind == "function":
            function = Function(self.name_before(position), self.tokens[self.header].line)
        elif kind == "lambda":
            function = Function(f"{self.current().name} lambda", self.tokens[position].line)
        if function:
            self.found.append(function)
        self.braces.append(Brace(kind, function, self.text_at(position - 1)))
        if kind != "list":
            self.header = position + 1

    def close_brace(self, position):
        brace = self.braces.pop()
        self.is_after_do = brace.follows == "do"
        if brace.function:
            brace.function.lines = self.tokens[position].line - brace.function.line + 1
        if brace.kind != "list":
            self.header = position + 1

    def kind_of(self, position):
        if self.current():
            return "lambda" if self.opens_lambda(position) else "block"
        if any(brace.kind == "list" for brace in self.braces):
            return "list"
        header = without_prefixes([token.text for token in self.tokens[self.header:position]])
        before_parameters = header[:header.index("(")] if "(" in header else header
        if header == ["extern", '""'] or SCOPES.intersection(before_parameters):
            return "scope"
        if "(" not in header or assigns(header) or initializes_member(header):
            return "list"
        return "function"

    def opens_lambda(self, position):
        """`[...] {` and `[...](...) {`, with mutable, noexcept or `-> type` between."""
        back = position - 1
        while WORD.match(self.text_at(back)) or self.text_at(back) in ("::", "->", "<", ">", ",", "*", "&"):
            back -= 1
        if self.text_at(back) == ")":
            back = self.opening(back) - 1
        if self.text_at(back) != "]":
            return False
        # A name, an index or a call before the bracket makes it an array's.
        before = self.text_at(self.opening(back) - 1)
        return before in ("return", "co_return") or not (WORD.match(before) or before in ("]", ")"))

    def opening(self, position):
        """Where the bracket that closes at `position` was opened."""
        pairs = {")": "(", "]": "["}
        closing, depth = self.text_at(position), 0
        for back in range(position, -1, -1):
            depth += (self.text_at(back) == closing) - (self.text_at(back) == pairs[closing])
            if depth == 0:
                return back
        return 0

    def name_before(self, position):
        texts = without_prefixes([token.text for token in self.tokens[self.header:position]])
        if "operator" in texts:
            start = texts.index("operator")
            return "".join(texts[start:texts.index("(", start + 2)])
        opening = texts.index("(")
        start = opening - 1
        while start > 0 and (texts[start - 1] in ("::", "~") or texts[start] in ("::", "~")):
            start -= 1
        name = "".join(texts[start:opening])
        if re.match(r"(TYPED_)?TEST(_F|_P)?$", name):
            name += "(" + "".join(texts[opening + 1:texts.index(")", opening)]) + ")"
        return name


def without_prefixes(words):
    """Drops `template <...>` and `[[...]]`: their brackets may hold words like `class`."""
    while words[:1] == ["template"]:
        depth, place = 0, 1
        while place < len(words):
            depth += {"<": 1, ">": -1}.get(words[place], 0)
            place += 1
            if depth == 0:
                break
        words = words[place:]
    while words[:2] == ["[", "["]:
        words = words[words.index("]") + 2:]
    return words


def assigns(header):
    depth = 0
    for before, word in zip([""] + header, header):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "=" and depth == 0 and before != "operator":
            return True
    return False


def initializes_member(header):
    """`X() : a_{1}, b_{2} {`: a brace that follows a name in a constructor's list opens no body."""
    has_list = any(pair == (")", ":") for pair in zip(header, header[1:]))
    return has_list and WORD.match(header[-1]) is not None


def functions_of(text):
    """Every function and lambda of a C++ file, with its sizes."""
    return Reader(tokens_of(text)).read()
