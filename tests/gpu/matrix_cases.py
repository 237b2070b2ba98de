"""Kernels that run one matrix instruction on many tiles, one warp a tile.

The same kernels run on a GPU (``record_matrices.py`` keeps what it gives) and on the
simulator.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.gpu.matrix_inputs import FORMATS, KINDS, LANES, MEMORY, inputs, memory, row_offsets

from ptxkit.isa.actuals import Actual
from ptxkit.isa.registry import table
from ptxkit.isa.targets import Target, Version
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.isa.variants import Variant, combinations, render

TARGET, VERSION = "sm_90a", "8.8"
_ROOTS = "mma wmma ldmatrix stmatrix movmatrix".split()
_TYPES = frozenset([*FORMATS, "s8", "u8", "s4", "u4", "b1", "s32"])


@dataclass(frozen=True, slots=True)
class MatrixCase:
    """An instruction, its registers and what they hold, and how it uses memory."""

    name: str
    text: str
    leaves: list[list[object]]  # name, bits, content, role; roles d, a, b, c, e
    memory: str = ""  # "", "shared", "generic", "global"
    writes: bool = False  # the memory is the result
    declarations: list[str] = field(default_factory=list)


def _names(text: str) -> list[str]:
    return re.findall(r"[a-z]+\d+", text)


def _width(actual: Actual) -> int:
    return int(SCALAR_TYPES[actual.type].width)


def _contents(variant: Variant) -> dict[str, str]:
    """What the operands d, a, b and c of a product hold."""
    words = variant.opcode.split(".")
    types = [word for word in words if word in _TYPES]
    if words[0] == "wmma" and len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    result = dict(zip("dabc", types, strict=True))
    order = "ordered" if "sp::ordered_metadata" in words else "any"
    result["e"] = f"meta:{result['a']}:{order}"
    return result


def _product(variant: Variant) -> Iterator[tuple[str, list[list[object]], list[str]]]:
    contents = _contents(variant)
    leaves: list[list[object]] = []
    declarations = []
    texts = list(variant.texts)
    for role, text, actual in zip("dabce", variant.texts, variant.actuals, strict=False):
        elements = actual.elements if actual.kind == "vector" else (actual,)
        for name, element in zip(_names(text), elements, strict=True):
            leaves.append([name, _width(element), contents[role], role])
            declarations.append(f".reg .{element.type} {name};")
    if len(texts) > 5:
        spec = variant.form.operands[5]
        low, high = (spec.bounds or (0, 0))[:2]
        for selector in range(low, high + 1):
            yield (
                f"{variant.opcode} {', '.join([*texts[:5], str(selector)])};",
                leaves,
                declarations,
            )
    else:
        yield f"{variant.opcode} {', '.join(texts)};", leaves, declarations


def _stride(words: list[str]) -> int:
    """Elements between rows: the smallest, and 16 bytes of nothing."""
    shape = next(word for word in words if re.fullmatch(r"m\d+n\d+k\d+", word))
    m, n, k = (int(part) for part in re.findall(r"\d+", shape))
    rows, columns = {"a": (m, k), "b": (k, n)}.get(words[2], (m, n))
    scalar = next(word for word in words if word in _TYPES)
    bits = FORMATS[scalar][2] if scalar in FORMATS else int(scalar[1:])
    return (columns if "row" in words else rows) + 128 // bits


def _moved(variant: Variant) -> Iterator[tuple[str, list[list[object]], list[str], str, bool]]:
    """Loads and stores, with an address in %at and, for wmma, with and without a stride."""
    words = variant.opcode.split(".")
    leaves: list[list[object]] = []
    declarations = []
    texts = []
    writes = "store" in words or words[0] == "stmatrix"
    for text, actual in zip(variant.texts, variant.actuals, strict=True):
        if actual.kind == "address":
            texts.append("[%at]")
            continue
        elements = actual.elements if actual.kind == "vector" else (actual,)
        for name, element in zip(_names(text), elements, strict=True):
            leaves.append([name, _width(element), "any", "a" if writes else "d"])
            declarations.append(f".reg .{element.type} {name};")
        texts.append(text)
    shared = any(word.startswith("shared") for word in words)
    space = "shared" if shared else "global" if "global" in words else "generic"
    text = f"{variant.opcode} {', '.join(texts)}"
    yield text + ";", leaves, declarations, space, writes
    if words[0] == "wmma":
        yield f"{text}, {_stride(words)};", leaves, declarations, space, writes


@lru_cache(maxsize=1)
def cases() -> tuple[MatrixCase, ...]:
    """Every matrix instruction of the table for sm_90a."""
    version, target = Version.parse(VERSION), Target.parse(TARGET)
    found: dict[str, MatrixCase] = {}
    for row in table().values():
        if row.root.partition(".")[0] not in _ROOTS:
            continue
        for form in row.forms:
            for match in combinations(form):
                variant = render(match)
                if not all(need.met_by(version, target) for need in variant.requirements):
                    continue
                if re.search(r"m8n8k4.*\.b?[ft](16|32)\.(bf16|tf32)", variant.opcode):
                    continue  # ptxas takes these and makes no code of them
                name = f"k{len(found)}"
                words = variant.opcode.split(".")
                if words[0] == "movmatrix":
                    leaves: list[list[object]] = [["r1", 32, "any", "d"], ["r2", 32, "any", "a"]]
                    declared = [".reg .b32 r1;", ".reg .b32 r2;"]
                    found[variant.text] = MatrixCase(
                        name, variant.text, leaves, declarations=declared
                    )
                elif words[0] == "mma" or words[1] == "mma":
                    for text, leaves, declared in _product(variant):
                        name = f"k{len(found)}"
                        found[text] = MatrixCase(name, text, leaves, declarations=declared)
                else:
                    for text, leaves, declared, space, writes in _moved(variant):
                        name = f"k{len(found)}"
                        found[text] = MatrixCase(name, text, leaves, space, writes, declared)
    return tuple(found.values())


def kernel_text(case: MatrixCase) -> str:
    """A kernel: a block of one warp is a tile.

    It takes the registers, a tile's memory, an offset for each lane, and where results go.
    """
    lines = [
        f".visible .entry {case.name}(.param .u64 source, .param .u64 memory,"
        " .param .u64 offsets, .param .u64 result, .param .u64 written)", "{",
        f".shared .align 128 .b8 tile[{MEMORY}];",
        ".reg .b64 %in, %out, %mem, %off, %back, %at, %one, %two; .reg .b32 %lane, %block, %n, "
        "%word, %s; .reg .pred %more;",
        *case.declarations,
        "ld.param.u64 %in, [source]; ld.param.u64 %mem, [memory]; ld.param.u64 %off, [offsets];",
        "ld.param.u64 %out, [result]; ld.param.u64 %back, [written];",
        "mov.u32 %lane, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %n, %nctaid.x;",
        "mad.lo.u32 %word, %block, 32, %lane; mul.wide.u32 %one, %word, 8;",
        "add.u64 %in, %in, %one; add.u64 %out, %out, %one; add.u64 %off, %off, %one;",
        f"mul.wide.u32 %one, %block, {MEMORY}; add.u64 %mem, %mem, %one;",
        "add.u64 %back, %back, %one;",
        "mul.wide.u32 %two, %n, 256;",  # bytes from one leaf to the next
    ]  # fmt: skip
    if case.memory:
        # Global memory is used where it lies, in the copy that is handed back.
        lines += [
            "mov.u32 %s, tile; mul.wide.u32 %one, %lane, 4; add.u64 %mem, %mem, %one;",
            "add.u64 %back, %back, %one; mad.lo.u32 %s, %lane, 4, %s;",
        ]
        for at in range(0, MEMORY, 128):
            lines.append(f"ld.global.b32 %word, [%mem+{at}]; st.global.b32 [%back+{at}], %word;")
            lines.append(f"st.shared.b32 [%s+{at}], %word;")
        lines += ["bar.sync 0;", "sub.u64 %back, %back, %one;", "mov.u32 %word, tile;"]
        generic_is_shared = case.text.startswith(("ldmatrix", "stmatrix"))
        lines.append("ld.global.u64 %one, [%off];")
        if case.memory == "shared" or (case.memory == "generic" and generic_is_shared):
            lines.append("cvt.u64.u32 %at, %word;")
            if case.memory == "generic":
                lines.append("cvta.shared.u64 %at, %at;")
        else:
            lines.append("mov.u64 %at, %back;")
        lines.append("add.u64 %at, %at, %one;")
    for name, width, _, role in case.leaves:
        if role != "d":
            lines.append(f"ld.global.b{width} {name}, [%in]; add.u64 %in, %in, %two;")
    lines.append(case.text)
    for name, width, _, role in case.leaves:
        if role == "d":
            lines.append(f"st.global.b{width} [%out], {name}; add.u64 %out, %out, %two;")
    if case.writes and "shared" in (case.memory, "shared" if "matrix" in case.text else ""):
        lines += ["bar.sync 0;", "mul.wide.u32 %one, %lane, 4; add.u64 %back, %back, %one;"]
        for at in range(0, MEMORY, 128):
            lines.append(f"ld.shared.b32 %word, [%s+{at}]; st.global.b32 [%back+{at}], %word;")
    return "\n".join([*lines, "ret;", "}"]) + "\n"


def module_text(group: tuple[MatrixCase, ...]) -> str:
    """A module with the kernels of several cases."""
    head = f".version {VERSION}\n.target {TARGET}\n.address_size 64\n"
    return head + "".join(kernel_text(case) for case in group)


def tile_count(case: MatrixCase) -> int:
    """How many tiles are recorded: two of every kind of floats, a dozen of integers."""
    contents = {leaf[2] for leaf in case.leaves}
    return 2 * len(KINDS) if contents & set(FORMATS) else 3 if case.memory else 12


def run(case: MatrixCase, kernel: Any, tiles: int) -> npt.NDArray[Any]:
    """What a loaded kernel gives: for every tile its registers, or its memory."""
    read = [leaf for leaf in case.leaves if leaf[3] != "d"]
    written = len(case.leaves) - len(read)
    registers = inputs(case.text, read, tiles) if read else np.zeros(1, np.uint64)
    data = memory(case.text, tiles)
    offsets = np.zeros((tiles, LANES), np.uint64)
    if case.text.startswith(("ldmatrix", "stmatrix")):
        offsets = row_offsets(case.text, tiles)
    out = np.zeros((max(1, written), tiles, LANES), np.uint64)
    back = data.copy()
    kernel[tiles, LANES](registers, data, offsets, out, back)
    return back if case.writes else np.ascontiguousarray(out.swapaxes(0, 1))


def digests(results: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """A checksum of every tile."""
    return np.array([zlib.crc32(tile.tobytes()) for tile in results], np.uint32)


def kept_whole(case: MatrixCase) -> bool:
    """Whether a recording has the results themselves: of the main products."""
    opcode = case.text.split(" ")[0]
    floats = any(leaf[2] in FORMATS for leaf in case.leaves)
    return floats and opcode.startswith("mma.sync.aligned.m16n8") and "f64" not in opcode
