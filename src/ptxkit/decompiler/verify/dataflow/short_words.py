"""Numbers of 16 bits, and those that become floating-point numbers, in one form.

A compiler computes with bytes in registers of 16 bits or of 32, another one does the opposite:
what comes out is the same number as long as the rest of the word is not lost.

>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> t = Terms()
>>> byte = t.extend(False, 8, 16, t.make("symbol", "byte"))
>>> wide = t.extend(False, 16, 32, byte)
>>> [from_integer(t, f"cvt.rn.f32.{kind}", one) for kind, one in (("u16", byte), ("s32", wide))]
[('cvt.rn.f32.u32', 2), ('cvt.rn.f32.u32', 2)]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.dataflow.bounds import bounds

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.decode import Step
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

Rule = Callable[["Terms", "Step", int, Sequence["Term"]], "Term | None"]
_SHORT, _WORD = 16, 32
#: What is the same in 32 bits, if the numbers are extended as their type says; of a shift, the
#: first one is.
_ALIKE = frozenset(("shr", "div", "rem", "min", "max", "abs", "and", "or", "xor"))
_FROM_INTEGER = re.compile(r"(cvt(?:\.[a-z]+)*\.b?f(?:16|32|64))\.([su])(8|16|32|64)$")


def in_a_word(terms: Terms, step: Step, values: Sequence[Term], rule: Rule) -> Term | None:
    """The result of an instruction of 16 bits, out of that of the same one of 32."""
    kind = step.type[:1]
    if step.type[1:] != "16" or step.name not in _ALIKE or kind not in "sub":
        return None
    count = 1 if step.name == "shr" else len(values)
    wide = [terms.extend(kind == "s", _SHORT, _WORD, one) for one in values[:count]]
    wide += values[count:]
    larger = _larger(step)
    made = rule(terms, larger, _WORD, wide)
    if made is None:
        made = terms.operation(larger.opcode, 0, wide)
    return terms.truncate(_WORD, _SHORT, made)


@lru_cache(maxsize=256)
def _larger(step: Step) -> Step:
    """An instruction with all of its types of 32 bits instead of 16."""
    types = tuple(f"{one[0]}32" if one[1:] == "16" else one for one in step.types)
    words = (f"{one[0]}32" if one in ("s16", "u16", "b16") else one
             for one in step.opcode.split("."))  # fmt: skip
    return replace(step, types=types, opcode=".".join(words))


@lru_cache(maxsize=256)
def _parts(opcode: str) -> tuple[str, bool, int] | None:
    """Of a conversion from an integer: what it is to, whether that has a sign, and its bits."""
    found = _FROM_INTEGER.match(opcode)
    return None if found is None else (found[1], found[2] == "s", int(found[3]))


def from_integer(terms: Terms, opcode: str, value: Term) -> tuple[str, Term]:
    """A conversion from an integer, as the one from 32 bits that makes the same of it."""
    parts = _parts(opcode)
    if parts is None:
        return opcode, value
    to, signed, width = parts
    low, high = bounds(terms, value, width, signed)
    if low >= 0:
        kind, fits = "u", high >> _WORD == 0
    else:
        kind, fits = "s", low >= -(1 << _WORD - 1) and high < 1 << _WORD - 1
    if not fits:
        return f"{to}.{kind}{width}", value
    if width < _WORD:
        value = terms.extend(signed, width, _WORD, value)
    elif width > _WORD:
        value = terms.truncate(width, _WORD, value)
    return f"{to}.{kind}32", value
