"""The operands of an instruction as the rules of the table see them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actual:
    """What stands at an operand's place, as far as the rules care.

    ``kind`` is one of: ``register``, ``special`` (register), ``integer``, ``decimal``
    (a decimal float literal), ``float`` (a ``0f``/``0d`` literal, with ``type`` ``f32`` or
    ``f64``), ``symbol`` (a variable),
    ``function``, ``label``, ``unknown`` (an undeclared name, reported elsewhere),
    ``address``, ``vector``, ``pair``, ``sink``, ``list``, ``table`` (a label of call or
    branch targets or a prototype), ``element`` (``name[i]``; the symbol is its element).
    """

    kind: str
    type: str = ""
    width: int = 1  # registers of a vector type hold more than one element
    widths: tuple[int, ...] = ()  # other widths a special register may be read at
    value: float | None = None  # an integer's, or a float's where it is known
    space: str = ""
    negated: bool = False  # '!' before it
    minus: bool = False  # '-' before a register
    selector: str = ""  # '.x', '.b0', '.h1'; '.unified' after an address
    offset: bool = False  # 'name+4'
    role: str = ""  # 'input' or 'output' for the parameters of a function or kernel
    elements: tuple[Actual, ...] = ()
