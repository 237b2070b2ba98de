"""PTX words as Python names: ``global_`` for ``.global``, ``shared__cta`` for ``.shared::cta``."""

from __future__ import annotations

import keyword
import re
from functools import lru_cache

_PLAIN = re.compile(r"[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*", re.ASCII)


@lru_cache(maxsize=8192)
def word_of(attribute: str) -> str:
    """The PTX word of a Python attribute.

    >>> word_of("global_"), word_of("shared__cta"), word_of("_2d"), word_of("f32")
    ('global', 'shared::cta', '2d', 'f32')
    """
    if attribute.endswith("_") and keyword.iskeyword(attribute[:-1]):
        attribute = attribute[:-1]
    if attribute.startswith("_") and attribute[1:2].isdigit():
        attribute = attribute[1:]
    return attribute.replace("__", "::")


@lru_cache(maxsize=8192)
def attribute_of(word: str) -> str | None:
    """The Python attribute for a PTX word; None where there is none.

    >>> attribute_of("global"), attribute_of("mbarrier::complete_tx::bytes"), attribute_of("a$")
    ('global_', 'mbarrier__complete_tx__bytes', None)
    """
    if _PLAIN.fullmatch(word) is None:
        return None
    name = word.replace("::", "__")
    if keyword.iskeyword(name):
        name += "_"
    if name[0].isdigit():
        name = "_" + name
    return name if word_of(name) == word and name.isidentifier() else None
