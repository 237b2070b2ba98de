"""Calls, barriers, warp exchanges, votes and atomics."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.access import address_of
from ptxkit.decompiler.lift.arithmetic import Lifter, types_of, words_of
from ptxkit.decompiler.lift.context import C_TYPES, Lift, NotLiftedError
from ptxkit.syntax import Instruction, Name


def _call(name: str, *arguments: n.Expression) -> n.Evaluate:
    return n.Evaluate(n.Call(name, arguments))


def _number(node: Node) -> int | None:
    value = getattr(node, "value", None)
    return value if isinstance(value, int) else None


def _barrier(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    if "warp" in words:
        return [_call("__syncwarp", lift.read(node.operands[0], "u32"))]
    whole = node.name == "bar" or "aligned" in words
    if (
        "sync" not in words
        or not whole
        or len(node.operands) != 1
        or _number(node.operands[0]) != 0
    ):
        raise NotLiftedError(node.opcode)
    return [_call("__syncthreads")]


_FENCES = {"gl": "__threadfence", "cta": "__threadfence_block", "sys": "__threadfence_system"}


def _fence(lift: Lift, node: Instruction) -> list[n.Statement]:
    level = words_of(node)[-1]
    if node.name != "membar" or level not in _FENCES:
        raise NotLiftedError(node.opcode)
    return [_call(_FENCES[level])]


_SHUFFLES = {"bfly": "xor", "up": "up", "down": "down", "idx": ""}


def _shuffle(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    if "sync" not in words:
        raise NotLiftedError(node.opcode)
    target = node.operands[0]
    if target.kind == "Pair":
        target, inside = target.children
        if inside.kind != "Sink" and lift.webs.of(inside).uses:
            raise NotLiftedError("shfl with a predicate that is used")
    mode = next(w for w in words if w in _SHUFFLES)
    clamp = _number(node.operands[3])
    if clamp is None:
        raise NotLiftedError("shfl with a clamp that is not known")
    segment = 32 - (clamp >> 8 & 31)
    if clamp & 31 != (0 if mode == "up" else 31) or segment & (segment - 1):
        raise NotLiftedError("shfl with an odd clamp")
    _, web = lift.variable(target)
    type = "f32" if lift.type_of_web(web).is_float else "b32"
    name = "_".join(filter(None, ("__shfl", _SHUFFLES[mode], "sync")))
    arguments = [
        lift.read(node.operands[4], "u32"),
        lift.read(node.operands[1], type),
        lift.read(node.operands[2], "b32"),
    ]
    if segment != 32:
        arguments.append(n.Literal(segment, INT))
    return lift.write(target, type, n.Call(name, tuple(arguments)))


def _vote(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    mode = next((w for w in words if w in ("ballot", "any", "all")), "")
    if "sync" not in words or not mode:
        raise NotLiftedError(node.opcode)
    arguments = (lift.read(node.operands[2], "u32"), lift.read(node.operands[1], "pred"))
    value: n.Expression = n.Call(f"__{mode}_sync", arguments)
    if mode == "ballot":
        return lift.write(node.operands[0], "b32", value)
    return lift.write(node.operands[0], "pred", n.Binary("!=", value, n.Literal(0, INT)))


def _active(lift: Lift, node: Instruction) -> list[n.Statement]:
    return lift.write(node.operands[0], "b32", n.Call("__activemask"))


_ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor",
            "exch": "Exch", "cas": "CAS", "inc": "Inc", "dec": "Dec"}  # fmt: skip
_ATOMIC_TYPES = frozenset("s32 u32 b32 u64 b64 s64 f32 f64".split())


def _atomic(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    name = next((_ATOMICS[w] for w in words if w in _ATOMICS), None)
    type = types_of(words)[-1]
    orders = {"acquire", "release", "acq_rel", "sys", "cta", "cluster", "noftz", "vec"}
    if name is None or type not in _ATOMIC_TYPES or orders & set(words) - {"noftz"}:
        raise NotLiftedError(node.opcode)
    operands = list(node.operands)
    target = operands.pop(0) if node.name == "atom" else None
    space = next((w for w in words if w in ("global", "shared")), "generic")
    address = address_of(lift, operands[0], space)
    # The functions take unsigned numbers where PTX has untyped bits.
    typed = {"b32": "u32", "b64": "u64", "s64": "u64"}.get(type, type)
    values = tuple(lift.read(o, typed) for o in operands[1:])
    call = n.Call(f"@atomic{name}.{space}.{typed}", (address, *values))
    lift.types[call.function] = C_TYPES[typed]
    if target is None:
        return [n.Evaluate(call)]
    return lift.write(target, typed, call)


def _function_call(lift: Lift, node: Instruction) -> list[n.Statement]:
    operands = list(node.operands)
    results = operands.pop(0).children if operands[0].kind == "ArgumentList" else ()
    target = operands.pop(0)
    arguments = operands.pop(0).children if operands and operands[0].kind == "ArgumentList" else ()
    if not isinstance(target, Name) or target.index in lift.webs.by_name or len(results) > 1:
        raise NotLiftedError("an indirect call")
    call = n.Call(target.text, tuple(n.Name(lift.slot(a)) for a in arguments))
    if not results:
        return [n.Evaluate(call)]
    return [n.Assign(n.Name(lift.slot(results[0])), call)]


def _trap(lift: Lift, node: Instruction) -> list[n.Statement]:
    return [_call("__trap")]


LIFTERS: dict[str, Lifter] = {
    "bar": _barrier,
    "barrier": _barrier,
    "membar": _fence,
    "shfl": _shuffle,
    "vote": _vote,
    "activemask": _active,
    "atom": _atomic,
    "red": _atomic,
    "call": _function_call,
    "trap": _trap,
}
