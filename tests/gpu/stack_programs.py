"""Random stack programs on a GPU: ``python -m tests.gpu.stack_programs --seconds 100``.

Workers make programs, what they must compute (:mod:`tests.stack.naive`) and, with ptxas,
their cubins; this process launches them and compares bit for bit. Instructions whose
results PTX leaves open are left out: approximations, divisions by zero, and float
operations without a rounding mode, which ptxas may fuse.

The optimiser of ptxas is not faithful to the bit: it takes ``max(x, x)`` for ``x`` though
x may be NaN, ``abs(x) >= 0`` for true, and rounds to nearest in ``cvt.rzi`` after a
conversion between halves. A program that differs is therefore assembled once more with
``-O0``; it is wrong if it differs then, too. The sign of a NaN is not compared.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.stack.kernels import header, inputs_for, kernel
from tests.stack.naive import Naive
from tests.stack.soak import INPUTS, make, simulated

from ptxkit import stack
from ptxkit.stack import Interface, Source

Words = npt.NDArray[np.uint64]
_FUSED = ("add", "sub", "mul", "mad")


def well_defined(name: str) -> bool:
    """Whether an instruction has one result that every GPU must give."""
    row = stack.Isa.default()[name]
    first = name.partition(".")[0]
    floats = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"} & {*row.arguments, *row.results}
    rounded = any(f".{mode}." in name for mode in ("rn", "rz", "rm", "rp"))
    if first in ("div", "rem", "fns"):
        return False
    if "tf32" in name:  # ptxas shifts 64 bits by it as if it were small, even with -O0
        return False
    return (row.exact or row.effect == "ordered" or not row.arguments) and not (
        first in _FUSED and floats and not rounded
    )


def source() -> tuple[Interface, Source]:
    interface, _ = make()
    names = [name for name in simulated(interface.isa) if well_defined(name)]
    return interface, Source(INPUTS, interface.isa, instructions=names)


_made: tuple[Interface, Source] | None = None


def prepare(job: tuple[int, int, int]) -> tuple[int, bytes, Words, Words, str]:
    """A cubin of many programs, their inputs and what they must give."""
    global _made
    seed, count, length = job
    _made = _made or source()
    interface, items = _made
    programs = stack.random_many(count, length, seed, source=items)
    stubs = list(stack.compile_many(programs, interface, threads=1))
    given = inputs_for(interface, np.random.default_rng(seed + 1), count)
    naive = Naive(interface)
    names = [one.name for one in interface.inputs]
    expected = np.array([
        naive.run(program.tobytes(), dict(zip(names, row, strict=True)))
        for program, row in zip(programs, given, strict=True)
    ])  # fmt: skip
    data, told = assemble(stubs, interface, "-O3")
    return seed, data, given, expected, told


def assemble(stubs: list[str], interface: Interface, level: str) -> tuple[bytes, str]:
    """The cubin of a kernel with the stubs, or nothing and what ptxas says."""
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        text.write_text(header(interface) + kernel(stubs, interface))
        command = ["ptxas", level, "-arch", "sm_90", str(text), "-o", str(cubin)]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        return cubin.read_bytes() if told.returncode == 0 else b"", told.stderr


def plainly(job: tuple[int, int, int, int]) -> bytes:
    """The cubin of one program without optimisation."""
    global _made
    seed, count, length, number = job
    _made = _made or source()
    interface, items = _made
    program = stack.random_many(count, length, seed, source=items)[number]
    return assemble([stack.compile(program, interface)], interface, "-O0")[0]


#: Where a value of a stack is not a number: the bits of its exponent, and of its fraction.
_EXPONENTS = {"f16": (0x7C00, 0x3FF), "bf16": (0x7F80, 0x7F), "f32": (0x7F800000, 0x7FFFFF),
              "f64": (0x7FF << 52, (1 << 52) - 1)}  # fmt: skip


def canonical(interface: Interface, values: Words) -> Words:
    """Outputs with one NaN for all, (programs, outputs, lanes)."""
    made = values.copy()
    for place, one in enumerate(interface.outputs):
        if one.stack in _EXPONENTS:
            exponent, fraction = (np.uint64(bits) for bits in _EXPONENTS[one.stack])
            column = made[:, place]
            column[((column & exponent) == exponent) & ((column & fraction) != 0)] = (
                exponent + np.uint64(1)
            )
    return made


class Gpu:
    """Launches cubins."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call(driver.cuInit(0))
        device = self.call(driver.cuDeviceGet(0))
        context = self.call(driver.cuDevicePrimaryCtxRetain(device))
        self.call(driver.cuCtxSetCurrent(context))

    def call(self, result: tuple[Any, ...]) -> Any:
        if int(result[0]) != 0:
            raise RuntimeError(str(result[0]))
        return result[1] if len(result) > 1 else None

    def run(self, cubin: bytes, given: Words, shape: tuple[int, ...]) -> Words:
        driver, call = self.driver, self.call
        module = call(driver.cuModuleLoadData(cubin))
        function = call(driver.cuModuleGetFunction(module, b"k"))
        out = np.zeros(shape, np.uint64)
        places = [call(driver.cuMemAlloc(array.nbytes)) for array in (given, out)]
        for place, array in zip(places, (given, out), strict=True):
            call(driver.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes))
        values = [np.array([int(place)], np.uint64) for place in places]
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        call(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, pointers.ctypes.data, 0))
        call(driver.cuMemcpyDtoH(out.ctypes.data, places[1], out.nbytes))
        for place in places:
            call(driver.cuMemFree(place))
        call(driver.cuModuleUnload(module))
        return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--length", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=None, help="where what differs is kept")
    options = parser.parse_args()
    begin = time.perf_counter()
    tried = wrong = refused = unfaithful = 0
    interface, _ = source()
    again: list[tuple[Any, int, int, Words, Words, Words]] = []
    kept: list[tuple[int, int, bool, Words, Words, Words, Words]] = []
    first = options.seed * 10_000_000

    def jobs() -> Any:
        for number in range(options.most // options.batch):
            if time.perf_counter() - begin > options.seconds:
                return
            yield first + number * 7, options.batch, options.length

    fork = multiprocessing.get_context("fork")
    # A pool takes the next task after all of an imap: what is done again has its own.
    with fork.Pool(os.cpu_count()) as pool, fork.Pool(2) as second:
        gpu = Gpu()
        for seed, cubin, given, expected, told in pool.imap_unordered(prepare, jobs()):
            if time.perf_counter() - begin > options.seconds:
                break
            tried += len(given)
            if not cubin:
                refused += len(given)
                print("refused:", seed, told[:300])
                continue
            found = gpu.run(cubin, given, expected.shape)
            differs = canonical(interface, found) != canonical(interface, expected)
            for number in np.flatnonzero(differs.any(axis=(1, 2))):
                job = seed, len(given), options.length, int(number)
                again.append((second.apply_async(plainly, (job,)), seed, int(number),
                              given[number], expected[number], found[number]))  # fmt: skip
        pool.terminate()
        for task, seed, number, one, wanted, before in again:
            unfaithful += 1
            plain = gpu.run(task.get(), one, (1, *wanted.shape))
            differs = canonical(interface, plain) != canonical(interface, wanted[None])
            kept.append((seed, number, bool(differs.any()), one, wanted, before, plain[0]))
            if differs.any():
                wrong += 1
                print(f"wrong: seed {seed}, program {number}")
    print(
        f"{tried} programs on the GPU: {wrong} wrong, {unfaithful - wrong} that only "
        f"ptxas -O3 changes, {refused} refused by ptxas, {time.perf_counter() - begin:.0f} s"
    )
    if options.out is not None and kept:
        np.savez_compressed(
            options.out,
            **dict(zip(("seed", "number", "wrong", "given", "expected", "found", "plain"),
                       map(np.array, zip(*kept, strict=True)), strict=True)),
        )  # fmt: skip
    return wrong != 0 or refused != 0


if __name__ == "__main__":
    sys.exit(main())
