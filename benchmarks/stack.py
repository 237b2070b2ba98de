"""Stack programs to stubs, against mm-ptx: the same programs, as each one's users write them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave
from ptxkit import stack

INPUTS = {"x": "f32", "y": "f32", "z": "f32"}
OUTPUTS = {"w": "f32"}
OPCODES = ("add.rn.f32", "mul.rn.f32", "sub.rn.f32", "fma.rn.f32")
BARS = {10: 3.0, 100: 8.0, 300: 20.0}
_CALLS = 50  # in one measurement


def chain(count: int) -> list[str]:
    """A program whose ``count`` instructions are all needed."""
    words = ["x"]
    for number in range(count):
        opcode = OPCODES[number % len(OPCODES)]
        words += ["y", "z", opcode] if opcode.startswith("fma") else ["yz"[number % 3 == 0], opcode]
    return words


def peer(words: list[str]) -> Callable[[], str] | None:
    """The program for mm-ptx, with limits that let it through; None where it is missing."""
    try:
        module = importlib.import_module("mm_ptx.stack_ptx")
    except ImportError:
        return None

    class Stack(module.StackTypeEnum):  # type: ignore[name-defined, misc]
        f32 = (0, "f32")

    class Argument(module.ArgTypeEnum):  # type: ignore[name-defined, misc]
        f32 = (0, Stack.f32)

    base = module.create_instruction_enum(Argument)
    three = [Argument.f32] * 3
    members = {
        opcode.replace(".", "_"): (number, opcode, three if "fma" in opcode else three[:2],
                                   [Argument.f32])
        for number, opcode in enumerate(OPCODES)
    }  # fmt: skip
    opcodes = base("Opcodes", members)
    special = module.create_special_register_enum(Argument)
    specials = special("Specials", {"none": (0, "%tid.x", Argument.f32)})
    registry = module.RegisterRegistry()
    for name in (*INPUTS, *OUTPUTS):
        registry.add(name, Stack.f32)
    registry.freeze()
    machine = module.StackPtx(Stack, Argument, opcodes, specials)
    program = [
        opcodes[word.replace(".", "_")] if "." in word else getattr(registry, word)
        for word in words
    ]
    size = 4 * len(words) + 100

    def run() -> str:
        text: str = machine.compile(
            registry, program, [registry.w], execution_limit=size, max_ast_size=size,
            max_ast_to_visit_stack_depth=size, stack_size=size,
        )  # fmt: skip
        return text

    run()
    return run


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    interface = stack.Interface(INPUTS, OUTPUTS)
    calls = _CALLS if settings.repeat > 1 else 2
    for count, limit in BARS.items():
        words = chain(count)
        packed = stack.Program(words, inputs=INPUTS)
        works: dict[str, Callable[[], object]] = {
            "packed": _times(calls, lambda p=packed: stack.compile(p, INPUTS, OUTPUTS)),
            "words": _times(calls, lambda w=words: stack.compile(w, INPUTS, OUTPUTS)),
        }
        other = peer(words)
        if other is not None:
            works["peer"] = _times(max(1, calls // 25), other)
        found = interleave(works, repeat=3 * settings.repeat, clock=process_time)
        theirs = found["peer"].minimum / max(1, calls // 25) * 1e6 if other is not None else None
        for name, note in (("packed", "a Program"), ("words", "a list of words")):
            yield Row(
                f"stub of {count} instructions, from Python", found[name].minimum / calls * 1e6,
                "us", "mm-ptx", theirs, bar=Bar(limit, on="ours"), higher_is_better=False,
                note=note,
            )  # fmt: skip
    yield from many(interface, settings)


def many(interface: stack.Interface, settings: Settings) -> Iterator[Row]:
    """Packed programs on one thread and on two."""
    number = 1000 if settings.repeat > 1 else 20
    items = stack.Program(chain(300), inputs=INPUTS).items
    programs = np.repeat(items[None], number, axis=0)

    def run(threads: int) -> Callable[[], object]:
        return lambda: stack.compile_many(programs, interface, threads=threads)

    found = interleave({"one": run(1), "two": run(2)}, repeat=3 * settings.repeat)
    busy = interleave({"one": run(1)}, repeat=3 * settings.repeat, clock=process_time)
    yield Row(
        "compile_many, 300 instructions", busy["one"].minimum / number * 1e6, "us a program",
        bar=Bar(10, on="ours"), higher_is_better=False, note="one thread, processor time",
    )  # fmt: skip
    yield Row(
        "compile_many, two threads", found["one"].minimum / found["two"].minimum, "x",
        "mm-ptx (holds the GIL)", 1.0, bar=Bar(1.8, on="ours"),
    )  # fmt: skip


def _times(count: int, work: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            work()

    return run
