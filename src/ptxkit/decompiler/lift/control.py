"""Calls, barriers, warp exchanges and votes."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.decompiler.lift.access import current
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, types_of, words_of
from ptxkit.decompiler.lift.ranges import largest
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, raw, var
from ptxkit.syntax import Instruction, Name


def _barrier(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    if "warp" in words:
        mask = lift.read(node.operands[0], "u32")
        return lift.effect(lift.collective(Intrinsic("__syncwarp", ("u32",), ""), mask))
    if "cluster" in words:
        raise NotLiftedError(node.opcode)
    if node.name == "barrier" and "aligned" not in words:
        return _unaligned(lift, node, words)
    if "red" in words:
        return _counting(lift, node, words)
    if "sync" not in words or len(node.operands) != 1 or lift.constant(node.operands[0]) != 0:
        raise NotLiftedError(node.opcode)
    return lift.effect(lift.collective(Intrinsic("__syncthreads", (), "")))


def _unaligned(lift: Lift, node: Instruction, words: list[str]) -> None:
    """A barrier that threads of a warp may reach apart, as cooperative groups wait."""
    if [word for word in words if word != "cta"] != ["sync"]:
        raise NotLiftedError(node.opcode)
    values = [lift.read(operand, "u32") for operand in node.operands]
    name = "__barrier_sync_count" if len(values) == 2 else "__barrier_sync"
    return lift.effect(lift.collective(Intrinsic(name, ("u32",) * len(values), ""), *values))


def _counting(lift: Lift, node: Instruction, words: list[str]) -> None:
    """A barrier that counts conditions."""
    mode = next((w for w in words if w in ("popc", "and", "or")), "")
    if len(node.operands) != 3 or lift.constant(node.operands[1]) != 0:
        raise NotLiftedError(node.opcode)
    condition = make("zext", 32, lift.read(node.operands[2], "pred"))
    name = {"popc": "count"}.get(mode, mode)
    call = lift.collective(Intrinsic(f"__syncthreads_{name}", ("s32",), "s32"), condition)
    if mode == "popc":
        return lift.write(node.operands[0], "u32", call)
    made = lift.fresh(32, "s32")
    lift.steps.append(Step("set", [made], [call], line=lift.line))
    lift.write(node.operands[0], "pred", make("ne", 1, var(made), const(0, 32)))
    return None


_FENCES = {"gl": "__threadfence", "cta": "__threadfence_block", "sys": "__threadfence_system"}


def _fence(lift: Lift, node: Instruction) -> None:
    level = words_of(node)[-1]
    name = _FENCES.get(level) if node.name == "membar" else None
    if not name:
        raise NotLiftedError(node.opcode)
    return lift.effect(lift.collective(Intrinsic(name, (), "")))


_SHUFFLES = {"bfly": "xor", "up": "up", "down": "down", "idx": ""}


def _shuffle(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    if "sync" not in words:
        raise NotLiftedError(node.opcode)
    target = node.operands[0]
    if target.kind == "Pair":
        target, inside = target.children
        if inside.kind != "Sink" and lift.is_read(inside):
            raise NotLiftedError("shfl with a predicate that is used")
    mode = next(w for w in words if w in _SHUFFLES)
    segment = _segment(lift, node.operands[3], 0 if mode == "up" else 31)
    name = "_".join(filter(None, ("__shfl", _SHUFFLES[mode], "sync")))
    distance = "s32" if mode in ("bfly", "idx") else "u32"
    takes: tuple[str, ...] = ("u32", "b32", distance)
    arguments = [
        lift.read(node.operands[4], "u32"),
        lift.read(node.operands[1], "b32"),
        lift.read(node.operands[2], "b32"),
    ]
    if segment is not None:
        takes = (*takes, "s32")
        arguments.append(segment)
    lift.write(target, "b32", lift.collective(Intrinsic(name, takes, "b32"), *arguments))


def _segment(lift: Lift, node: Node, last: int) -> Value | None:
    """How many lanes exchange among themselves; None for the whole warp.

    The compiler makes ``(32 - width) << 8 | last`` of a width, in one of a few spellings.
    """
    clamp = lift.constant(node)
    if clamp is not None:
        lanes = 32 - (clamp >> 8 & 31)
        if clamp & 31 != last or lanes & (lanes - 1):
            raise NotLiftedError("shfl with an odd clamp")
        return const(lanes, 32) if lanes != 32 else None
    op, value, number = _with_number(lift, lift.read(node, "b32"))
    if last and op == "or" and number == last:
        op, value, number = _with_number(lift, value)
        last = 0
    width = _by_256(lift, value) if (op, number) == ("sub", 8192 + last) else None
    if width is None:
        raise NotLiftedError("shfl with a clamp that is no width")
    return width


def _with_number(lift: Lift, value: Value) -> tuple[str, Value, int]:
    """A number combined with a value, or one minus it; without a name for any other value."""
    value = lift.behind(value)
    if len(value.args) == 2:
        first, second = (lift.behind(part) for part in value.args)
        if second.op == "const" and value.op != "sub":
            return value.op, value.args[0], second.data
        if first.op == "const" and value.op != "shl":
            return value.op, value.args[1], first.data
    return "", value, 0


def _by_256(lift: Lift, value: Value) -> Value | None:
    """What a value is 256 times of: ``w << 8``, or ``x << 3 & ~255`` for ``x >> 5 << 8``."""
    op, inner, number = _with_number(lift, value)
    if (op, number) == ("shl", 8):
        return inner
    if (op, number) != ("and", 0xFFFFFF00):
        return None
    op, x, number = _with_number(lift, inner)
    if op == "shl" and number < 8 and largest(lift.behind(x)) << number <= 0xFFFFFFFF:
        return make("shr.u", 32, x, const(8 - number, 32))
    return make("shr.u", 32, value, const(8, 32))


def _vote(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    mode = next((w for w in words if w in ("ballot", "any", "all", "uni")), "")
    if "sync" not in words or mode in ("", "uni"):
        raise NotLiftedError(node.opcode)
    gives = "u32" if mode == "ballot" else "s32"
    condition = make("zext", 32, lift.read(node.operands[1], "pred"))
    call = lift.collective(
        Intrinsic(f"__{mode}_sync", ("u32", "s32"), gives),
        lift.read(node.operands[2], "u32"),
        condition,
    )
    if mode == "ballot":
        return lift.write(node.operands[0], "b32", call)
    made = lift.fresh(32, "s32")
    lift.steps.append(Step("set", [made], [call], line=lift.line))
    lift.write(node.operands[0], "pred", make("ne", 1, var(made), const(0, 32)))
    return None


def _active(lift: Lift, node: Instruction) -> None:
    call = lift.collective(Intrinsic("__activemask", (), "u32"))
    lift.write(node.operands[0], "b32", call)


def _match(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    if "any" not in words:
        raise NotLiftedError(node.opcode)
    type = types_of(words)[-1]
    call = Intrinsic("__match_any_sync", ("u32", f"u{type[1:]}"), "u32")
    values = lift.read(node.operands[2], "u32"), lift.read(node.operands[1], type)
    lift.write(node.operands[0], "b32", lift.collective(call, *values))


def _redux(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    mode = next((w for w in words if w in ("add", "min", "max", "and", "or", "xor")), "")
    type = types_of(words)[-1]
    if not mode or type not in ("s32", "u32", "b32") or "abs" in words:
        raise NotLiftedError(node.opcode)
    typed = "u32" if type == "b32" else type
    call = Intrinsic(f"__reduce_{mode}_sync", ("u32", typed), typed)
    values = lift.read(node.operands[2], "u32"), lift.read(node.operands[1], type)
    lift.write(node.operands[0], typed, lift.collective(call, *values))


# ---- calls -------------------------------------------------------------------------------


def _function_call(lift: Lift, node: Instruction) -> None:
    operands = list(node.operands)
    results = operands.pop(0).children if operands[0].kind == "ArgumentList" else ()
    target = operands.pop(0)
    arguments = operands.pop(0).children if operands and operands[0].kind == "ArgumentList" else ()
    if len(results) > 1 or not isinstance(target, Name):
        raise NotLiftedError("a call with several results")
    values = [_argument(lift, a) for a in arguments]
    result = lift.slot(results[0]) if results else None
    pointer = lift.versions.reads.get(target.index)
    callee: tuple[str, object]
    if pointer is not None:
        if not operands:
            raise NotLiftedError("an indirect call without a prototype")
        callee = ("indirect", tuple(_c_slot(lift, a) for a in (*results, *arguments)))
        values.insert(0, var(pointer))
    else:
        callee = ("direct", target.text)
    width = 0 if result is None else result.width
    call = raw("function", width, tuple(values), (*callee, result, lift.number()))
    if result is None:
        return lift.effect(call)
    version = lift.slot_versions[result] = Definition(result, lift.block)
    result.definitions += 1
    lift.steps.append(Step("set", [version], [call], line=lift.line))
    return None


def _c_slot(lift: Lift, node: Node) -> str:
    slot = lift.slot(node)
    return "" if slot.declared == "struct" else slot.declared


def _argument(lift: Lift, node: Node) -> Value:
    if isinstance(node, Name) and node.index not in lift.versions.reads:
        slot: Variable = lift.slot(node)
        if slot.declared == "struct":
            return raw("whole", slot.width, (), slot)
        return current(lift, slot)
    raise NotLiftedError("an argument that is no parameter")


def _trap(lift: Lift, node: Instruction) -> None:
    lift.effect(lift.collective(Intrinsic("__trap", (), "")))


def _breakpoint(lift: Lift, node: Instruction) -> None:
    lift.effect(lift.collective(Intrinsic("__brkpt", (), "")))


def _sleep(lift: Lift, node: Instruction) -> None:
    value = lift.read(node.operands[0], "u32")
    lift.effect(lift.collective(Intrinsic("__nanosleep", ("u32",), ""), value))


LIFTERS: dict[str, Lifter] = {
    "bar": _barrier,
    "barrier": _barrier,
    "membar": _fence,
    "shfl": _shuffle,
    "vote": _vote,
    "activemask": _active,
    "match": _match,
    "redux": _redux,
    "call": _function_call,
    "trap": _trap,
    "brkpt": _breakpoint,
    "nanosleep": _sleep,
}
