"""How near a text is to what the author of a kernel wrote, whatever things are called.

>>> one = "for (int i = 0; i < n; i++) sum += x[i];"
>>> two = "for (int k = 0; k < size; k++) total += data[k];"
>>> closeness(one, two), closeness(one, "while (i < n) sum += x[i++];") < 0.8
(1.0, True)
"""

from __future__ import annotations

from difflib import SequenceMatcher

from ptxkit.cuda.functions import BUILTINS
from ptxkit.decompiler.learned.naming import FORBIDDEN
from ptxkit.decompiler.learned.scanning import Token, closing, tokens


def folded(text: str) -> list[str]:
    """The tokens of a text with everything that an author names called the same."""
    return [_folded(token) for token in tokens(text)]


def _folded(token: Token) -> str:
    known = token.text in FORBIDDEN or token.text in BUILTINS or token.text.startswith("__")
    if token.is_word and not known:
        return "name"
    # 0, 0.0f and 0u are the same number to a reader.
    number = token.text[:1].isdigit() and not token.text.lower().startswith("0x")
    if not number:
        return {"unsigned": "int"}.get(token.text, token.text)
    return token.text.rstrip("fFuUlL").removesuffix(".0").rstrip(".")


def closeness(one: str, two: str) -> float:
    """The share of tokens that two texts have in common in the same order, 0 to 1."""
    return SequenceMatcher(None, folded(one), folded(two), autojunk=False).ratio()


def function_text(source: str, name: str) -> str:
    """The parameters and the body of a function of a file; nothing where it is not there.

    >>> function_text("__global__ void f(int x) { g(x); }", "f")
    '(int x) { g(x); }'
    """
    words = tokens(source)
    for place in range(len(words) - 1):
        if words[place].text == name and words[place + 1].text == "(":
            end = closing(words, place + 1)
            if end is not None and end + 1 < len(words) and words[end + 1].text == "{":
                last = closing(words, end + 1)
                if last is not None:
                    return source[words[place + 1].at : words[last].at + 1]
    return ""
