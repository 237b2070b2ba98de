"""Templates and rendering, against mm-ptx with the same kernel in its own notation."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave
from benchmarks.toolchain import own_cache
from ptxkit.inject import Template, include_dir
from ptxkit.toolchain import compile_cuda

ARCH = "sm_90"
PEER = "mm-ptx"
SITES = 576
KERNEL = """{header}
extern "C" __global__ void k(const float *a, const float *b, float *c)
{{
    float acc = 0, z;
    {body}
    c[threadIdx.x] = acc;
}}
"""
COMMENT = """
    /* PTX_INJECT func
        in  f32 x = a[{0}]
        in  f32 y = b[{0}]
        mod f32 acc
        out f32 z
    */
    acc += z;"""
MACRO = """
    PTX_INJECT("func", PTX_IN(F32, x, a[{0}]), PTX_IN(F32, y, b[{0}]), PTX_MOD(F32, acc),
               PTX_OUT(F32, z));
    acc += z;"""
STUB = """\t{{
\t.reg .f32 t;
\tadd.f32 t, {x}, {y};
\tfma.rn.f32 {acc}, t, t, {acc};
\tmov.f32 {z}, t;
\t}}
"""


def kernel(site: str, count: int, header: str = "") -> str:
    """The kernel with sites in one notation."""
    body = "".join(site.format(number) for number in range(count))
    return KERNEL.format(header=header, body=body)


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    with own_cache():
        for count in (1, SITES):
            yield from one_template(count, settings)
        yield from compiling(settings)
        yield from searching(settings)


def one_template(count: int, settings: Settings) -> Iterator[Row]:
    """From PTX to a template, and from a template to PTX."""
    calls = 2000 if count == 1 else 50
    if settings.repeat == 1:
        calls = 2
    ours = Ours(count)
    works: dict[str, Callable[[], object]] = {
        "template": ours.make,
        "render": ours.render,
        "many": ours.render_many,
    }
    peer = Peer.find(count)
    if peer is not None:
        works |= {"peer template": peer.make, "peer render": peer.render}
        own = Template.from_ptx(peer.ptx)
        stubs = {"func": peer.stub}
        own.render(stubs)
        works |= {
            "same template": lambda: Template.from_ptx(peer.ptx),
            "same render": lambda: own.render(stubs),
        }
    found = interleave(
        {name: repeated(work, calls) for name, work in works.items()},
        repeat=settings.repeat,
        clock=process_time,  # all of them work in this process
    )
    times = {name: sample.minimum / calls * 1e6 for name, sample in found.items()}
    sites = "1 site" if count == 1 else f"{count} sites"
    note = f"{len(ours.ptx):,} bytes" + (f"; theirs {len(peer.ptx):,}" if peer else "")
    yield Row(
        f"template from PTX, {sites}", times["template"], "us", PEER, times.get("peer template"),
        bar=Bar(300, on="ours") if count > 1 else None, higher_is_better=False, note=note,
    )  # fmt: skip
    size = len(ours.render())
    note = f"{size:,} bytes" + (f"; theirs {len(peer.render()):,}" if peer else "")
    yield Row(
        f"render, {sites}", times["render"], "us", PEER, times.get("peer render"),
        bar=Bar(12 if count > 1 else 1, on="ours"), higher_is_better=False, note=note,
    )  # fmt: skip
    if peer is not None:
        note = "PTX with the peer's markers"
        yield Row(f"template from the same PTX, {sites}", times["same template"], "us", PEER,
                  times["peer template"], higher_is_better=False, note=note)  # fmt: skip
        yield Row(f"render the same PTX, {sites}", times["same render"], "us", PEER,
                  times["peer render"], higher_is_better=False, note=note)  # fmt: skip
    in_c = peer.in_c(calls, settings.repeat) if peer is not None else None
    for name, ours_time, theirs in zip(
        ("template from the same PTX", "render the same PTX"),
        (times.get("same template"), times.get("same render")), in_c or (), strict=False,
    ):  # fmt: skip
        if ours_time is not None:
            yield Row(f"{name}, {sites}", ours_time, "us", "mm-ptx in C", theirs,
                      higher_is_better=False, note="ours from Python")  # fmt: skip
    yield Row(
        f"render_many, {sites}", times["many"] / Ours.SETS, "us a set", PEER,
        times.get("peer render"), higher_is_better=False, note=f"{Ours.SETS} sets",
    )  # fmt: skip


class Ours:
    """This toolkit, called as its users call it."""

    SETS = 16

    def __init__(self, count: int) -> None:
        self.ptx = Template.from_cuda(kernel(COMMENT, count), ARCH).text
        self._template = self.make()
        arguments = self._template.sites["func"].args
        self._stub = STUB.format(**{name: one.register for name, one in arguments.items()})
        self._sets = [{"func": f"{self._stub}// {number}\n"} for number in range(self.SETS)]

    def make(self) -> Template:
        """A template from PTX."""
        return Template.from_ptx(self.ptx)

    def render(self) -> str:
        """One rendering."""
        return self._template.render({"func": self._stub})

    def render_many(self) -> list[str]:
        """Many, on one thread."""
        return self._template.render_many(self._sets, threads=1)


class Peer:
    """mm-ptx, which has its macros in a header of its own."""

    def __init__(self, count: int, library: Any, folder: str) -> None:
        header = "#include <ptx_inject.h>"
        module = compile_cuda(kernel(MACRO, count, header), ARCH, include_dirs=[folder])
        self.ptx = module.emit()
        self._library = library
        self._folder = folder
        self._template = self.make()
        names = {arg.name: f"%{arg.reg}" for arg in self._template.injects[0].args}
        self.stub = STUB.format(**names)

    @staticmethod
    def find(count: int) -> Peer | None:
        """The peer, where it is installed."""
        try:
            library = importlib.import_module("mm_ptx.ptx_inject")
            folder = importlib.import_module("mm_ptx").get_include_dir()
        except ImportError:
            return None
        return Peer(count, library, folder)

    def make(self) -> Any:
        """A template from PTX."""
        return self._library.PTXInject(self.ptx)

    def render(self) -> str:
        """One rendering."""
        text: str = self._template.render_ptx({"func": self.stub})
        return text

    def in_c(self, calls: int, repeat: int) -> tuple[float, float] | None:
        """Microseconds of a template and a rendering with its C header; None without cc."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "k.ptx").write_text(self.ptx)
            (folder / "stub.ptx").write_text(self.stub)
            source = Path(__file__).with_name("mm_ptx_inject.c")
            program = folder / "program"
            command = [compiler, "-O3", "-w", f"-I{self._folder}", source, "-o", program]
            subprocess.run(command, check=True)
            arguments = [program, folder / "k.ptx", folder / "stub.ptx", str(calls), str(repeat)]
            done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        template, render = map(float, done.stdout.split())
        return template, render


def repeated(work: Callable[[], object], count: int) -> Callable[[], None]:
    """Work that takes microseconds, often enough to be timed."""

    def run() -> None:
        for _ in range(count):
            work()

    return run


def compiling(settings: Settings) -> Iterator[Row]:
    """From annotated CUDA to a template. The compiler takes almost all of it."""
    by_hand = (
        '\n    asm volatile("// %0 %1 %2 %3" : "+f"(acc), "=f"(z) : "f"(a[{0}]), "f"(b[{0}]));'
        "\n    acc += z;"
    )
    works: dict[str, Callable[[], object]] = {
        "comment": lambda: Template.from_cuda(kernel(COMMENT, 4), ARCH, cache=False),
        "by hand": lambda: compile_cuda(kernel(by_hand, 4), ARCH, cache=False),
        "macro": lambda: Template.from_cuda(
            kernel(MACRO, 4, "#include <ptxkit_inject.cuh>"), ARCH, cache=False,
            include_dirs=[include_dir()],
        ),
    }  # fmt: skip
    if Peer.find(1) is not None:
        folder = importlib.import_module("mm_ptx").get_include_dir()
        library = importlib.import_module("mm_ptx.ptx_inject")
        source = kernel(MACRO, 4, "#include <ptx_inject.h>")
        works["peer"] = lambda: library.PTXInject(
            compile_cuda(source, ARCH, include_dirs=[folder], cache=False).emit()
        )
    found = interleave(works, repeat=settings.repeat)
    times = {name: sample.minimum * 1e3 for name, sample in found.items()}
    yield Row(
        "CUDA to template, comment form", times["comment"], "ms", "NVRTC on asm by hand",
        times["by hand"], bar=Bar(0.95), higher_is_better=False,
    )  # fmt: skip
    yield Row(
        "CUDA to template, macro form", times["macro"], "ms", PEER, times.get("peer"),
        higher_is_better=False,
    )  # fmt: skip


def searching(settings: Settings) -> Iterator[Row]:
    """New stubs all the time: the check of each, and cubins one by one and together."""
    template = Template.from_cuda(kernel(COMMENT, 4), ARCH)
    count = 64 if settings.repeat > 1 else 4
    number = 0

    names = {name: one.register for name, one in template.sites["func"].args.items()}
    text = STUB.format(**names)

    def fresh() -> list[dict[str, str]]:
        nonlocal number
        number += count
        constants = (f"0f{0x3F800000 + number + n:08X}" for n in range(count))
        z = names["z"]
        return [{"func": f"{text}\tmul.f32 {z}, {z}, {constant};"} for constant in constants]

    def assembled(batch: bool) -> None:
        template.assemble_many(fresh(), ARCH, cache=False, batch=batch, check=False)

    found = interleave(
        {
            "checked": lambda: template.render_many(fresh()),
            "unchecked": lambda: template.render_many(fresh(), check=False),
            "batch": partial(assembled, True),
            "each": partial(assembled, False),
        },
        repeat=min(settings.repeat, 3),
    )
    times = {name: sample.minimum / count for name, sample in found.items()}
    yield Row(
        "a new stub, checked and rendered", times["checked"] * 1e6, "us", "unchecked",
        times["unchecked"] * 1e6, higher_is_better=False, note="5 instructions, 4 sites",
    )  # fmt: skip
    yield Row(
        "assemble_many", times["batch"] * 1e3, "ms a variant", "one by one", times["each"] * 1e3,
        higher_is_better=False, note=f"{count} variants",
    )  # fmt: skip
