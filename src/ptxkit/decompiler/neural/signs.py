"""Whether the sign of narrow elements can be seen.

`char` and `unsigned char` are the same where only their low bits are used: the compiler makes one
PTX of both, so both are one answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.decompiler.neural.program import Effect, Program
from ptxkit.decompiler.neural.values import Value

_LOW = ("+", "-", "*", "&", "|", "^", "neg", "~")
_SIGNED = {"s8": "u8", "s16": "u16"}


def unsigned_where_unseen(program: Program) -> Program:
    """The program with narrow signed arrays as unsigned ones, where nothing asks for the sign."""
    effects = list(_effects(program.body))
    arrays = {str(e.operands[0].payload): _element(e.word) for e in effects if _stores(e)}
    seen: set[str] = set()
    values: dict[int, Value] = {}
    for effect in effects:
        stores = _stores(effect)
        for number, operand in enumerate(effect.operands):
            values.update((id(v), v) for v in operand.walk())
            low = number == 2 and stores and _element(effect.word)[1:] in ("8", "16")
            _mark(operand, int(_element(effect.word)[1:]) if low else 64, seen)
    loads = [v for v in values.values() if v.operator.startswith("load.")]
    arrays.update((str(v.operands[0].payload), _element(v.operator)) for v in loads)
    arrays.update((e.name, _element(e.word)) for e in effects if _declares(e))
    changed = {name: _SIGNED[t] for name, t in arrays.items() if t in _SIGNED and name not in seen}
    for load in loads:
        name = str(load.operands[0].payload)
        if name in changed:
            load.operator = f"load.{changed[name]}"
    for effect in effects:
        name = str(effect.operands[0].payload) if _stores(effect) else effect.name
        if name in changed and (_stores(effect) or _declares(effect)):
            effect.word = f"{effect.word.partition('.')[0]}.{changed[name]}"
    for number, word in enumerate(program.parameters):
        if f"p{number}" in changed and word.startswith("ptr."):
            program.parameters[number] = f"ptr.{changed[f'p{number}']}"
    return program


def _effects(block: list[Effect]) -> Iterator[Effect]:
    for effect in block:
        yield effect
        for inner in effect.blocks:
            yield from _effects(inner)


def _stores(effect: Effect) -> bool:
    return effect.word.startswith("store.")


def _declares(effect: Effect) -> bool:
    return effect.word.startswith(("shared.", "dynamic."))


def _element(word: str) -> str:
    return word.rpartition(".")[2]


def _mark(value: Value, bits: int, seen: set[str]) -> None:
    """Note the arrays whose sign is seen in a value of which so many low bits are used."""
    waiting = [(value, bits)]
    known: set[tuple[int, int]] = set()
    while waiting:
        node, used = waiting.pop()
        if (id(node), used) in known:
            continue
        known.add((id(node), used))
        head, _, kind = node.operator.partition(".")
        if head == "load":
            if kind in _SIGNED and used > int(kind[1:]):
                seen.add(str(node.operands[0].payload))
            waiting += [(operand, 64) for operand in node.operands]
            continue
        if head == "ext":
            used = min(used, int(kind[1:]))
        elif head not in _LOW:
            used = 64
        waiting += [(operand, used) for operand in node.operands]
