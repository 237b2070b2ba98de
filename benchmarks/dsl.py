"""Writing PTX from Python, and turning PTX into that Python.

All of it runs in this process and is timed by its CPU time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import ptxkit
from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave
from ptxkit.dsl import Module, ptx, reg
from ptxkit.transpiler.passes import PASSES

_WHOLE = 1_000_000  # sizes from here on are meant
_INSTRUCTIONS = 8000


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    count = _INSTRUCTIONS if settings.size >= _WHOLE else 400
    yield tracing(count, settings)
    yield from transpiling(count, settings)


def our_trace(count: int) -> str:
    """The text of a kernel of ``count`` instructions."""
    module = Module(version="8.0", target="sm_80")

    def kernel() -> None:
        r, f = reg.b32("%r<40>"), reg.f32("%f<40>")
        for _ in range(count // 2):
            ptx.add.s32(r[1], r[2], r[3])
            ptx.fma.rn.f32(f[2], f[1], f[3], f[4])

    module.kernel(kernel)
    return module.ptx()


def pyptx_trace(count: int) -> Callable[[], Any] | None:
    """The same kernel in pyptx, made anew each time; None where it is not installed."""
    try:
        peer = importlib.import_module("pyptx")
        types = importlib.import_module("pyptx.types")
    except ImportError:
        return None

    def kernel() -> None:
        r, f = peer.reg.array(types.b32, 40), peer.reg.array(types.f32, 40)
        for _ in range(count // 2):
            peer.ptx.inst.add.s32(r[1], r[2], r[3])
            peer.ptx.inst.fma.rn.f32(f[2], f[1], f[3], f[4])

    return lambda: peer.kernel(arch="sm_80")(kernel).ptx()


def tracing(count: int, settings: Settings) -> Row:
    """Microseconds an instruction, from the Python function to the text."""
    works: dict[str, Callable[[], object]] = {"ours": partial(our_trace, count)}
    peer = pyptx_trace(count)
    if peer is not None:
        works["pyptx"] = peer
    found = interleave(works, repeat=settings.repeat, clock=process_time)
    each = {name: sample.minimum / count * 1e6 for name, sample in found.items()}
    return Row(
        "trace and emit",
        each["ours"],
        "us an instruction",
        "pyptx",
        each.get("pyptx"),
        Bar(5.0, "ours"),
        higher_is_better=False,
        note=f"{count:,} instructions; ours checked against the table",
    )


def straight_line(count: int) -> str:
    """A function of ``count`` different instructions."""
    lines = "".join(
        f"\tmad.lo.s32 \t%r{n % 90}, %r{n * 7 % 89}, %r{n * 3 % 83}, {n};\n" for n in range(count)
    )
    head = ".version 8.0\n.target sm_80\n.address_size 64\n\n"
    return f"{head}.visible .entry k()\n{{\n\t.reg .b32 \t%r<99>;\n\n\n{lines}\tret;\n\n}}\n"


def transpiling(count: int, settings: Settings) -> Iterator[Row]:
    """Seconds to Python and back, run and compared; pyptx does not compare."""
    text = straight_line(count)
    module = ptxkit.parse(text)
    try:
        peer = importlib.import_module("pyptx.codegen.codegen").ptx_to_python
    except ImportError:
        peer = None
    for sugar in (False, True) if PASSES else (False,):
        works: dict[str, Callable[[], object]] = {
            "ours": partial(ptxkit.to_python, module, sugar=sugar)
        }
        if peer is not None:
            works["pyptx"] = partial(peer, text, sugar=sugar)
        found = interleave(works, repeat=min(3, settings.repeat), clock=process_time)
        yield Row(
            "transpile and prove" + (" with sugar" if sugar else ""),
            found["ours"].minimum,
            "s",
            "pyptx",
            found["pyptx"].minimum if peer is not None else None,
            Bar(2.0, "ours"),
            higher_is_better=False,
            note=f"{count:,} instructions in one function",
        )
