"""What observers of a run must know of each instruction, read off its text.

The operations of the simulator need none of this: which registers an instruction reads and
writes, whether an access is atomic or ordered, which lanes take part.
"""

from __future__ import annotations

from ptxkit._native import FACTS, NO_SLOT
from ptxkit.isa import registers
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.function_state import FunctionState, Register
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.syntax import Instruction, Name

#: flags, bytes of an element, slot of the participants, places of registers read and written
Row = tuple[int, int, int, list[tuple[int, int]], list[tuple[int, int]]]

_BY_NAME = {
    "atom": ("ATOMIC",), "red": ("ATOMIC",), "mbarrier": ("ATOMIC",), "fence": ("FENCE",),
    "membar": ("FENCE",), "bra": ("BRANCH",), "brx": ("BRANCH",), "st": ("PLAIN_STORE",),
    "bar": ("ALIGNED_BARRIER",),
}  # fmt: skip
_BY_WORD = {
    "volatile": ("STRONG",), "relaxed": ("STRONG",), "mmio": ("STRONG",),
    "acquire": ("STRONG", "ACQUIRE"), "release": ("STRONG", "RELEASE"),
    "acq_rel": ("STRONG", "ACQUIRE", "RELEASE"),
    "test_wait": ("ACQUIRE",), "try_wait": ("ACQUIRE",), "arrive": ("RELEASE",),
    "arrive_drop": ("RELEASE",), "async": ("UNORDERED",), "aligned": ("ALIGNED_BARRIER",),
}  # fmt: skip
#: Words that only say something in instructions of these names.
_WORD_NAMES = {
    "test_wait": ("mbarrier",), "try_wait": ("mbarrier",), "arrive": ("mbarrier",),
    "arrive_drop": ("mbarrier",), "async": ("cp", "st", "red"), "aligned": ("barrier",),
    "acquire": ("ld", "atom"), "release": ("st", "atom", "red"), "acq_rel": ("atom", "red"),
}  # fmt: skip
_WITH_MEMBERS = frozenset(("shfl", "vote", "match", "redux", "elect", "bar"))


def flags_of(instruction: Instruction) -> int:
    """The facts about order and kind, as bits.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { atom.acquire.shared.add.u32 a, [b], 1; }")
    >>> flags_of(m["f"].instructions[0]) == FACTS["ATOMIC"] | FACTS["STRONG"] | FACTS["ACQUIRE"]
    True
    """
    words = [modifier[1:] for modifier in instruction.modifiers]
    name = instruction.name
    flags = set(_BY_NAME.get(name, ()))
    for word in words:
        if name in _WORD_NAMES.get(word, (name,)):
            flags.update(_BY_WORD.get(word, ()))
    if name == "bar" and "warp" in words:
        flags = {"WARP_BARRIER"}
    if _may_be_undefined(name, words):
        flags.add("MAY_BE_UNDEFINED")
    if name == "fence" and "proxy" in words:
        flags.discard("FENCE")
    return sum(FACTS[flag] for flag in flags)


def _may_be_undefined(name: str, words: list[str]) -> bool:
    # Arguments and results of calls pass through local memory, some of them in the simulator's
    # own functions; an mbarrier is written by its first use.
    passes = name in ("call", "ret") or (name == "ld" and words[:1] == ["param"])
    return passes or (name == "mbarrier" and "init" in words)


def rows_of(lowering: Lowering, index: int) -> list[Row]:
    """The facts of each operation of a function."""
    state = lowering.state = lowering.functions[index]
    tree = lowering.module.walk()
    nodes = lowering.program.nodes(index)
    rows: list[Row] = []
    for at, number in enumerate(nodes):
        first = at == 0 or nodes[at - 1] != number
        last = at + 1 == len(nodes) or nodes[at + 1] != number
        flags = FACTS["FIRST"] * first | FACTS["LAST"] * last
        node = tree[number - 1]
        if not isinstance(node, Instruction):
            # A function begins by bringing its parameters into their registers.
            given = [state.registers.get((one.index, one.name)) for one in state.node.parameters]
            brought = [_place(one) for one in given if one is not None]
            rows.append((flags | FACTS["MAY_BE_UNDEFINED"], 0, NO_SLOT, [], brought))
            continue
        used, defined = registers_of(lowering, state, node)
        rows.append(
            (
                flags | flags_of(node),
                _element(node),
                _members(lowering, node),
                [_place(one) for _, one in used] if first else [],
                [_place(one) for _, one in defined] if last else [],
            )
        )
    return rows


def registers_of(
    lowering: Lowering, state: FunctionState, instruction: Instruction
) -> tuple[list[tuple[str, Register]], list[tuple[str, Register]]]:
    """The registers an instruction reads and writes, by name, with where they lie."""
    found = registers(instruction)
    return _known(lowering, state, found.used), _known(lowering, state, found.defined)


def _known(
    lowering: Lowering, state: FunctionState, names: tuple[Name, ...]
) -> list[tuple[str, Register]]:
    known: dict[str, Register] = {}
    for name in names:
        declaration = lowering.scopes.resolve(name)
        if declaration is not None:
            register = state.registers.get((declaration.node.index, name.identifier))
            if register is not None:
                known[name.identifier] = register
    return list(known.items())


def _place(register: Register) -> tuple[int, int]:
    return register.slot, 0 if register.type == "pred" else register.bytes


def _element(instruction: Instruction) -> int:
    types = [m[1:] for m in instruction.modifiers if m[1:] in SCALAR_TYPES]
    return scalar_bytes(types[-1]) if types else 0


def _members(lowering: Lowering, node: Instruction) -> int:
    """The slot of the mask of participants of a warp operation."""
    words = [modifier[1:] for modifier in node.modifiers]
    if node.name not in _WITH_MEMBERS or "sync" not in words:
        return NO_SLOT
    if node.name == "bar" and "warp" not in words:
        return NO_SLOT
    return lowering.source(node.operands[-1], "b32")
