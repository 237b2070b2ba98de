"""Inline assembly: what an instruction becomes that C++ has no name for.

An instruction that only computes becomes a function of one asm statement, named after its
opcode, so that it can stand in expressions like any other. One with effects is an asm
statement where it stands. Predicates go in and out as integers.
"""

from __future__ import annotations

import re
from itertools import chain, repeat

from ptxkit._native import Node
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, words_of
from ptxkit.decompiler.lift.values import Step, Value, raw, var
from ptxkit.isa.dataflow import registers
from ptxkit.isa.registry import spec_of
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Address, Instruction, Name

#: Operands of a video instruction that says what the rest of its destination is.
_MERGED = 4
_SPACES = frozenset("global shared local const param".split())


def assembled(lift: Lift, node: Instruction) -> None:
    """Lift an instruction as assembly."""
    found = registers(node)
    guard = node.guard.predicate.index if node.guard is not None else -1
    written = list(found.defined)
    used = [name for name in found.used if name.index != guard]
    spec = spec_of(node.name, node.modifiers)
    pure = spec is not None and spec.is_pure
    _note_pointers(lift, node)
    if pure and len(written) == 1 and not any(n.index == written[0].index for n in used):
        _as_function(lift, node, written[0], used)
    else:
        _as_statement(lift, node, written, used)


def _note_pointers(lift: Lift, node: Instruction) -> None:
    """What stands in brackets is an address: of global memory, or generic, a pointer of C++."""
    spaces = [w.partition("::")[0] for w in words_of(node)]
    spaces = [word for word in spaces if word in _SPACES]
    places = [operand for operand in node.operands if isinstance(operand, Address)]
    # Instructions name the spaces of what they copy from and to; barriers are shared memory.
    rest = spaces[0] if len(spaces) == 1 else "shared" if spaces else "generic"
    for place, space in zip(places, chain(spaces, repeat(rest)), strict=False):
        definition = lift.versions.reads.get(place.base.index)
        wide = definition is not None and definition.variable.width == 64
        if definition is not None and wide and space in ("global", "generic"):
            lift.pointers[var(definition)] = None


def _declared(type: str) -> str:
    """The type an operand is bound as."""
    width = SCALAR_TYPES[type].width
    if type in ("f32", "f64", "pred", "b128"):
        return type
    return f"b{max(width, 16)}"


def _as_function(lift: Lift, node: Instruction, target: Name, used: list[Name]) -> None:
    names = {target.index: "%0"}
    takes: list[str] = []
    arguments: list[Value] = []
    head: list[str] = []
    tail: list[str] = []
    known: dict[Value, str] = {}
    for name in used:
        definition = lift.versions.reads[name.index]
        value = var(definition)
        if value in known:
            names[name.index] = known[value]
            continue
        type = _operand_type(node, name, definition.variable.declared)
        place = f"%{len(takes) + 1}"
        if type == "pred":
            local = f"p{len(takes)}"
            head += [f".reg .pred {local};", f"setp.ne.b32 {local}, {place}, 0;"]
            known[value] = local
        else:
            known[value] = place
        names[name.index] = known[value]
        takes.append(type)
        arguments.append(value)
    gives = _operand_type(node, target, lift.versions.writes[target.index].variable.declared)
    text, symbols = _text(lift, node, names, len(takes) + 1)
    if symbols:
        raise NotLiftedError("a symbol in an instruction that only computes")
    if gives == "pred":
        names[target.index] = "q"
        text, _ = _text(lift, node, names, 0)
        head.insert(0, ".reg .pred q;")
        tail.append("selp.b32 %0, 1, 0, q;")
    whole = " ".join([*head, text, *tail])
    if head:
        whole = f"{{ {whole} }}"
    call = Intrinsic(_function_name(node, text), tuple(takes), gives, whole)
    # A part of a register is put into the last operand's bits: all of it is written.
    merged = len(node.operands) == _MERGED
    lift.write(target, gives, lift.pure(call, *arguments), merged=merged)


def _operand_type(node: Instruction, name: Name, declared: str) -> str:
    """A float where the instruction says so, else bits as wide as the register."""
    words = words_of(node)
    type = _declared(declared)
    if type in ("b32", "b64"):
        floats = [w for w in words if w in ("f32", "f64")]
        others = [w for w in words if w in SCALAR_TYPES and w not in floats]
        if floats and not others and f"f{type[1:]}" in floats:
            return f"f{type[1:]}"
    return type


def _function_name(node: Instruction, text: str) -> str:
    stem = re.sub(r"\W+", "_", node.opcode).strip("_")
    # Immediates are part of the text: functions that differ in them differ in name.
    numbers = re.findall(r"(?<![%\w.])(?:0[fdxFDX][0-9a-fA-F]+|-?\d+)\b", text.partition(" ")[2])
    extra = "_".join(number.replace("-", "minus") for number in numbers)
    return f"{stem}_{extra}" if extra else stem


def _as_statement(lift: Lift, node: Instruction, written: list[Name], used: list[Name]) -> None:
    outputs: list[tuple[str, bool]] = []
    inputs: list[tuple[str, Value]] = []
    names: dict[int, str] = {}
    head: list[str] = []
    tail: list[str] = []
    both = {n.index for n in used} & {n.index for n in written}
    targets = []
    for name in written:
        definition = lift.versions.writes[name.index]
        type = _declared(definition.variable.declared)
        place = f"%{len(outputs)}"
        outputs.append((type, name.index in both))
        targets.append(definition)
        names[name.index] = place
        if type == "pred":
            local = f"q{len(outputs)}"
            head.append(f".reg .pred {local};")
            tail.append(f"selp.b32 {place}, 1, 0, {local};")
            names[name.index] = local
    updates = [var(lift.versions.reads[n.index]) for n in used if n.index in both]
    count = len(outputs)
    known: dict[Value, str] = {}
    for name in used:
        if name.index in both:
            continue
        value = var(lift.versions.reads[name.index])
        if value not in known:
            type = _declared(value.data.variable.declared)
            place = f"%{count + len(inputs)}"
            inputs.append((type, value))
            if type == "pred":
                local = f"p{len(inputs)}"
                head += [f".reg .pred {local};", f"setp.ne.b32 {local}, {place}, 0;"]
                place = local
            known[value] = place
        names[name.index] = known[value]
    text, symbols = _text(lift, node, names, count + len(inputs))
    inputs += [("b64" if s.width == 64 else "b32", s) for s in symbols]
    whole = " ".join([*head, text, *tail])
    if head:
        whole = f"{{ {whole} }}"
    args = [*updates, *(value for _, value in inputs)]
    data = (whole, outputs, [type for type, _ in inputs], len(updates))
    lift.steps.append(Step("asm", targets, args, data, lift.line))


def _text(
    lift: Lift, node: Instruction, names: dict[int, str], count: int
) -> tuple[str, list[Value]]:
    """The instruction with its registers replaced, without its guard; and symbols it names."""
    source = node.root.emit_bytes()
    start, end = node.span
    if node.guard is not None:
        start = node.guard.span[1]
    pieces: list[str] = []
    symbols: list[Value] = []
    at = start
    for name in node.find("Name"):
        first, last = name.span
        if first < start:
            continue
        pieces.append(source[at:first].decode().replace("%", "%%"))
        if name.index in names:
            text = names[name.index]
            if name.selector_length:
                text += name.text[len(name.identifier) :]
        elif lift.scopes.resolve(name) is None:
            text = name.text.replace("%", "%%")
        else:
            symbols.append(_symbol(lift, node, name))
            text = f"%{count + len(symbols) - 1}"
        pieces.append(text)
        at = last
    pieces.append(source[at:end].decode().replace("%", "%%"))
    return " ".join(_without_comments("".join(pieces)).split()), symbols


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def _symbol(lift: Lift, node: Instruction, name: Node) -> Value:
    """The address of a variable of memory, as the instruction wants it: inside its space."""
    declaration = lift.scopes.resolve(name)
    if declaration is None or declaration.kind != "variable" or declaration.space == "param":
        raise NotLiftedError(f"'{name.text}' in inline assembly")
    return raw("symbol", 64, (), (declaration.space.partition("::")[0],
                                  lift.symbol_name(declaration.node)))  # fmt: skip
