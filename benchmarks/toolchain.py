"""Compiling and assembling: the cache, the engines, many at once, against NVIDIA's tools."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path

from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave
from ptxkit.syntax import Module
from ptxkit.toolchain import assemble, assemble_many, assembler, compile_cuda, locate

ARCH = "sm_90"
KERNEL = """
extern "C" __global__ void kernel{0}(float *y, const float *x, float a, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] * {0}.0f;
}}
"""
_CALLS = 1000  # of what takes microseconds, in one measurement


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    count = 64 if settings.repeat > 1 else 4
    with own_cache() as folder:
        modules = [compile_cuda(KERNEL.format(number), ARCH) for number in range(1, count + 1)]
        yield from caching(modules[0], settings)
        yield from one(modules[0], folder, settings)
        yield from many(modules, settings)


@contextmanager
def own_cache() -> Iterator[Path]:
    """A cache that the user's is not touched by."""
    before = environ.get("PTXKIT_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        environ["PTXKIT_CACHE_DIR"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del environ["PTXKIT_CACHE_DIR"]
            else:
                environ["PTXKIT_CACHE_DIR"] = before


def caching(module: Module, settings: Settings) -> Iterator[Row]:
    """A module that did not change, from memory and from disk."""

    def memory() -> None:
        for _ in range(_CALLS):
            assemble(module, ARCH)

    def disk() -> None:
        assembler._recent.clear()
        assemble(module, ARCH)

    found = interleave({"memory": memory, "disk": disk}, repeat=settings.repeat)
    microseconds = found["memory"].minimum / _CALLS * 1e6
    bar = Bar(100, on="ours")
    yield Row("cached assemble", microseconds, "us", bar=bar, higher_is_better=False)
    yield Row(
        "cached assemble, from disk", found["disk"].minimum * 1e6, "us", higher_is_better=False
    )


def one(module: Module, folder: Path, settings: Settings) -> Iterator[Row]:
    """One kernel, against the tools as a shell script would call them."""
    ptx, cuda, out = folder / "k.ptx", folder / "k.cu", folder / "out"
    ptx.write_bytes(module.emit_bytes())
    source = KERNEL.format(1)
    cuda.write_text(source)

    def tool(name: str, *words: str) -> Callable[[], object]:
        command = [str(locate.require(name).path), *words, "-o", str(out)]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    found = interleave(
        {
            "ptxas": tool("ptxas", f"-arch={ARCH}", str(ptx)),
            "ours": lambda: assemble(module, ARCH, cache=False),
            "nvjitlink": lambda: assemble(module, ARCH, cache=False, engine="nvjitlink"),
            "nvcc": tool("nvcc", "-ptx", f"-arch={ARCH}", str(cuda)),
            "nvrtc": lambda: compile_cuda(source, ARCH, cache=False),
        },
        repeat=settings.repeat,
    )
    milliseconds = {name: sample.minimum * 1e3 for name, sample in found.items()}
    for name, ours, peer in (
        ("assemble", "ours", "ptxas"),
        ("assemble with nvJitLink", "nvjitlink", "ptxas"),
        ("compile_cuda", "nvrtc", "nvcc"),
    ):
        yield Row(
            name, milliseconds[ours], "ms", peer, milliseconds[peer], higher_is_better=False
        )  # fmt: skip


def many(modules: list[Module], settings: Settings) -> Iterator[Row]:
    """Many kernels: one by one, and joined into one module."""
    found = interleave(
        {
            "each": lambda: assemble_many(modules, ARCH, cache=False),
            "batch": lambda: assemble_many(modules, ARCH, cache=False, batch=True),
        },
        repeat=min(settings.repeat, 3),
    )
    each, batch = (found[name].minimum / len(modules) * 1e3 for name in ("each", "batch"))
    note = f"{len(modules)} kernels"
    yield Row(
        "assemble_many, batch", batch, "ms a kernel", "one by one", each,
        higher_is_better=False, note=note,
    )  # fmt: skip
