"""Loads, stores and atomics: each thread has a cell of 32 bytes, and no one else touches it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tests.gpu.variants import Leaf, edges, variant_leaves

from ptxkit.isa.registry import table
from ptxkit.isa.targets import Target, Version
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.isa.variants import PREFIXES, Variant, combinations, render

#: Bytes of a thread's cell.
CELL = 32
_WIDER = {8: ("b16", "b32", "b64"), 16: ("b32", "b64"), 32: ("b64",)}


@dataclass(frozen=True, slots=True)
class MemoryCase:
    """One instruction on the cell of a thread."""

    text: str
    leaves: tuple[Leaf, ...]
    address: str  # the register that holds the cell's address
    policy: str  # the register that holds a cache policy, or ""
    space: str
    content: str  # type of the memory
    count: int  # threads

    @property
    def writes(self) -> bool:
        """Whether the cell may change."""
        return not self.text.startswith("ld")


def cases(version: Version, target: Target) -> Iterator[MemoryCase]:
    """Every form of ld, st, atom and red for a target, thinned; registers wider than the type."""
    seen: set[str] = set()
    for root in ("ld", "ldu", "st", "atom", "red"):
        atomic = root in ("atom", "red")
        for form in table()[root].forms:
            for match in combinations(form, 40 if atomic else 16):
                variant = render(match)
                met = all(need.met_by(version, target) for need in variant.requirements)
                case = _case(variant, 96 if atomic else 32) if met else None
                if case is not None and case.text not in seen:
                    seen.add(case.text)
                    yield case
    for scalar in "b8 u8 s8 b16 u16 s16 b32 u32 s32".split():
        for register in _WIDER[SCALAR_TYPES[scalar].width]:
            name = f"{PREFIXES[register]}1"
            for space in ("global", "shared", "local"):
                load = Leaf(name, register, scalar, True, False)
                yield MemoryCase(
                    f"ld.{space}.{scalar} {name}, [d2];", (load,), "d2", "", space, scalar, 32
                )
                store = Leaf(name, register, register, False, True)
                yield MemoryCase(
                    f"st.{space}.{scalar} [d2], {name};", (store,), "d2", "", space, scalar, 32
                )


def _case(variant: Variant, count: int) -> MemoryCase | None:
    binding = variant.match.binding
    space = binding.get("space", "global" if ".global" in variant.opcode else "")
    if space.startswith(("const", "param")) or variant.opcode.startswith(("ld.mmio", "st.mmio")):
        return None
    if variant.opcode.startswith("st.volatile") and ".v8." in variant.opcode:
        return None  # not in the ISA for narrow types; ptxas takes it, and stores something else
    leaves = list(variant_leaves(variant))
    policy = leaves.pop().name if "hint" in binding else ""
    address = next(text for text in variant.texts if text.startswith("["))[1:-1]
    content = variant.opcode.rpartition(".")[2]
    return MemoryCase(
        variant.text, tuple(leaves), address, policy, space.partition("::")[0], content, count
    )


def _rows(leaf: Leaf) -> int:
    return 2 if leaf.register == "b128" else 1


def result_words(case: MemoryCase) -> int:
    """Words of the result: the written registers, then the cells where they may change."""
    written = sum(_rows(leaf) for leaf in case.leaves if leaf.written)
    return case.count * (written + (CELL // 8 if case.writes else 0))


def kernel(name: str, case: MemoryCase) -> str:
    """A kernel that fills registers and cell, runs the instruction and stores what it changed."""
    count = case.count
    lines = [
        f".visible .entry {name}(.param .u64 source, .param .u64 result)", "{",
        f".shared .align 32 .b8 cells_{name}[{CELL * count}];",
        f".local .align 32 .b8 own_{name}[{CELL}];",
        ".reg .b64 %in, %out, %lane, %cell, %from, %to, %low, %high;", ".reg .b32 %i;",
        f".reg .b64 {case.address};",
        *([f".reg .b64 {case.policy};"] if case.policy else []),
    ]  # fmt: skip
    lines += [f".reg .{leaf.register} {leaf.name};" for leaf in case.leaves]
    lines += [
        "ld.param.u64 %in, [source];", "ld.param.u64 %out, [result];", "mov.u32 %i, %tid.x;",
        "mul.wide.u32 %lane, %i, 8;", f"mul.wide.u32 %cell, %i, {CELL};",
    ]  # fmt: skip
    sources = sum(_rows(leaf) for leaf in case.leaves)
    results = sum(_rows(leaf) for leaf in case.leaves if leaf.written)
    lines += [
        "add.u64 %from, %in, %cell;", f"add.u64 %from, %from, {sources * count * 8};",
        "add.u64 %to, %out, %cell;", f"add.u64 %to, %to, {results * count * 8};",
        "add.u64 %in, %in, %lane;", "add.u64 %out, %out, %lane;",
    ]  # fmt: skip
    own = case.space in ("shared", "local")
    if own:
        symbol = f"cells_{name}" if case.space == "shared" else f"own_{name}"
        lines.append(f"mov.u64 {case.address}, {symbol};")
        if case.space == "shared":
            lines.append(f"add.u64 {case.address}, {case.address}, %cell;")
    else:
        lines.append(f"mov.u64 {case.address}, {'%to' if case.writes else '%from'};")
    if own or case.writes:
        for at in range(0, CELL, 8):
            lines += [
                f"ld.global.u64 %low, [%from+{at}];",
                f"st{'.' + case.space if case.space else ''}.u64 [{case.address}+{at}], %low;",
            ]
    if case.policy:
        lines.append(f"createpolicy.fractional.L2::evict_first.b64 {case.policy};")
    lines += _load_registers(case)
    lines.append(case.text)
    lines += _store_registers(case)
    if own and case.writes:
        for at in range(0, CELL, 8):
            lines += [
                f"ld.{case.space}.u64 %low, [{case.address}+{at}];",
                f"st.global.u64 [%to+{at}], %low;",
            ]
    return "\n".join([*lines, "ret;", "}"]) + "\n"


def _load_registers(case: MemoryCase) -> Iterator[str]:
    row = 0
    for leaf in case.leaves:
        at = f"[%in+{row * case.count * 8}]"
        if leaf.register == "b128":
            yield f"ld.global.u64 %low, {at};"
            yield f"ld.global.u64 %high, [%in+{(row + 1) * case.count * 8}];"
            yield f"mov.b128 {leaf.name}, {{%low, %high}};"
        else:
            yield f"ld.global.b{SCALAR_TYPES[leaf.register].width} {leaf.name}, {at};"
        row += _rows(leaf)


def _store_registers(case: MemoryCase) -> Iterator[str]:
    row = 0
    for leaf in case.leaves:
        if not leaf.written:
            continue
        at = f"[%out+{row * case.count * 8}]"
        if leaf.register == "b128":
            yield f"mov.b128 {{%low, %high}}, {leaf.name};"
            yield f"st.global.u64 {at}, %low;"
            yield f"st.global.u64 [%out+{(row + 1) * case.count * 8}], %high;"
        else:
            yield f"st.global.b{SCALAR_TYPES[leaf.register].width} {at}, {leaf.name};"
        row += _rows(leaf)


def source(case: MemoryCase) -> npt.NDArray[np.uint64]:
    """The registers' values, then the cells: edge cases and random bits, half and half."""
    seed = int.from_bytes(case.text.encode()[:96].ljust(96, b"\0"), "little") % (1 << 63)
    generator = np.random.Generator(np.random.Philox(seed))
    rows = []
    for leaf in case.leaves:
        rows += [_values(generator, leaf, case.count) for _ in range(_rows(leaf))]
    width = min(8, SCALAR_TYPES[case.content].width // 8)
    memory = Leaf("", case.content, case.content, False, True)
    elements = _values(generator, memory, case.count * CELL // width)
    cells = elements.astype(f"<u{width}").view(np.uint64)
    if ".cas." in case.text:  # so that some comparisons succeed
        half = case.count // 2
        step = CELL // 8
        for row in range(_rows(case.leaves[1])):
            expected = rows[_rows(case.leaves[0]) + row]
            mask = np.uint64((1 << 8 * width) - 1) if width < 8 else np.uint64(2**64 - 1)
            at = slice(row, half * step, step)
            cells[at] = (cells[at] & ~mask) | (expected[:half] & mask)
    return np.concatenate([*rows, cells])


def _values(generator: np.random.Generator, leaf: Leaf, count: int) -> npt.NDArray[np.uint64]:
    special = generator.choice(edges(leaf), count)
    random = generator.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
    if leaf.content in ("f32", "f64"):
        tame = generator.standard_normal(count) * 10.0 ** generator.integers(-3, 6, count)
        random = (
            tame.astype(np.float32).view(np.uint32).astype(np.uint64)
            if leaf.content == "f32"
            else tame.view(np.uint64)
        )
    return np.where(generator.integers(0, 2, count) == 0, special, random)
