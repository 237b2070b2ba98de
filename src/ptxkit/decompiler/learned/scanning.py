"""What a source text calls things, and where: enough of C++ to learn names from kernels.

>>> source = '''__global__ void k(const float *in, int n) {
...     int t = threadIdx.x, i = t + 1;
...     for (int s = n; s > 0; s >>= 1) i += s;
... }'''
>>> parameters(source)
{'k': ('in', 'n')}
>>> [(place, target) for place, target, _ in assignments(source)]
[((2, 5), 't'), ((3, 10), 's'), ((3, 28), 's'), ((3, 37), 'i')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<other>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\.?\d[\w.]*|<<=|>>=|<<|>>|->|::|\+\+|--
        |[-+*/%&|^<>=!]=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_OPENING = {"(": ")", "[": "]", "{": "}"}
_HEADS = frozenset(("if", "while", "switch", "for"))
_KINDS = {
    "real": frozenset(("float", "double", "half", "__half", "real")),
    "whole": frozenset((
        *("int", "unsigned", "signed", "short", "long", "char", "size_t", "bool", "uint"),
        *(f"{u}int{bits}_t" for u in ("", "u") for bits in (8, 16, 32, 64)),
    )),
}  # fmt: skip
_PLAIN = frozenset(("const", *_KINDS["real"], *_KINDS["whole"]))
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_NO_TYPES = frozenset(("return", "else", "do", "case", "goto", "break", "continue", "delete"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign of a source text."""

    text: str
    at: int
    is_word: bool


def tokens(source: str) -> list[Token]:
    """The words and signs of a source text, without comments and directives."""
    return [
        Token(match[0], match.start(), match.lastgroup == "word")
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "skip"
    ]


def parameters(source: str) -> dict[str, tuple[str, ...]]:
    """The parameters of every function of a file that has a body, by its bare name."""
    found: dict[str, tuple[str, ...]] = {}
    words = tokens(source)
    for place, token in enumerate(words[:-1]):
        if not token.is_word or token.text in _HEADS or words[place + 1].text != "(":
            continue
        end = closing(words, place + 1)
        if end is None or end + 1 >= len(words) or words[end + 1].text not in ("{", "const"):
            continue
        inside = words[place + 2 : end]
        names = [_declared(piece) for piece in _pieces(inside, angles=True)]
        if all(names) or not inside:
            found.setdefault(token.text, tuple(name for name in names if name))
    return found


def assignments(source: str) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Every statement that gives a variable a value: where it begins, the variable, its kind.

    Lines and columns count from 1; of a statement that gives several, the first. The kind is
    "real", "whole" or nothing where the text does not say.
    """
    words = tokens(source)
    kinds: dict[str, str] = {}
    lines = [0, *(match.end() for match in re.finditer("\n", source))]
    for segment in _segments(words):
        found = list(_targets(segment, kinds))
        if found:
            line = _line(lines, segment[0].at)
            place = (line + 1, segment[0].at - lines[line] + 1)
            yield place, found[0], kinds.get(found[0], "")


def one_declaration_each(source: str) -> str:
    """The text with ``int a = 1, b = 2;`` as two statements, where the type is a plain one.

    >>> one_declaration_each("void f() { unsigned int a = g(1, 2), b = 2; }")
    'void f() { unsigned int a = g(1, 2); unsigned int b = 2; }'
    """
    changes: list[tuple[int, str]] = []
    words = tokens(source)
    for segment in _segments(words, loops=False):
        pieces = _pieces(segment)
        head = _type_words(pieces[0]) if pieces else []
        plain = head and all(t.text in _PLAIN for t in head)
        if len(pieces) < 2 or not plain:
            continue
        type = " ".join(t.text for t in head)
        if not all(piece and piece[0].is_word for piece in pieces[1:]):
            continue
        for piece in pieces[1:]:
            comma = max(t.at for t in words if t.text == "," and t.at < piece[0].at)
            changes.append((comma, f"; {type}"))
    for at, text in reversed(changes):
        source = source[:at] + text + source[at + 1 :]
    return source


# ---- pieces of a text ----------------------------------------------------------------------


def _line(lines: Sequence[int], at: int) -> int:
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if lines[middle] <= at else (low, middle)
    return low


def closing(words: Sequence[Token], opening: int) -> int | None:
    """Where what opens at a place is closed; None where it is not."""
    depth = 0
    for place in range(opening, len(words)):
        depth += words[place].text in _OPENING
        depth -= words[place].text in _OPENING.values()
        if depth == 0:
            return place
    return None


def _segments(words: list[Token], loops: bool = True) -> Iterator[list[Token]]:
    """Runs of tokens that are a statement, or a part of the head of a loop."""
    start = place = 0
    heads: list[int] = []
    depth = 0
    while place < len(words):
        text = words[place].text
        if text in _HEADS and place == start and place + 1 < len(words):
            end = closing(words, place + 1)
            if end is None:
                return
            if text == "for":
                heads.append(end)
                start = place = place + 2
            else:
                start = place = end + 1
            continue
        inside = bool(heads) and place <= heads[-1]
        if text in ("(", "["):
            depth += 1
        elif text in (")", "]") and not (inside and place == heads[-1]):
            depth -= 1
        ends = text in ("{", "}", ";") and depth == 0
        if inside and place == heads[-1]:
            ends = True
        if ends or (place == start and text in ("else", "do")):
            if place > start and (loops or not inside):
                yield words[start:place]
            if inside and place == heads[-1]:
                heads.pop()
            start = place + 1
        place += 1


def _pieces(words: Sequence[Token], angles: bool = False) -> list[list[Token]]:
    """What stands between commas."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in words:
        depth += token.text in _OPENING or (angles and token.text == "<")
        depth -= token.text in _OPENING.values() or (angles and token.text == ">")
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [piece for piece in found if piece]


def _declared(piece: Sequence[Token]) -> str:
    """The name that a parameter declares."""
    before = []
    for token in piece:
        if token.text in ("=", "["):
            break
        before.append(token)
    return before[-1].text if len(before) > 1 and before[-1].is_word else ""


def _type_words(piece: Sequence[Token]) -> list[Token]:
    """The tokens of the type where a piece declares a variable; none where it does not."""
    before: list[Token] = []
    for token in piece:
        if token.text in ("=", "[", "("):
            break
        before.append(token)
    if len(before) < 2 or not before[-1].is_word or before[0].text in _NO_TYPES:
        return []
    if not all(t.is_word or t.text in ("*", "&", "<", ">", "::") for t in before[:-1]):
        return []
    return before[:-1] if before[0].is_word else []


def _targets(segment: Sequence[Token], kinds: dict[str, str]) -> Iterator[str]:
    """The variables that a segment gives a value."""
    pieces = _pieces(segment)
    head = _type_words(pieces[0]) if pieces else []
    for number, piece in enumerate(pieces):
        own = piece[len(head) :] if number == 0 else list(piece)
        while own and own[0].text in ("*", "&", "++", "--"):
            own = own[1:]
        if not own or not own[0].is_word:
            continue
        name = own[0].text
        if head:
            said = {token.text for token in head}
            pointer = any(t.text == "*" for t in (*head, *piece[: len(piece) - len(own)]))
            match = [kind for kind, names in _KINDS.items() if said & names]
            kinds[name] = match[0] if match and not pointer else ""
        following = own[1].text if len(own) > 1 else ""
        stepped = "++" in (following, piece[0].text) or "--" in (following, piece[0].text)
        if following in _ASSIGNS or stepped:
            yield name
