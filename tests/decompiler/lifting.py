"""Lift, compile again, run both, compare bits: what the tests of the lifter do.

``python -m tests.decompiler.lifting [ARCH] [NAME ...]`` does it for the kernels of
tests/run/kernels and says what fails, ``... suite ARCH [NAME ...]`` for those of tests/kernels;
given files of PTX it lifts and compiles those.
"""

from __future__ import annotations

import copy
import sys
import time
import traceback
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tests.run.kernels import TOPICS
from tests.run.kernels.case import Case

import ptxkit
from ptxkit import cuda
from ptxkit.decompiler.lift.lifter import Options, lift_module


def lifted_text(module: ptxkit.Module, options: Options | None = None) -> str:
    """The C++ of a module."""
    return cuda.print_module(lift_module(module, options or Options()))


def compiled_again(text: str, arch: str) -> ptxkit.Module:
    """The PTX of lifted C++; its warnings are nobody's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ptxkit.compile_cuda(text, arch=arch)


def differences(case: Case, one: Any, two: Any) -> list[str]:
    """Run a case on two loaded modules; what differs afterwards."""
    results = []
    for loaded in (one, two):
        arguments = copy.deepcopy(case.make())
        case.run(loaded, *arguments)
        results.append([a for a in arguments if isinstance(a, np.ndarray)])
    found = []
    # What only the order of threads decides is not compared: the reference has no say there.
    count = len(case.expected(*case.make()))
    for number, (a, b) in enumerate(zip(*(r[-count:] for r in results), strict=True)):
        if a.tobytes() != b.tobytes():
            wrong = int((a.view(np.uint8) != b.view(np.uint8)).sum())
            found.append(f"array {number}: {wrong} of {a.nbytes} bytes")
    return found


def _said(error: Exception) -> str:
    """The errors in a message, without the warnings."""
    text = str(error)
    at = text.find("error[")
    return f"{type(error).__name__} {text[max(at - 20, 0) :][:400]}"


def _suite(arch: str | None, names: list[str]) -> None:
    totals: Counter[str] = Counter()
    for topic in TOPICS:
        found = import_module(f"tests.run.kernels.{topic}")
        target = arch or getattr(found, "ARCH", "sm_80")
        if names and topic not in names:
            continue
        try:
            module = ptxkit.compile_cuda(found.SOURCE, arch=target)
            begin = time.process_time()
            text = lifted_text(module)
            took = time.process_time() - begin
            Path(f"/tmp/lifted.{topic}.cu").write_text(text)
            again = compiled_again(text, target)
        except Exception as error:
            totals["not compiled"] += 1
            print(f"{topic}: {_said(error)}")
            if not isinstance(error, ptxkit.toolchain.CompilerError):
                traceback.print_exc(limit=-4)
            continue
        count = sum(len(f.instructions) for f in module.functions if f.has_body)
        print(f"{topic}: {count} instructions, {took:.2f} s, asm {text.count('asm')}, "
              f"goto {text.count('goto')}")  # fmt: skip
        one, two = (ptxkit.load(m, device="cpu") for m in (module, again))
        for case in found.CASES:
            try:
                wrong = differences(case, one, two)
            except Exception as error:
                wrong = [f"{type(error).__name__}: {str(error)[:200]}"]
            totals["wrong" if wrong else "equal"] += 1
            if wrong:
                print(f"  {topic}.{case.name}: {'; '.join(wrong)}")
    print(dict(totals))


def compare_launches(kernel: Any, arch: str, again: ptxkit.Module) -> list[str]:
    """Run a kernel of the suite and its recompiled form on every set-up; what differs."""
    module = kernel.module(arch)
    entry = kernel.entry(arch)
    found = []
    loaded = [ptxkit.load(m, device="cpu") for m in (module, again)]
    for size in kernel.sizes:
        results = []
        for one in loaded:
            setup = kernel.launch(size)
            setup.run(one, entry)
            results.append([a for a in setup.arguments if isinstance(a, np.ndarray)])
        setup = kernel.launch(size)
        count = len(kernel.reference(*setup.arguments))
        for a, b in zip(*(r[-count:] for r in results), strict=True):
            if a.tobytes() != b.tobytes():
                found.append(f"size {size}")
    return found


def _kernels(arch: str, names: list[str], roll: bool = False) -> None:
    """The suite of tests/kernels."""
    from tests.kernels import suite

    from ptxkit.decompiler.verify.identity import same_ptx

    totals: Counter[str] = Counter()
    lines = []
    for kernel in suite():
        if names and kernel.name not in names and kernel.theme not in names:
            continue
        totals["all"] += 1
        text = ""
        try:
            module = kernel.module(arch)
            begin = time.process_time()
            text = lifted_text(module, Options(roll=roll))
            took = time.process_time() - begin
            Path(f"/tmp/lifted.{kernel.name}.cu").write_text(text)
            again = compiled_again(text, arch)
            totals["compiles"] += 1
            same = same_ptx(module, again, kernel.entry(arch))
            wrong = compare_launches(kernel, arch, again)
        except Exception as error:
            print(f"{kernel.name}: {_said(error)}")
            if not isinstance(error, ptxkit.toolchain.CompilerError):
                traceback.print_exc(limit=-3)
            continue
        ratio = text.count("\n") / max(1, sum(1 for x in kernel.source.splitlines() if x.strip()))
        lines.append(ratio)
        totals["E3"] += not wrong
        totals["E1"] += same
        totals["goto"] += "goto" in text
        totals["asm"] += text.count("asm")
        totals["ms"] += int(1000 * took)
        totals["instructions"] += sum(len(f.instructions) for f in module.functions if f.has_body)
        says = " ".join(
            [
                "E1" if same else "--",
                "WRONG " + str(wrong) if wrong else "",
                "goto" if "goto" in text else "",
                "asm" if "asm" in text else "",
            ]
        )
        print(f"{kernel.name:28} {ratio:5.2f} {took:.3f} {says}")
    print(dict(totals), "lines", float(np.median(lines or [0])))


def _files(paths: list[Path], out: Path | None = None) -> None:
    totals: Counter[str] = Counter()
    for path in paths:
        try:
            module = ptxkit.parse(path.read_text(), filename=path.name)
            begin = time.process_time()
            text = lifted_text(module)
            took = time.process_time() - begin
            Path(f"/tmp/lifted.{path.stem}.cu").write_text(text)
            compiled_again(text, module.target or "sm_90")
        except Exception as error:
            totals["failed"] += 1
            print(f"{path.name}: {_said(error)}")
            if not isinstance(error, ptxkit.toolchain.CompilerError):
                traceback.print_exc(limit=-3)
            continue
        totals["compiled"] += 1
        count = sum(len(f.instructions) for f in module.functions if f.has_body)
        print(f"{path.name}: {count} instructions, {took:.2f} s, asm {text.count('asm')}, "
              f"goto {text.count('goto')}")  # fmt: skip
    print(dict(totals))


if __name__ == "__main__":
    words = sys.argv[1:]
    if words and words[0].endswith(".ptx"):
        _files([Path(w) for w in words])
    elif words and words[0] == "rolled":
        _kernels(words[1], words[2:], True)
    elif words and words[0] == "suite":
        _kernels(words[1] if len(words) > 1 else "sm_90", words[2:])
    else:
        chosen = words.pop(0) if words and words[0].startswith("sm_") else None
        _suite(chosen, words)
