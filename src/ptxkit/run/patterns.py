"""Instructions like ones that were lowered before: the same code, with other registers.

Of most instructions the code depends on nothing but their text and the types of their registers.
What `Lowering` made of the first one is kept as a pattern, in which registers and constants are
blanks; the next one of the same text fills them in, some ten times faster.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit._native import Pattern
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering import arithmetic, bits, compare, convert, move
from ptxkit.syntax import Instruction

#: Instructions that change nothing but registers and memory: not the program around them.
_REPEATABLE = frozenset(
    (
        *arithmetic.LOWERINGS,
        *bits.LOWERINGS,
        *compare.LOWERINGS,
        *convert.LOWERINGS,
        *move.LOWERINGS,
        *("ld", "ldu", "st", "cvta", "isspacep"),
    )
)
_MOST = 1 << 16
_patterns: dict[tuple[str, ...], _Known] = {}


@dataclass(frozen=True, slots=True)
class _Known:
    """The code of an instruction, and what it needs beside its registers."""

    pattern: Pattern
    constants: tuple[tuple[int, int], ...]
    """The value and the bytes of each."""
    fresh: int
    """The bytes of registers of its own."""
    place: int
    """Where the parameter lay that it reads, if it does."""


def repeated(low: Lowering, node: Instruction) -> bool:
    """Add the code of an instruction; False for one that is lowered by itself only."""
    text, names = node.pattern()
    state = low.state
    key = [text]
    slots = []
    place = 0
    for name in names:
        register = state.named.get(name)
        if register is None:
            if state.hidden is None or name in state.hidden:
                return False
            # Most are the function's own, and nothing hides those.
            position = node.span[0]
            declaration = state.scope.local(name, position)
            declaration = declaration or low.scopes.scope_of(node).resolve(name, position)
            if declaration is None:  # a special register, or an error
                key.append(f"={name}")
                continue
            if declaration.kind == "parameter" and text.startswith("ld.param"):
                if state.node != low.kernel:
                    return False
                place = low.kernel_parameters[name]
                key.append("parameter")
                continue
            if declaration.kind != "register":
                return False
            register = state.named[name] = low.declared_register(name, declaration)
        slots.append(register.slot)
        key.append(register.type)
    found = _patterns.get(tuple(key))
    if found is None:
        return _noted(low, node, tuple(key), slots, place)
    slots += [low.constant(*one) for one in found.constants]
    low.program.repeat(
        state.index, found.pattern, slots, state.register_bytes, node.index, place - found.place
    )
    state.register_bytes += found.fresh
    return True


def _noted(
    low: Lowering, node: Instruction, key: tuple[str, ...], slots: list[int], place: int
) -> bool:
    """Lower an instruction and keep its code, if it is one to repeat."""
    if node.name not in _REPEATABLE:
        return False
    state = low.state
    start, fresh = low.program.size(state.index), state.register_bytes
    low.noted = []
    try:
        low.instruction(node)
        constants = tuple(dict.fromkeys(low.noted))
    finally:
        low.noted = None
    slots = slots + [low.constant(*one) for one in constants]
    pattern = low.program.pattern(state.index, start, slots, fresh)
    if pattern is not None:
        if len(_patterns) >= _MOST:
            _patterns.clear()
        _patterns[key] = _Known(pattern, constants, state.register_bytes - fresh, place)
    return True
