"""Vectors of bytes that newer compilers load as one word, and take apart with ``prmt``.

Where a word is loaded for its bytes alone, and one of them is taken as a compiler takes the parts
of a vector, it is ``uchar4 v = p[i]`` again, with ``v.y`` in the place of ``(n >> 8) & 255``.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.reading import exit_values, set_exit
from ptxkit.decompiler.lift.values import Definition, Step, Value, raw, var

#: How wide a word is, and each of its bytes.
_WORD, _BYTE = 32, 8
_ALL = (1 << _BYTE) - 1


def with_byte_vectors(program: Program) -> None:
    """Load such words as vectors."""
    words = program.lift.words
    if not words:
        return
    loads = {
        step.targets[0]: step
        for block in program.flow.blocks.values()
        for step in block.statements
        if step.kind == "set" and step.targets[0] in words and _is_word(step)
    }
    for block in program.flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                _keep_taken_whole(value, loads)
        for value in exit_values(block):
            _keep_taken_whole(value, loads)
    vectors: dict[Definition, Value] = {}
    for definition, step in loads.items():
        access = replace(step.args[0].data, type="u8", count=_WORD // _BYTE)
        whole = program.lift.fresh(_WORD, "vector")
        whole.block = definition.block
        step.targets[0] = whole
        step.args[0] = raw("load", _WORD, step.args[0].args, access)
        vectors[definition] = var(whole)
    if not vectors:
        return
    for block in program.flow.blocks.values():
        for step in block.statements:
            step.args[:] = [_by_parts(value, vectors) for value in step.args]
        for value in exit_values(block):
            set_exit(block, _by_parts(value, vectors))


def _is_word(step: Step) -> bool:
    value = step.args[0]
    one = step.targets[0].variable.definitions == 1
    return one and value.op == "load" and value.data.width == _WORD and value.data.count == 1


def _byte(value: Value) -> tuple[Value, int] | None:
    """The variable of which a value is a byte without a sign, and which."""
    if value.op == "and" and value.args[1].op == "const" and value.args[1].data == _ALL:
        value = value.args[0]
    elif not (value.op == "trunc" and value.width == _BYTE) and not (
        value.op == "shr.u" and _distance(value) == _WORD - _BYTE
    ):
        return None
    while value.op == "trunc":
        value = value.args[0]
    place = 0
    if value.op == "shr.u":
        distance = _distance(value)
        if distance is None or distance % _BYTE:
            return None
        place = distance // _BYTE
        value = value.args[0]
    return (value, place) if value.op == "var" and value.width == _WORD else None


def _distance(value: Value) -> int | None:
    by = value.args[1]
    return by.data if by.op == "const" else None


def _keep_taken_whole(value: Value, loads: dict[Definition, Step]) -> None:
    """Leave out what is used for more than its bytes."""
    stack = [value]
    while stack:
        one = stack.pop()
        found = _byte(one)
        if found is not None and found[0].data in loads:
            continue
        if one.op == "var":
            loads.pop(one.data, None)
        stack.extend(one.args)


def _by_parts(value: Value, vectors: dict[Definition, Value]) -> Value:
    found = _byte(value)
    if found is not None and found[0].data in vectors:
        part = raw("component", _BYTE, (vectors[found[0].data],), found[1])
        return make("zext", value.width, part) if value.width > _BYTE else part
    if not value.args:
        return value
    args = tuple(_by_parts(one, vectors) for one in value.args)
    if all(a is b for a, b in zip(args, value.args, strict=True)):
        return value
    return make(value.op, value.width, *args, data=value.data)
