"""Kernels that run one variant of one instruction on many inputs, edge cases among them.

The same kernels run on a GPU (``record.py`` keeps what it gives) and on the simulator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ptxkit.isa.actuals import Actual
from ptxkit.isa.forms import OperandSpec
from ptxkit.isa.operands import plan
from ptxkit.isa.registry import table
from ptxkit.isa.targets import Target, Version
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.isa.variants import PREFIXES, Variant, combinations, render

#: Threads of a kernel: one input each.
COUNT = 512
TARGET, VERSION = "sm_90a", "8.8"
#: Instructions about addresses and handles, which differ from device to device.
EXCLUDED = frozenset("cvta isspacep mapa getctarank istypep createpolicy".split())

_FLOAT32 = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
    0xFFC12345, 0x7F800001, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F000000,
    0x3FC00000, 0x40200000, 0x4B000001, 0x4F000000, 0x5F000000, 0xCF000001, 0x33800000,
    0x42B17218, 0xC2CE8ED0,
)  # fmt: skip
_FLOAT64 = (
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8123456789ABC,
    0x7FF0000000000001, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
    0x7FEFFFFFFFFFFFFF, 0x3FE0000000000000, 0x4004000000000000, 0x41DFFFFFFFE00000,
    0x41F0000000000000, 0x43E0000000000000, 0x43F0000000000000, 0xC1E0000000200000,
    0x36A0000000000000, 0x3E60000000000000, 0x47EFFFFFF0000000,
)  # fmt: skip
_FLOAT16 = (
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0x0001, 0x83FF,
    0x0400, 0x7BFF, 0x3800, 0x4100, 0x6400, 0x3E00, 0x0200, 0x3555, 0x1400,
)  # fmt: skip
_BFLOAT16 = (
    0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0x0001, 0x807F,
    0x0080, 0x7F7F, 0x3F00, 0x4020, 0x4B00, 0x3EAB,
)  # fmt: skip
_INTEGERS = (
    0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000,
    0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF,
    0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0x12345678, 0xDEADBEEFCAFEBABE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaf:
    """One register of the instruction: its name, the register's type, what it holds."""

    name: str
    register: str
    content: str
    written: bool
    read: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A variant as a kernel."""

    name: str
    text: str
    leaves: tuple[Leaf, ...]

    @property
    def outputs(self) -> tuple[Leaf, ...]:
        """The registers that are stored."""
        return tuple(leaf for leaf in self.leaves if leaf.written)


def variant_leaves(variant: Variant) -> Iterator[Leaf]:
    specs = plan(variant.match, len(variant.actuals)) or ()
    for spec, text, actual in zip(specs, variant.texts, variant.actuals, strict=True):
        yield from _walk(variant, spec, text, actual)


def _walk(variant: Variant, spec: OperandSpec, text: str, actual: Actual) -> Iterator[Leaf]:
    if spec.kind == "pair":
        texts = text.split("|")
        elements = actual.elements if actual.kind == "pair" else (actual,)
        for part, one, inner in zip(spec.parts, texts, elements, strict=False):
            yield from _walk(variant, part, one, inner)
        return
    names = re.findall(r"[a-z]+\d+", text)
    elements = actual.elements if actual.kind == "vector" else (actual,)
    for name, element in zip(names, elements, strict=False):
        if element.kind == "register":
            content = variant.match.operand_type(spec.type) or element.type
            written = spec.access in ("write", "update")
            yield Leaf(name, element.type, content, written, spec.access != "write")


def kernel_text(case_name: str, instruction: str, leaves: tuple[Leaf, ...]) -> str:
    """A kernel that loads every register, runs the instruction and stores what it wrote."""
    lines = [
        f".visible .entry {case_name}(.param .u64 source, .param .u64 result)", "{",
        ".reg .b64 %address, %in, %out, %lane;", ".reg .b32 %i, %word;",
    ]  # fmt: skip
    for leaf in {leaf.name: leaf for leaf in leaves}.values():
        lines.append(f".reg .{leaf.register} {leaf.name};")
    lines += [
        "ld.param.u64 %in, [source];", "ld.param.u64 %out, [result];", "mov.u32 %i, %tid.x;",
        "mul.wide.u32 %lane, %i, 8;", "add.u64 %in, %in, %lane;", "add.u64 %out, %out, %lane;",
    ]  # fmt: skip
    for number, leaf in enumerate(leaves):
        at = f"[%in+{number * COUNT * 8}]"
        if leaf.register == "pred":
            lines += [f"ld.global.b32 %word, {at};", f"setp.ne.b32 {leaf.name}, %word, 0;"]
        else:
            lines.append(f"ld.global.b{SCALAR_TYPES[leaf.register].width} {leaf.name}, {at};")
    lines.append(instruction)
    for number, leaf in enumerate(one for one in leaves if one.written):
        at = f"[%out+{number * COUNT * 8}]"
        if leaf.register == "pred":
            lines += [f"selp.b32 %word, 1, 0, {leaf.name};", f"st.global.b32 {at}, %word;"]
        else:
            lines.append(f"st.global.b{SCALAR_TYPES[leaf.register].width} {at}, {leaf.name};")
    return "\n".join([*lines, "ret;", "}"]) + "\n"


#: Chains through the carry flag: what it carries shows only in a later instruction.
_CHAINS = (
    ("add.cc", "addc"), ("add.cc", "addc.cc", "addc"), ("sub.cc", "subc"),
    ("sub.cc", "subc.cc", "subc"), ("add.cc", "subc"), ("sub.cc", "addc"),
    ("mad.lo.cc", "madc.hi"), ("mad.hi.cc", "madc.lo"), ("mad.lo.cc", "madc.hi.cc", "addc"),
    ("mad.hi.cc", "madc.lo.cc", "subc"), ("add.cc", "madc.lo.cc", "addc"),
    ("sub.cc", "madc.hi.cc", "addc"),
)  # fmt: skip


def _chain(opcodes: tuple[str, ...], scalar: str) -> tuple[str, tuple[Leaf, ...]]:
    """The instructions of a chain, and their registers: one result and its sources each."""
    leaves: list[Leaf] = []
    lines = []
    for opcode in opcodes:
        count = 4 if opcode.startswith("mad") else 3
        first = len(leaves) + 1
        names = [f"{PREFIXES[scalar]}{first + number}" for number in range(count)]
        leaves += [
            Leaf(name, scalar, scalar, name is names[0], name is not names[0]) for name in names
        ]
        lines.append(f"{opcode}.{scalar} {', '.join(names)};")
    return " ".join(lines), tuple(leaves)


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Every variant of the table that is a function of its registers, for sm_90a; the chains."""
    version, target = Version.parse(VERSION), Target.parse(TARGET)
    found: dict[str, Case] = {}
    for row in table().values():
        if row.effects or row.root.partition(".")[0] in EXCLUDED:
            continue
        for form in row.forms:
            for match in combinations(form, 48):
                variant = render(match)
                if not all(need.met_by(version, target) for need in variant.requirements):
                    continue
                leaves = tuple(variant_leaves(variant))
                simple = leaves and all(leaf.register in PREFIXES for leaf in leaves)
                wide = any(leaf.register in ("b128", "b8") for leaf in leaves)
                if not simple or wide or not any(leaf.written for leaf in leaves):
                    continue
                if "[" in variant.text or "LAB" in variant.text:
                    continue
                name = f"k{len(found)}"
                found.setdefault(variant.text, Case(name, variant.text, leaves))
    for opcodes in _CHAINS:
        for scalar in ("u32", "s32", "u64", "s64"):
            text, chained = _chain(opcodes, scalar)
            found[text] = Case(f"k{len(found)}", text, chained)
    return tuple(found.values())


def edges(leaf: Leaf) -> npt.NDArray[np.uint64]:
    """Interesting values of a register's content."""
    content = leaf.content
    if leaf.register == "pred":
        values: tuple[int, ...] = (0, 1)
    elif content in ("f32", "tf32"):
        values = _FLOAT32
    elif content == "f64":
        values = _FLOAT64
    elif content == "f16":
        values = _FLOAT16
    elif content == "bf16":
        values = _BFLOAT16
    elif content in ("f16x2", "bf16x2"):
        halves = _FLOAT16 if content == "f16x2" else _BFLOAT16
        pairs = zip(halves, halves[3:] + halves[:3], strict=True)
        values = tuple(a | b << 16 for a, b in pairs)
    elif content == "f32x2":
        pairs = zip(_FLOAT32, _FLOAT32[5:] + _FLOAT32[:5], strict=True)
        values = tuple(a | b << 32 for a, b in pairs)
    else:
        values = _INTEGERS
    return np.array(values, dtype=np.uint64)


def inputs(case: Case) -> npt.NDArray[np.uint64]:
    """One value a thread for every register: edges against edges first, then random bits."""
    seed = int.from_bytes(case.text.encode()[:64].ljust(64, b"\0"), "little") % (1 << 63)
    generator = np.random.Generator(np.random.Philox(seed))
    rows = []
    stride = 1
    for leaf in case.leaves:
        values = edges(leaf)
        index = (np.arange(COUNT) // stride + 7 * len(rows)) % len(values)
        row = values[index]
        random = generator.integers(0, 1 << 64, COUNT, dtype=np.uint64, endpoint=False)
        if leaf.content in ("f32", "f64") and leaf.register != "pred":
            scaled = generator.standard_normal(COUNT) * 10.0 ** generator.integers(-3, 6, COUNT)
            if leaf.content == "f32":
                tame = scaled.astype(np.float32).view(np.uint32).astype(np.uint64)
            else:
                tame = scaled.view(np.uint64)
            random = np.where(np.arange(COUNT) % 2 == 0, tame, random)
        tail = slice(COUNT * 3 // 4, COUNT)
        row[tail] = random[tail] & 1 if leaf.register == "pred" else random[tail]
        rows.append(row)
        stride *= len(values)
        stride = stride if stride < COUNT // 2 else 1
    return np.array(rows, dtype=np.uint64)


def module_text(group: tuple[Case, ...]) -> str:
    """A module with the kernels of several cases."""
    head = f".version {VERSION}\n.target {TARGET}\n.address_size 64\n"
    return head + "".join(kernel_text(c.name, c.text, c.leaves) for c in group)


def width_mask(leaf: Leaf) -> int:
    """The bits of a stored register that count."""
    return 0xFFFFFFFF if leaf.register == "pred" else (1 << SCALAR_TYPES[leaf.register].width) - 1
