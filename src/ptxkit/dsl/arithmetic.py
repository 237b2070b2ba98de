"""What the operators of registers mean: one instruction each, into a new register."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ptxkit.dsl.builder import current
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.instructions import Opcode
from ptxkit.dsl.operands import Operand, as_float, half_bits, shown_integer
from ptxkit.dsl.registers import Register
from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES, SIGNED, UNSIGNED

_OPCODES: dict[str, Opcode] = {}
#: What puts the bits of a half into each of those that a register holds.
_HALF_PAIRS = {"f16": 1, "f16x2": 0x10001}
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
#: Whose result depends on whether there is a sign.
_SIGNED_OR_NOT = frozenset(("lt", "le", "gt", "ge", "div", "rem"))
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "neg": "-", "not": "~", "abs": "abs", "floordiv": "//",
}  # fmt: skip


def emit(opcode: str, *operands: Any, when: Any = None) -> None:
    """Make one instruction."""
    found = _OPCODES.get(opcode)
    if found is None:
        found = _OPCODES[opcode] = Opcode(opcode)
    found(*operands, when=when)


def fresh(type: str) -> Register:
    """A new register of the kernel that is being traced."""
    return current().fresh(type)


def typed(name: str, type: str, pooled: bool | None = None) -> str:
    """The opcode of an operator for a type; ``pooled``: as compilers write it.

    Registers of a compiler's ranges say nothing about the sign, and it leaves it to the
    assembler to join a product and a sum.

    >>> typed("add", "b32", pooled=True), typed("mul", "f32", pooled=True)
    ('add.s32', 'mul.f32')
    >>> typed("add", "b32", pooled=False), typed("mul", "f32", pooled=False)
    ('add.u32', 'mul.rn.f32')
    """
    if pooled is None:
        pooled = bool(getattr(current(), "pools", None))
    scalar = SCALAR_TYPES[type]
    kind, width = scalar.kind, scalar.width
    if type == "pred":
        if name in ("and", "or", "xor", "not"):
            return f"{name}.pred"
        raise DslError(f"predicates have no '{_SIGNS[name]}'", "use &, |, ^ and ~ on predicates")
    if name in ("and", "or", "xor", "not"):
        if kind == FLOAT:
            raise DslError(f"'{_SIGNS[name]}' is for integers, not .{type}")
        return f"{name}.b{width}"
    if name == "shl":
        return f"shl.b{width}"
    if kind == BITS and name in ("div", "rem", "shr", "lt", "le", "gt", "ge"):
        # The bits do not say whether there is a sign.
        raise DslError(
            f"'{_SIGNS[name]}' needs to know about the sign of .{type}",
            f"declare the register as u{width} or s{width}, or write the instruction: "
            f"ptx.{'setp.' if name in _COMPARISONS else ''}{name}.u{width}(...)",
        )
    if kind == BITS:
        type = f"s{width}" if pooled or name == "neg" else f"u{width}"  # the same either way
    if name in _COMPARISONS:
        # A NaN differs from everything, as in C and in Python: the unordered form.
        return f"setp.neu.{type}" if kind == FLOAT and name == "ne" else f"setp.{name}.{type}"
    if kind == FLOAT:
        if name == "rem" or name == "shr":
            raise DslError(f"'{_SIGNS[name]}' is for integers, not .{type}")
        rounding = {"mul": ".rn", "div": ".rn", "add": ".rn", "sub": ".rn"}.get(name, "")
        if pooled and name != "div":
            rounding = ""
        if type in ("f16", "f16x2") and name == "div":
            raise DslError(f".{type} has no division", "convert to f32 first")
        return f"{name}{rounding}.{type}"
    if name == "mul":
        return f"mul.lo.{type}"
    if name in ("neg", "abs") and kind != SIGNED:
        return f"{name}.s{width}"
    return f"{name}.{type}"


def _plain(value: Any) -> Any:
    """A number of numpy and the like as one of Python."""
    if isinstance(value, (Register, Operand, int, float)) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _register_of(*values: Any) -> Register:
    return next(value for value in values if isinstance(value, Register))


def _check_same(name: str, left: Any, right: Any) -> None:
    if not (isinstance(left, Register) and isinstance(right, Register)):
        return
    one, other = SCALAR_TYPES[left.type], SCALAR_TYPES[right.type]
    same_class = (one.kind == FLOAT) == (other.kind == FLOAT) or BITS in (one.kind, other.kind)
    if (
        one.width != other.width
        or not same_class
        or (left.type == "pred") != (right.type == "pred")
    ):
        raise DslError(
            f"'{_SIGNS[name]}' between .{left.type} and .{right.type}",
            f"convert one of them: {right.text}.to('{left.type}')",
        )
    if name in _SIGNED_OR_NOT and {one.kind, other.kind} == {SIGNED, UNSIGNED}:
        raise DslError(
            f"'{_SIGNS[name]}' between .{left.type} and .{right.type}: with a sign or without?",
            f"say it for one of them: {right.text}.to('{left.type}')",
        )


def _result_type(left: Any, right: Any) -> str:
    """The operands' type; where one is of bits, the other's says more."""
    types = [one.type for one in (left, right) if isinstance(one, Register)]
    telling = [type for type in types if SCALAR_TYPES[type].kind != BITS]
    return telling[0] if telling else types[0]


def binary(name: str, left: Any, right: Any, into: Register | None = None) -> Register:
    """``left <name> right`` into a new register, or into one that is given."""
    left, right = _plain(left), _plain(right)
    for one in (left, right):
        if not isinstance(one, (int, float, Operand)) or isinstance(one, bool):
            raise DslError(f"'{_SIGNS[name]}' between a register and {one!r}")
    if name == "floordiv":
        type = _register_of(left, right).type
        if SCALAR_TYPES[type].kind == FLOAT:
            raise DslError(
                f"'//' is for integers, not .{type}", "write /, and (x / y).to('s32', 'rmi')"
            )
        name = "div"
    shift = name in ("shl", "shr")
    if not shift:
        _check_same(name, left, right)
    type = _register_of(left, right).type if shift else _result_type(left, right)
    if shift and not isinstance(left, Register):
        raise DslError("a constant is shifted by a register", "put it into a register first")
    if isinstance(right, float) and SCALAR_TYPES[type].kind != FLOAT:
        raise DslError(f"'{_SIGNS[name]}' between .{type} and the float {right}", "convert first")
    if SCALAR_TYPES[type].kind == FLOAT:
        left, right = _float_operand(left, type), _float_operand(right, type)
    else:
        for one in (left, right):
            check_constant(one, type, f"'{_SIGNS[name]}'")
    opcode = typed(name, type)
    if not isinstance(left, Register):
        left, right, opcode = _swapped(name, left, right, opcode, type)
    result = into if into is not None else fresh("pred" if name in _COMPARISONS else type)
    emit(opcode, result, left, right)
    return result


def _float_operand(value: Any, type: str) -> Any:
    """A number beside a float register; one of 16 bits has no constants, so in a register."""
    if not isinstance(value, (int, float)):
        return value
    if type not in _HALF_PAIRS:
        return as_float(value, type)
    held = fresh(type)
    move(held, value)
    return held


def check_constant(value: Any, type: str, what: str) -> None:
    """Refuse a whole number that a register of the type cannot hold, with or without a sign."""
    width = SCALAR_TYPES[type].width
    if isinstance(value, int) and not -(1 << (width - 1)) <= value < 1 << width:
        raise DslError(
            f"{what}: {shown_integer(value)} does not fit into .{type}",
            "convert the register to 64 bits first, or cut the number" if width < 64 else "",
        )


def _swapped(name: str, left: Any, right: Any, opcode: str, type: str) -> tuple[Any, Any, str]:
    """PTX takes a constant last, and first where the order counts through a register."""
    if name in ("add", "mul", "and", "or", "xor"):
        return right, left, opcode
    held = fresh(type)
    emit(f"mov.{_move_type(type)}", held, left)
    return held, right, opcode


def _move_type(type: str) -> str:
    return f"b{SCALAR_TYPES[type].width}" if type in ("f16", "f16x2") else type


def move(register: Register, value: Any) -> None:
    """Copy a value into a register."""
    type = register.type
    kind, width = SCALAR_TYPES[type].kind, SCALAR_TYPES[type].width
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and type in _HALF_PAIRS:
        value = half_bits(value, "f16") * _HALF_PAIRS[type]
    elif is_number and kind == FLOAT:
        value = as_float(value, type)
    elif type != "pred":
        check_constant(value, type, "a register is set")
        if kind == SIGNED and isinstance(value, int) and value >> (width - 1) > 0:
            raise DslError(
                f"a register is set: {value} does not fit into .{type}",
                f"its largest is {(1 << (width - 1)) - 1}; declare it as u{width}, or write the "
                f"negative number of the same bits: {value - (1 << width)}",
            )
    emit(f"mov.{_move_type(register.type)}", register, value)


def unary(name: str, value: Register) -> Register:
    """An operator on one register."""
    result = fresh(value.type)
    emit(typed(name, value.type), result, value)
    return result


def convert(value: Register, type: str, modifiers: str = "") -> Register:
    """``value.to(type)``: the ``cvt`` that is defined without saying more, or with modifiers."""
    if type == value.type:
        return value
    result = fresh(type)
    source, target = SCALAR_TYPES[value.type], SCALAR_TYPES[type]
    if BITS in (source.kind, target.kind) or "pred" in (value.type, type):
        if source.width == target.width and "pred" not in (value.type, type):
            emit(f"mov.b{source.width}", result, value)
            return result
        if value.type == "pred" and type != "pred":
            emit(f"selp.{_move_type(type)}", result, 1, 0, value)
            return result
        raise DslError(
            f"a conversion from .{value.type} to .{type} needs to know what the bits mean",
            "declare the register as u, s or f, or write ptx.cvt...",
        )
    words = [word for word in modifiers.split(".") if word]
    if not words:
        words = _rounding(source.kind, target.kind, source.width, target.width)
    emit(".".join(["cvt", *words, type, value.type]), result, value)
    return result


def _rounding(source: str, target: str, width: int, wanted: int) -> list[str]:
    if target == FLOAT and (source != FLOAT or wanted < width):
        return ["rn"]
    if source == FLOAT and target != FLOAT:
        return ["rzi"]
    return []
