"""Random programs by the hundred thousand: ``python -m tests.stack.soak --count 100000``.

Each program is compiled; the stub is run as PTX text on the simulator; its outputs must
be, bit for bit, those of :mod:`tests.stack.naive`, which executes the items one by one.
With ``--ptxas`` every stub is given to ptxas as well. With ``--edits`` the programs are
random edits of each other, and compiling them is all that is asked for.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import ptxkit
from ptxkit import stack
from ptxkit.stack import Interface, Isa, Source
from ptxkit.toolchain.locate import find
from tests.stack.kernels import header, inputs_for, kernel
from tests.stack.naive import SPECIAL, Naive

INPUTS = {
    "p": "pred", "h": "b16", "i": "s32", "j": "u32", "l": "u64", "x": "f32", "y": "f32",
    "d": "f64", "e": "f16", "b": "bf16", "g": "f16x2", "c": "bf16x2",
}  # fmt: skip
#: Two of them are inputs too, in the wrong order.
OUTPUTS = {
    "q": "pred", "h2": "b16", "j": "u32", "i": "s32", "l2": "u64", "y": "f32", "x": "f32",
    "d2": "f64", "e2": "f16", "b2": "bf16", "g2": "f16x2", "c2": "bf16x2",
}  # fmt: skip


def simulated(isa: Isa) -> list[str]:
    """The listed instructions that both sides can execute."""
    _ = isa.native
    return [
        row.name
        for row in isa.instructions
        if row.name in isa.folded or row.name in SPECIAL or row.name == "lop3.b32"
    ]


def make() -> tuple[Interface, Source]:
    """The interface and the source of items of the soak."""
    isa = Isa.default()
    interface = Interface(INPUTS, OUTPUTS, isa, missing="zero")
    return interface, Source(INPUTS, isa, instructions=simulated(isa))


def compare(
    interface: Interface, programs: npt.NDArray[np.uint64], generator: np.random.Generator
) -> tuple[list[int], list[str]]:
    """The numbers of the programs whose stubs compute something else, and all stubs."""
    stubs = list(stack.compile_many(programs, interface, threads=1))
    given = inputs_for(interface, generator, len(programs))
    found = np.zeros((len(programs), len(interface.outputs), 32), np.uint64)
    module = ptxkit.parse(header(interface) + kernel(stubs, interface))
    ptxkit.load(module, device="cpu")["k"][1, 32](given, found, threads=1)
    naive = Naive(interface)
    names = [one.name for one in interface.inputs]
    wrong = []
    for number, program in enumerate(programs):
        expected = naive.run(program.tobytes(), dict(zip(names, given[number], strict=True)))
        if not all(np.array_equal(a, b) for a, b in zip(expected, found[number], strict=True)):
            wrong.append(number)
    return wrong, stubs


def refused(interface: Interface, stubs: list[str]) -> list[str]:
    """What ptxas says against the stubs, without generating code."""
    text = header(interface) + kernel(stubs, interface, bare=True) + "\n.func broken( {\n"
    tool = find("ptxas")
    assert tool is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stubs.ptx"
        path.write_text(text)
        command = [str(tool.path), "-arch", str(interface.isa.target), str(path), "-o", "/dev/null"]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    last = text.count("\n")
    lines = text.splitlines()
    return [
        f"{line} -- {lines[int(found[1]) - 1]}"
        for line in told.splitlines()
        if (found := re.search(r"line (\d+); (?:error|fatal)", line)) and int(found[1]) < last - 1
    ]


def edits(source: Source, count: int, length: int, seed: int) -> tuple[list[str], int]:
    """What is wrong with ``count`` edited programs, and how many of them reach a limit.

    Blocks that repeat within each other may well run past the limit of steps: the program
    then ends there, and its report says so.
    """
    interface = Interface(INPUTS, OUTPUTS, source.isa, missing="zero", strict=False)
    generator = np.random.default_rng(seed)
    bad: list[str] = []
    done = limited = 0
    pool = [stack.random(length, seed=seed + n, source=source) for n in range(8)]
    while done < count:
        batch = []
        for _ in range(min(200, count - done)):
            one, two = generator.integers(0, len(pool), 2)
            number = int(generator.integers(0, 1 << 60))
            if generator.random() < 0.3:
                made = stack.crossover(pool[one], pool[two], number)
            else:
                changes = int(generator.integers(1, 6))
                made = stack.mutate(pool[one], number, changes=changes, source=source)
            if len(made) > 2 * length:
                made = pool[two]
            pool[one] = made
            batch.append(made)
        stubs = stack.compile_many(batch, interface, errors="return")
        bad += [str(error) for error in stubs.errors.values()]
        limited += int((stubs.columns["limit"] != 0).sum())
        done += len(batch)
    return bad, limited


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stack.soak", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--length", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="stop after that many")
    parser.add_argument("--ptxas", action="store_true")
    parser.add_argument("--edits", action="store_true")
    options = parser.parse_args(arguments)
    _, source = make()
    begin = time.perf_counter()
    if options.edits:
        bad, limited = edits(source, options.count, options.length, options.seed)
        print("\n".join(bad[:5]), end="\n" if bad else "")
        print(
            f"{options.count} edits: {len(bad)} do not compile, {limited} reach a limit, "
            f"{time.perf_counter() - begin:.0f} s"
        )
        return bool(bad)
    jobs = [
        (options.seed * 1_000_003 + first, min(options.batch, options.count - first),
         options.length, options.ptxas)
        for first in range(0, options.count, options.batch)
    ]  # fmt: skip
    wrong = refusals = done = lines = 0
    shown = begin
    context = multiprocessing.get_context("fork")
    with context.Pool(options.workers) as pool:
        for seed, count, bad, told, emitted in pool.imap_unordered(batch, jobs):
            for number in bad:
                print(f"wrong: program {number} of {count} from the seed {seed}")
            print("\n".join(told[:5]), end="\n" if told else "")
            wrong, refusals = wrong + len(bad), refusals + len(told)
            done, lines = done + count, lines + emitted
            now = time.perf_counter()
            if now - shown > 30:
                shown = now
                print(f"{done} done, {wrong} wrong, {now - begin:.0f} s", flush=True)
            if options.seconds and now - begin > options.seconds:
                pool.terminate()
                break
    print(
        f"{done} programs of {options.length} items, {lines / max(1, done):.0f} lines a stub: "
        f"{wrong} wrong, {refusals} refused by ptxas, {time.perf_counter() - begin:.0f} s"
    )
    return wrong != 0 or refusals != 0


def batch(job: tuple[int, int, int, bool]) -> tuple[int, int, list[int], list[str], int]:
    """One batch of programs: which of them are wrong, what ptxas says, lines of all stubs."""
    seed, count, length, ptxas = job
    interface, source = made()
    programs = stack.random_many(count, length, seed, source=source)
    bad, stubs = compare(interface, programs, np.random.default_rng(seed + 1))
    told = refused(interface, stubs) if ptxas else []
    return seed, count, bad, told, sum(stub.count("\n") for stub in stubs)


@cache
def made() -> tuple[Interface, Source]:
    """The interface and the source of this process."""
    return make()


if __name__ == "__main__":
    sys.exit(main())
