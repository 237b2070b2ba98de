"""What stands before the functions: initial values, one-instruction functions, prototypes."""

from __future__ import annotations

import re

from ptxkit._native import Node
from ptxkit.cuda import nodes as n
from ptxkit.cuda.literals import from_bits, spell
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    VECTORS,
    VOID,
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
)
from ptxkit.decompiler.lift.context import Intrinsic, NotLiftedError
from ptxkit.decompiler.lift.conversions import C_TYPES
from ptxkit.decompiler.lift.mathlib.unused import named
from ptxkit.decompiler.lift.printing import literal
from ptxkit.decompiler.lift.signatures import Memory, Signature, Signatures
from ptxkit.run.globals import ModuleMemory
from ptxkit.syntax import evaluate

_LETTERS = {"b16": "h", "b32": "r", "b64": "l", "f32": "f", "f64": "d", "pred": "r",
            "s32": "r", "u32": "r", "s64": "l", "u64": "l", "b128": "q"}  # fmt: skip
_CONVERSIONS: dict[str, tuple[Type, Type]] = {
    "half2_as_uint": (VECTORS["half2"], UINT), "uint_as_half2": (UINT, VECTORS["half2"]),
    "bfloat162_as_uint": (VECTORS["bfloat162"], UINT),
    "uint_as_bfloat162": (UINT, VECTORS["bfloat162"]),
}  # fmt: skip
_INLINE = ("static", "__forceinline__")


def helper_functions(helpers: dict[str, Intrinsic], converts: set[str]) -> list[n.Function]:
    """The functions of one instruction, and reinterpretations CUDA has no function for."""
    made = [_conversion(name) for name in sorted(converts)]
    for name, call in sorted(helpers.items()):
        parameters = tuple(
            n.Parameter(INT if t == "pred" else C_TYPES[t], "abcdefgh"[k] if k < 8 else f"a{k}")
            for k, t in enumerate(call.takes)
        )
        gives = C_TYPES[call.gives]
        result = INT if gives == BOOL else gives
        inputs = tuple(
            n.AsmOperand(_LETTERS[t], n.Name(p.name))
            for t, p in zip(call.takes, parameters, strict=True)
        )
        output = n.AsmOperand("=" + _LETTERS[call.gives], n.Name("result"))
        body: tuple[n.Statement, ...] = (
            n.Declare(result, "result"),
            n.Asm(call.assembly, (output,), inputs, (), volatile=False),
            n.Return(
                n.Binary("!=", n.Name("result"), n.Literal(0, INT))
                if gives == BOOL else n.Name("result")
            ),
        )  # fmt: skip
        made.append(n.Function(name, parameters, body, gives, False, _INLINE))
    return made


def _conversion(name: str) -> n.Function:
    have, want = _CONVERSIONS[name]
    pointer = n.Cast(Pointer(want), n.Unary("&", n.Name("bits")))
    body = (n.Return(n.Unary("*", pointer)),)
    return n.Function(name, (n.Parameter(have, "bits"),), body, want, False, _INLINE)


# ---- prototypes --------------------------------------------------------------------------


def _type_of_slot(slot: object) -> Type:
    found: Type | None = slot.c_type  # type: ignore[attr-defined]
    if found is not None:
        return found
    if slot.size:  # type: ignore[attr-defined]
        raise NotLiftedError("a structure passed to a function that is only declared")
    return C_TYPES[slot.type]  # type: ignore[attr-defined]


def prototypes(
    signatures: Signatures, made: list[n.Function], early: bool = False
) -> list[n.Function]:
    """Declarations of functions from elsewhere, and of those that are used before they come.

    With ``early``, of all: variables name them.
    """
    found: list[n.Function] = []
    seen: set[str] = set()
    called_early: set[str] = set()
    for function in made:
        called_early |= named((function,)) - seen
        seen.add(function.name)
    for signature in signatures.functions.values():
        if signature.kernel or (signature.name not in called_early and not early):
            continue
        if signature.name in _KNOWN:
            continue
        found.append(_prototype(signature))
    return found


_KNOWN = frozenset(("malloc", "free", "__assertfail"))


def _prototype(signature: Signature) -> n.Function:
    parameters = tuple(
        n.Parameter(_type_of_slot(slot), f"p{k}") for k, slot in enumerate(signature.parameters)
    )
    returns = _type_of_slot(signature.results[0]) if signature.results else VOID
    return n.Function(signature.name, parameters, None, returns, False, (), linkage="C")


# ---- initial values ----------------------------------------------------------------------


_CHARACTERS = (SCALARS["char"], SCALARS["schar"], SCALARS["uchar"])
_UNREADABLE = re.compile(r"\\[0-3]")


def initial_value(
    memory: Memory, type: Type, contents: ModuleMemory, signatures: Signatures
) -> n.Expression | None:
    """The initialiser of a variable, if it has one."""
    name = memory.node.name
    if memory.node.initializer is None or not isinstance(type, Array):
        return None
    if contents.references.get(name):
        return _addresses(memory, signatures)
    data = contents.arrays[name].tobytes()
    element = type.element
    if not any(data):
        return None
    text = literal(data) if element in _CHARACTERS else None
    if text is not None and not _UNREADABLE.search(text):
        return n.Name(text)
    size = 1 if isinstance(element, Struct | Array) else element.size
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    while parts and not any(parts[-1]):
        parts.pop()
    items = ", ".join(_spelled(part, element) for part in parts)
    return n.Name(f"{{{items}}}")


def holds_addresses(memory: Memory, contents: ModuleMemory) -> bool:
    """Whether a variable's initial value names other variables."""
    return bool(contents.references.get(memory.node.name))


def _items(memory: Memory) -> list[Node]:
    """The numbers and names of an initialiser, in order."""
    found: list[Node] = []
    pending = [memory.node.initializer]
    while pending:
        node = pending.pop(0)
        if node is None:
            continue
        if node.kind == "InitializerList":
            pending = [*node.children, *pending]
        else:
            found.append(node)
    return found


def _target(node: Node) -> str:
    names = list(node.find("Name"))
    return str((names[-1] if names else node).text)


def table_of_addresses(memory: Memory, signatures: Signatures) -> n.StructDefinition:
    """The structure of a variable that holds addresses: each 64 bits are of their own type."""
    fields: list[n.Parameter] = []
    for place, node in enumerate(_items(memory)):
        type: Type = UNSIGNED_LONG_LONG
        if evaluate(node) is None:
            function = signatures.functions.get(_target(node))
            type = Pointer(VOID) if function is None else Struct(f"decltype(&{function.name})")
        fields.append(n.Parameter(type, f"field_{8 * place}"))
    return n.StructDefinition(f"{memory.name}_table", tuple(fields))


def _addresses(memory: Memory, signatures: Signatures) -> n.Expression:
    """The initialiser of such a variable."""
    items: list[str] = []
    for node in _items(memory):
        number = evaluate(node)
        if number is not None:
            items.append(f"{int(number)}ull")
            continue
        name = _target(node)
        if name in signatures.functions:
            items.append(signatures.functions[name].name)
            continue
        target = next((m for m in signatures.memory.values() if m.node.name == name), None)
        if target is None:
            raise NotLiftedError(f"the address of '{name}' in '{memory.node.name}'")
        offset = sum(int(evaluate(c) or 0) for c in node.children if c.kind == "Integer")
        place = f"(char *)&{target.name}" + (f" + {offset}" if offset else "")
        items.append(f"(void *)({place})")
    return n.Name("{{" + ", ".join(items) + "}}")


#: What a compiler makes of divisions by 0 before a program begins, when no function can be called.
_BY_ZERO = {"INFINITY": ("1.0", 0), "NAN": ("0.0", 1)}


def _quotient(bits: int, type: Scalar) -> str:
    """The constant that a number without digits is, where there is one.

    >>> _quotient(0xFF800000, FLOAT), _quotient(0xFFF8000000000000, DOUBLE), _quotient(0, FLOAT)
    ('-(1.0f / 0.0f)', '0.0 / 0.0', '')
    """
    sign, top = bits >> (type.bits - 1), 1 << (type.bits - 1)
    found = _BY_ZERO.get(spell(from_bits(bits & ~top, type)))
    if found is None or type not in (FLOAT, DOUBLE):
        return ""
    end = "f" * (type == FLOAT)
    text = f"{found[0]}{end} / 0.0{end}"
    return text if sign == found[1] else f"-({text})"


def _spelled(part: bytes, element: Type) -> str:
    bits = int.from_bytes(part, "little")
    if isinstance(element, Scalar) and element.is_float:
        return _quotient(bits, element) or spell(from_bits(bits, element))
    if isinstance(element, Scalar):
        if element.signed and bits >> (element.bits - 1):
            bits -= 1 << element.bits
        wide = element if element.bits >= 32 else INT
        return spell(n.Literal(bits, wide))
    if isinstance(element, Pointer):
        return f"(({element.spelling}){spell(n.Literal(bits, UNSIGNED_LONG_LONG))})"
    count = getattr(element, "count", 1)
    each = len(part) // count
    inner = getattr(element, "element", SCALARS["uchar"])
    return "{" + ", ".join(_spelled(part[k * each : (k + 1) * each], inner)
                           for k in range(count)) + "}"  # fmt: skip
