"""Random programs by the hundred thousand: ``python -m tests.stack.soak --count 100000``.

Each program is compiled; the stub is run as PTX text on the simulator; its outputs must
be, bit for bit, those of :mod:`tests.stack.naive`, which executes the items one by one.
With ``--ptxas`` every stub is given to ptxas as well. With ``--edits`` the programs are
random edits of each other, and compiling them is all that is asked for.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
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


def edits(interface: Interface, source: Source, count: int, length: int, seed: int) -> int:
    """How many of ``count`` edited programs do not compile."""
    generator = np.random.default_rng(seed)
    bad, done = 0, 0
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
        bad += len(stack.compile_many(batch, interface, errors="return").errors)
        done += len(batch)
    return bad


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stack.soak", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--length", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--ptxas", action="store_true")
    parser.add_argument("--edits", action="store_true")
    options = parser.parse_args(arguments)
    interface, source = make()
    begin = time.perf_counter()
    if options.edits:
        bad = edits(interface, source, options.count, options.length, options.seed)
        print(f"{options.count} edits, {bad} did not compile, "
              f"{time.perf_counter() - begin:.0f} s")  # fmt: skip
        return bad != 0
    wrong = refusals = done = emitted = 0
    pending: list[str] = []
    shown = begin
    while done < options.count:
        count = min(options.batch, options.count - done)
        seed = options.seed * 1_000_003 + done
        programs = stack.random_many(count, options.length, seed, source=source)
        bad, stubs = compare(interface, programs, np.random.default_rng(seed + 1))
        for number in bad:
            print(f"wrong: --seed {options.seed}, program {done + number}")
        wrong += len(bad)
        emitted += sum(stub.count("\n") for stub in stubs)
        done += count
        if options.ptxas:
            pending += stubs
        if len(pending) >= 2000 or (pending and done >= options.count):
            told = refused(interface, pending)
            refusals += len(told)
            print("\n".join(told[:5]), end="\n" if told else "")
            pending = []
        if time.perf_counter() - shown > 30:
            shown = time.perf_counter()
            print(f"{done} done, {wrong} wrong, {shown - begin:.0f} s", flush=True)
    print(
        f"{done} programs of {options.length} items, {emitted / max(1, done):.0f} lines a stub: "
        f"{wrong} wrong, {refusals} refused by ptxas, {time.perf_counter() - begin:.0f} s"
    )
    return wrong != 0 or refusals != 0


if __name__ == "__main__":
    sys.exit(main())
