"""What is understood and what is refused, against pyptx: the compiler's PTX, and mistakes in PTX.

The texts are the kernels of tests/kernels, compiled by NVRTC. The mistakes are made in one of ours,
and ptxas says that each is one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import ptxkit
from benchmarks.report import Bar, Row, Settings
from ptxkit.transpiler.verify import run_python

ARCHITECTURE = "sm_90"

#: What is replaced by what, to make a text that is no PTX, or PTX that makes no sense.
MISTAKES = {
    "a semicolon is missing": ("fma.rn.f32 %f4, %f1, %f2, %f3;", "fma.rn.f32 %f4, %f1, %f2, %f3"),
    "a brace is missing": ("    ret;\n}", "    ret;\n"),
    "a brace too many": ("    ret;\n}", "    ret;\n}\n}"),
    "no comma between operands": ("%f4, %f1, %f2, %f3", "%f4 %f1, %f2, %f3"),
    "an operand is missing": ("%f4, %f1, %f2, %f3", "%f4, %f1, %f2"),
    "an operand too many": ("%f4, %f1, %f2, %f3", "%f4, %f1, %f2, %f3, %f3"),
    "no such instruction": ("fma.rn.f32", "fmax.rn.f32"),
    "no such modifier": ("ld.global.f32", "ld.globl.f32"),
    "no rounding mode": ("fma.rn.f32", "fma.f32"),
    "a register that is not declared": ("%f4, %f1, %f2", "%f4, %f1, %f9"),
    "a label that is not there": ("bra DONE;", "bra DONE2;"),
    "a register of another type": ("%f4, %f1, %f2, %f3", "%f4, %f1, %rd1, %f3"),
    "a parameter that is not there": ("[a];", "[b];"),
    "two registers of one name": (".reg .pred %p;", ".reg .pred %p;\n    .reg .pred %p;"),
    "two labels of one name": ("    ret;", "DONE:\n    ret;"),
    "an instruction for newer GPUs": ("    ret;", "    wgmma.fence.sync.aligned;\n    ret;"),
    "a number that is none": ("%r4, 4;", "%r4, 4q;"),
    "an address without its end": ("[%rd4];", "[%rd4;"),
    "a guard that is no predicate": ("@%p bra", "@%r1 bra"),
    "no target": (".target sm_80\n", ""),
    "a comment without its end": ("    ret;", "    /* ret;"),
}
TEXT = """\
.version 7.8
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [n];
    setp.ge.u32 %p, %r4, %r5;
    @%p bra DONE;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.param.f32 %f1, [a];
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows; pyptx's where it is installed."""
    from tests.kernels import suite

    kernels = suite() if settings.repeat > 1 else suite()[:3]
    texts = [kernel.module(ARCHITECTURE).emit() for kernel in kernels]
    note = f"{len(texts)} files of NVRTC"
    peer = pyptx()
    everything = Bar(100, on="ours")
    parse, emit = peer or (None, None)

    def share(name: str, ours: Callable[[str], bool], theirs: Callable[[str], bool] | None) -> Row:
        other = None if theirs is None else percent(theirs, texts)
        return Row(name, percent(ours, texts), "%", "pyptx", other, everything, note=note)

    yield share("files that parse", parses, parse and (lambda text: succeeds(parse, text)))
    yield share(
        "text made of the tree alone, the same bytes",
        comes_back,
        emit and (lambda text: succeeds(emit, text)),
    )
    yield from mistakes(parse)


def percent(works: Callable[[str], bool], texts: list[str]) -> float:
    """The share of texts for which it works."""
    return 100 * sum(works(text) for text in texts) / len(texts)


def parses(text: str) -> bool:
    """Whether ptxkit reads a text and finds nothing wrong with it."""
    return not [found for found in ptxkit.check(text) if found.severity == "error"]


def comes_back(text: str) -> bool:
    """Through Python, which holds no copy of the text."""
    return bool(run_python(ptxkit.to_python(text, sugar=False)).ptx() == text)


def succeeds(work: Callable[[str], bool], text: str) -> bool:
    """Whether the peer does it; an error of its is no."""
    try:
        return work(text)
    except Exception:  # its errors have no common base
        return False


def pyptx() -> tuple[Callable[[str], bool], Callable[[str], bool]] | None:
    """Whether pyptx reads a text, and whether it writes it again from its tree."""
    try:
        parser: Any = importlib.import_module("pyptx.parser")
        emitter: Any = importlib.import_module("pyptx.emitter.emitter")
    except ImportError:
        return None

    def parse(text: str) -> bool:
        parser.parse(text)
        return True

    def emit(text: str) -> bool:
        # The module keeps the text that it was read from, and gives that back.
        module = replace(parser.parse(text), raw_source=None)
        return bool(emitter.emit(module) == text)

    return parse, emit


def mistakes(parse: Callable[[str], bool] | None) -> Iterator[Row]:
    """How many are refused."""
    assert parses(TEXT)
    texts = []
    for name, (before, after) in MISTAKES.items():
        wrong = TEXT.replace(before, after, 1)
        assert wrong != TEXT, name
        try:
            ptxkit.assemble(wrong, "sm_80", cache=False)
        except ptxkit.PtxkitError:
            texts.append(wrong)
    ours = percent(refused, texts)
    other = None if parse is None else percent(lambda text: not succeeds(parse, text), texts)
    note = f"{len(texts)} texts that ptxas refuses"
    yield Row(
        "mistakes that are refused", ours, "%", "pyptx", other, Bar(100, on="ours"), note=note
    )


def refused(text: str) -> bool:
    """Whether ptxkit says that something is wrong."""
    try:
        return not parses(text)
    except ptxkit.PtxSyntaxError:
        return True
