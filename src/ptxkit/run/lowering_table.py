"""How each instruction becomes operations of the simulator."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit._native import NO_SLOT, WINDOWS, Node
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.syntax import Address, Function, Instruction, Name

SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = WINDOWS
_ROUNDING = {"rn": 0, "rz": 1, "rm": 2, "rp": 3, "rni": 0, "rzi": 1, "rmi": 2, "rpi": 3}
_SPACES = {"": 0, "global": 1, "shared": 2, "local": 3, "param": 4, "const": 5}
_SPECIAL_32 = {
    "%tid.x": 0, "%tid.y": 1, "%tid.z": 2, "%ntid.x": 3, "%ntid.y": 4, "%ntid.z": 5,
    "%ctaid.x": 6, "%ctaid.y": 7, "%ctaid.z": 8, "%nctaid.x": 9, "%nctaid.y": 10,
    "%nctaid.z": 11, "%laneid": 12, "%warpid": 13, "%nwarpid": 14, "%lanemask_eq": 15,
    "%lanemask_lt": 16, "%lanemask_le": 17, "%lanemask_gt": 18, "%lanemask_ge": 19,
    "%clock": 20, "%clock64": 20, "%clock_hi": 99, "%globaltimer": 20, "%globaltimer_lo": 20,
    "%dynamic_smem_size": 21, "%total_smem_size": 22, "%smid": 99, "%nsmid": 99, "%gridid": 99,
}  # fmt: skip

Lower = Callable[[Lowering, Instruction], None]


def _words(node: Instruction) -> list[str]:
    return [modifier[1:] for modifier in node.modifiers]


def _types(words: list[str]) -> list[str]:
    return [word for word in words if word in SCALAR_TYPES]


def _mode(words: list[str]) -> int:
    """The bits of a float mode: rounding, flush, saturate, NaN, xorsign, relu."""
    bits = next((_ROUNDING[word] for word in words if word in _ROUNDING), 0)
    flags = {"ftz": 4, "sat": 8, "NaN": 16, "xorsign": 32, "relu": 64}
    return bits | sum(bit for word, bit in flags.items() if word in words)


def _bits(scalar: str) -> str:
    return f"b{SCALAR_TYPES[scalar].width}"


# -- arithmetic ------------------------------------------------------------------------------


def _arithmetic(low: Lowering, node: Instruction) -> None:
    """``name.type d, a, b[, c]`` with an operation of the same name and type."""
    words = _words(node)
    scalar = _types(words)[-1]
    operands = node.operands
    if SCALAR_TYPES[scalar].kind == "float" or scalar in ("f32", "f64"):
        name, mode = f"{node.name}.{scalar}", _mode(words)
        if node.name == "mad":
            name = f"fma.{scalar}"
    else:
        part = next((f"{w}." for w in words if w in ("lo", "hi", "wide")), "")
        sat = "sat." if "sat" in words else ""
        name, mode = f"{node.name}.{part}{sat}{scalar}", 0
        if "cc" in words:
            return _carry(low, node)
    slots = [low.destination(operands[0])]
    wide = "wide" in words
    for position, operand in enumerate(operands[1:], 1):
        kind = f"{scalar[0]}{2 * SCALAR_TYPES[scalar].width}" if wide and position == 3 else scalar
        if node.name in ("shl", "shr") and position == 2:
            kind = "u32"
        slots.append(low.source(operand, kind))
    low.emit(name, slots, immediate=mode)
    return None


def _carry(low: Lowering, node: Instruction) -> None:
    """add.cc, addc, sub.cc, subc, mad.cc, madc: the carry lies in slot 0 of the frame."""
    words = _words(node)
    scalar = _types(words)[-1]
    name = node.name
    bits = (1 if name.endswith("c") else 0) | (2 if "cc" in words else 0)
    operands = [low.source(o, scalar) for o in node.operands[1:]]
    destination = low.destination(node.operands[0])
    if name.startswith("mad"):
        bits |= (8 if "hi" in words else 0) | (16 if scalar.startswith("s") else 0)
        low.emit(f"madcarry.{_bits(scalar)}", [destination, *operands, 0], immediate=bits)
        return
    bits |= 4 if name.startswith("sub") else 0
    low.emit(f"carry.{_bits(scalar)}", [destination, *operands, NO_SLOT, 0], immediate=bits)


def _logic(low: Lowering, node: Instruction) -> None:
    scalar = _types(_words(node))[-1]
    slots = [low.destination(node.operands[0])]
    for position, operand in enumerate(node.operands[1:], 1):
        shift = node.name in ("shl", "shr") and position == 2
        slots.append(low.source(operand, "u32" if shift else scalar))
    kind = scalar if scalar == "pred" or node.name == "shr" else _bits(scalar)
    if node.name == "shr" and scalar.startswith("b"):
        kind = "u" + scalar[1:]
    low.emit(f"{node.name}.{kind}", slots)


def _count(low: Lowering, node: Instruction) -> None:
    """popc, clz, brev, bfind: the result is 32 bits wide."""
    words = _words(node)
    scalar = _types(words)[-1]
    name = node.name + (".shiftamt" if "shiftamt" in words else "")
    operands = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit(f"{name}.{scalar}", operands)


def _field(low: Lowering, node: Instruction) -> None:
    """bfe and bfi: positions and lengths are 32 bits wide."""
    scalar = _types(_words(node))[-1]
    values = 1 if node.name == "bfe" else 2
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1 : 1 + values]]
    slots += [low.source(o, "u32") for o in node.operands[1 + values :]]
    low.emit(f"{node.name}.{scalar}", slots)


def _funnel(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    bits = (1 if "l" in words else 0) | (2 if "wrap" in words else 0)
    slots = [low.destination(node.operands[0])]
    low.emit("shf.b32", slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=bits)


def _dot(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    first, second = _types(words)[-2:]
    bits = (first == "s32") | (second == "s32") << 1 | ("hi" in words) << 2
    slots = [low.destination(node.operands[0])]
    low.emit(node.name, slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=bits)


def _lop3(low: Lowering, node: Instruction) -> None:
    operands = node.operands
    if operands[0].kind == "Pair":
        raise ValueError("the predicate of lop3")
    slots = [low.destination(operands[0])] + [low.source(o, "b32") for o in operands[1:4]]
    low.emit("lop3.b32", slots, immediate=low.literal(operands[4], "u32"))


def _permute(low: Lowering, node: Instruction) -> None:
    modes = {"f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}
    mode = next((modes[word] for word in _words(node) if word in modes), 0)
    slots = [low.destination(node.operands[0])]
    low.emit("prmt.b32", slots + [low.source(o, "b32") for o in node.operands[1:]], immediate=mode)


# -- comparison ------------------------------------------------------------------------------

_COMPARISONS = frozenset("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split())
_BOOLEAN = {"and": 1, "or": 2, "xor": 3}


def _compare(low: Lowering, node: Instruction, slots: list[int], scalar: str) -> None:
    words = _words(node)
    comparison = next(word for word in words if word in _COMPARISONS)
    bits = next((_BOOLEAN[word] for word in words if word in _BOOLEAN), 0)
    bits |= 4 if "ftz" in words else 0
    operands = node.operands[1:]
    slots = slots + [low.source(operand, scalar) for operand in operands[:2]]
    slots.append(low.predicate(operands[2]) if bits & 3 else NO_SLOT)
    low.emit(f"setp.{comparison}.{scalar}", slots, immediate=bits)


def _setp(low: Lowering, node: Instruction) -> None:
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts]
    slots += [NO_SLOT] * (2 - len(slots))
    _compare(low, node, slots, _types(_words(node))[-1])


def _set(low: Lowering, node: Instruction) -> None:
    """set: all ones, or 1.0 for a float result, where the comparison holds."""
    target, scalar = _types(_words(node))[-2:]
    found = low.new_register("pred")
    _compare(low, node, [found.slot, NO_SLOT], scalar)
    size = scalar_bytes(target)
    one = {"f32": 0x3F800000}.get(target, -1)
    slots = [low.constant(one, size), low.constant(0, size), found.slot]
    low.emit(f"selp.{_bits(target)}", [low.destination(node.operands[0]), *slots])


def _selp(low: Lowering, node: Instruction) -> None:
    scalar = _types(_words(node))[-1]
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1:3]]
    low.emit(f"selp.{_bits(scalar)}", [*slots, low.predicate(node.operands[3])])


def _slct(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar, chooser = _types(words)[-2:]
    slots = [low.destination(node.operands[0])]
    slots += [low.source(o, scalar) for o in node.operands[1:3]]
    slots.append(low.source(node.operands[3], chooser))
    name = f"slct.s32.{_bits(scalar)}" if chooser == "s32" else f"slct.{_bits(scalar)}.{chooser}"
    low.emit(name, slots, immediate=4 if "ftz" in words else 0)


def _testp(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    kinds = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]
    which = next(kinds.index(word) for word in words if word in kinds)
    scalar = _types(words)[-1]
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit(f"testp.{scalar}", slots, immediate=which)


# -- moving and converting -------------------------------------------------------------------

_CONVERT_TYPES = {
    name: number
    for number, name in enumerate("u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64".split())
}


def _mov(low: Lowering, node: Instruction) -> None:
    scalar = _types(_words(node))[-1]
    target, source = node.operands
    if target.kind == "Vector":
        parts = [low.destination(one) for one in target.children]
        size = scalar_bytes(scalar)
        at = low.program.add_list(low.state.index, parts)
        slots = [NO_SLOT, low.source(source, scalar)]
        low.emit(
            "unpack", slots, list=at, list_size=len(parts), width=size // len(parts), count=size
        )
        return
    if source.kind == "Vector":
        size = scalar_bytes(scalar)
        part = size // len(source.children)
        slots = [low.source(one, f"b{8 * part}") for one in source.children]
        at = low.program.add_list(low.state.index, slots)
        low.emit(
            "pack", [low.destination(target)], list=at, list_size=len(slots), width=part, count=size
        )
        return
    if isinstance(source, Name) and source.text.replace(" ", "") in _SPECIAL_32:
        if low.scopes.resolve(source) is None:
            register = low.register(target)
            which = _SPECIAL_32[source.text.replace(" ", "")]
            low.emit("special", [register.slot], immediate=which, width=register.bytes)
            return
    kind = scalar if scalar == "pred" else _bits(scalar)
    low.emit(f"mov.{kind}", [low.destination(target), low.source(source, scalar)])


def _cvt(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    to, source = _types(words)[-2:]
    if to not in _CONVERT_TYPES or source not in _CONVERT_TYPES or len(node.operands) != 2:
        raise ValueError("these formats")
    mode = _mode(words)
    if any(word.endswith("i") and word in _ROUNDING for word in words):
        mode |= 256
    elif to[0] not in "f" and to != "bf16" and source[0] in "fb":
        mode |= 1 if not any(word in _ROUNDING for word in words) else 0
    target = low.register(node.operands[0])
    value = node.operands[1]
    if isinstance(value, Name):
        register = low.register(value)
        slot, size = register.slot, register.bytes
    else:
        slot, size = low.source(value, source), scalar_bytes(source)
    types = _CONVERT_TYPES[source] | _CONVERT_TYPES[to] << 8
    low.emit(
        "cvt", [target.slot, slot], immediate=mode, target=types, width=target.bytes, count=size
    )


# -- memory ----------------------------------------------------------------------------------


def _space(words: list[str]) -> str:
    return next((w.partition("::")[0] for w in words if w.partition("::")[0] in _SPACES and w), "")


def _address(low: Lowering, node: Node, space: str, size: int) -> tuple[int, int, int]:
    """The slot, the offset and the access bits of an address operand."""
    if not isinstance(node, Address):
        raise ValueError("this address")
    offset = int(node.offset.value) if node.offset is not None else 0  # type: ignore[attr-defined]
    base = node.base
    bits = size << 4
    if isinstance(base, Name):
        declaration = low.scopes.resolve(base)
        if declaration is not None and declaration.kind == "register":
            register = low.register(base)
            bits |= register.bytes << 12
            return register.slot, offset, bits | _SPACES[space]
        where, place = low.symbol(base, declaration)
        if where == "local":
            return NO_SLOT, place + offset, bits | _SPACES["local"] | 1 << 10
        if where == "shared" and space == "":
            return NO_SLOT, place + offset + SHARED_WINDOW, bits | _SPACES[""]
        return NO_SLOT, place + offset, bits | _SPACES[where]
    value = base.value if hasattr(base, "value") else 0
    return NO_SLOT, int(value) + offset, bits | _SPACES[space]


def _elements(node: Node) -> tuple[Node, ...]:
    return node.children if node.kind == "Vector" else (node,)


def _ld(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    slot, offset, bits = _address(low, node.operands[1], _space(words), scalar_bytes(scalar))
    bits |= 1 << 9 if scalar.startswith("s") else 0
    registers = [None if o.kind == "Sink" else low.register(o) for o in _elements(node.operands[0])]
    at = low.program.add_list(
        low.state.index, [NO_SLOT if r is None else r.slot for r in registers]
    )
    width = next((r.bytes for r in registers if r is not None), 4)
    low.emit(
        "ld", [slot], immediate=offset, target=bits, list=at, list_size=len(registers), width=width
    )


def _st(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    slot, offset, bits = _address(low, node.operands[0], _space(words), scalar_bytes(scalar))
    values = _elements(node.operands[1])
    named = next((v for v in values if isinstance(v, Name)), None)
    width = scalar_bytes(scalar)
    if named is not None:
        declaration = low.scopes.resolve(named)
        if declaration is not None and declaration.kind == "register":
            width = low.register(named).bytes
    kind = scalar if width == scalar_bytes(scalar) else f"b{8 * width}"
    at = low.program.add_list(low.state.index, [low.source(v, kind) for v in values])
    low.emit(
        "st", [slot], immediate=offset, target=bits, list=at, list_size=len(values), width=width
    )


_ATOMIC = {
    name: number for number, name in enumerate("and or xor exch add inc dec min max cas".split())
}


def _atom(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    which = next(_ATOMIC[word] for word in words if word in _ATOMIC)
    kind = scalar.replace("b", "u")
    operands = list(node.operands)
    result = low.destination(operands.pop(0)) if node.name == "atom" else NO_SLOT
    slot, offset, bits = _address(low, operands[0], _space(words), scalar_bytes(scalar))
    values = [low.source(operand, scalar) for operand in operands[1:3]]
    low.emit(f"atom.{kind}", [slot, result, *values], immediate=offset, target=bits, count=which)


def _cvta(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
    base = window.get(_space(words), 0)
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    low.emit("cvta", slots, immediate=-base if "to" in words else base, width=scalar_bytes(scalar))


def _isspacep(low: Lowering, node: Instruction) -> None:
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], "u64")]
    low.emit("isspacep", slots, immediate=window.get(_space(_words(node)), 0))


# -- control ---------------------------------------------------------------------------------


def _bra(low: Lowering, node: Instruction) -> None:
    at = low.emit("bra", [])
    low.state.fixups.append((at, node.operands[0]))


def _brx(low: Lowering, node: Instruction) -> None:
    declaration = low.scopes.resolve(node.operands[1])
    table = declaration.node.next_sibling if declaration is not None else None
    if table is None or table.kind != "BranchTargets":
        raise ValueError("this table of targets")
    at = low.program.add_list(low.state.index, [0] * len(table.children))
    for number, name in enumerate(table.children):
        low.state.table_fixups.append((at + number, name))
    slot = low.source(node.operands[0], "u32")
    low.emit("brx.idx", [slot], list=at, list_size=len(table.children))


def _call(low: Lowering, node: Instruction) -> None:
    operands = list(node.operands)
    results = operands.pop(0).children if operands[0].kind == "ArgumentList" else ()
    target = operands.pop(0)
    arguments = operands.pop(0).children if operands and operands[0].kind == "ArgumentList" else ()
    places: list[int] = []
    for one in (*results, *arguments):
        where, place = low.symbol(one, low.scopes.resolve(one))
        if where != "local":
            raise ValueError("arguments that are not .param variables")
        places.append(place)
    at = low.program.add_list(low.state.index, places)
    declaration = low.scopes.resolve(target)
    if declaration is not None and isinstance(declaration.node, Function):
        callee = low.module[declaration.name]
        number = low.function_number(callee)
        low.emit("call", [], target=number, list=at, list_size=len(places))
        return
    slot = low.register(target).slot
    low.emit("call.indirect", [slot], list=at, list_size=len(places))


def _bar(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    if "warp" in words:
        low.emit("bar.warp", [low.source(node.operands[0], "u32")])
        return
    if "cluster" in words:
        raise ValueError("clusters")
    operands = list(node.operands)
    destination = predicate = NO_SLOT
    kind = "s"
    if "red" in words:
        kind = "p" if "popc" in words else "n" if "and" in words else "o"
        destination = low.destination(operands.pop(0))
        predicate = low.predicate(operands.pop())
    elif "arrive" in words:
        kind = "a"
    slots = [low.source(operand, "u32") for operand in operands]
    slots += [NO_SLOT] * (2 - len(slots))
    low.emit("bar", [destination, *slots, predicate], immediate=ord(kind))


# -- warps -----------------------------------------------------------------------------------


def _shfl(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    modes = ["up", "down", "bfly", "idx"]
    mode = next(modes.index(word) for word in words if word in modes)
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts]
    slots += [NO_SLOT] * (2 - len(slots))
    slots += [low.source(operand, "b32") for operand in node.operands[1:]]
    low.emit("shfl", slots, immediate=mode)


def _vote(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    kinds = ["all", "any", "uni", "ballot"]
    kind = next(kinds.index(word) for word in words if word in kinds)
    slots = [low.destination(node.operands[0]), low.predicate(node.operands[1])]
    slots += [low.source(operand, "u32") for operand in node.operands[2:]]
    low.emit("vote", slots, immediate=kind)


def _match(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    first = node.operands[0]
    parts = first.children if first.kind == "Pair" else (first,)
    slots = [low.destination(part) for part in parts] + [NO_SLOT] * (2 - len(parts))
    slots += [low.source(node.operands[1], scalar), low.source(node.operands[2], "u32")]
    low.emit(f"match.{scalar}", slots, immediate=int("all" in words))


def _redux(low: Lowering, node: Instruction) -> None:
    words = _words(node)
    scalar = _types(words)[-1]
    kinds = ["add", "min", "max", "and", "or", "xor"]
    kind = next(kinds.index(word) for word in words if word in kinds)
    slots = [low.destination(node.operands[0]), low.source(node.operands[1], scalar)]
    slots.append(low.source(node.operands[2], "u32"))
    low.emit(f"redux.{scalar.replace('b', 'u')}", slots, immediate=kind)


def _elect(low: Lowering, node: Instruction) -> None:
    left, right = node.operands[0].children
    slots = [low.destination(left), low.destination(right), low.source(node.operands[1], "u32")]
    low.emit("elect", slots)


def _plain(operation: str) -> Lower:
    def lowered(low: Lowering, node: Instruction) -> None:
        low.emit(operation, [low.destination(operand) for operand in node.operands])

    return lowered


def _nothing(low: Lowering, node: Instruction) -> None:
    low.emit("nop", [])


LOWERINGS: dict[str, Lower] = {
    **dict.fromkeys(
        "add sub mul mad fma div rem min max abs neg sad rcp sqrt rsqrt sin cos lg2 ex2 tanh "
        "copysign".split(),
        _arithmetic,
    ),
    **dict.fromkeys(("addc", "subc", "madc"), _carry),
    **dict.fromkeys("and or xor not cnot shl shr".split(), _logic),
    **dict.fromkeys(("popc", "clz", "brev", "bfind"), _count),
    **dict.fromkeys(("bfe", "bfi"), _field),
    **dict.fromkeys(("dp4a", "dp2a"), _dot),
    "shf": _funnel,
    "lop3": _lop3,
    "prmt": _permute,
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "testp": _testp,
    "mov": _mov,
    "cvt": _cvt,
    "ld": _ld,
    "ldu": _ld,
    "st": _st,
    "atom": _atom,
    "red": _atom,
    "cvta": _cvta,
    "isspacep": _isspacep,
    "bra": _bra,
    "brx": _brx,
    "call": _call,
    "ret": _plain("ret"),
    "exit": _plain("exit"),
    "trap": _plain("trap"),
    "bar": _bar,
    "barrier": _bar,
    "shfl": _shfl,
    "vote": _vote,
    "match": _match,
    "redux": _redux,
    "elect": _elect,
    "activemask": _plain("activemask"),
    **dict.fromkeys(
        "membar fence prefetch prefetchu discard applypriority nanosleep pmevent brkpt "
        "griddepcontrol setmaxnreg".split(),
        _nothing,
    ),
}
