"""Names as their authors chose them, beside what the lifter calls the same things.

A source is compiled with line information. Every instruction then says which statement it comes
from, and the last one of a statement makes what the statement gives to a variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.isolation import isolated
from ptxkit.decompiler.learned.contexts import Context, bare_name, contexts
from ptxkit.decompiler.learned.scanning import assignments, one_declaration_each, parameters
from ptxkit.decompiler.learned.scopes import Span, spans
from ptxkit.decompiler.lift.lifter import ModuleLifter, Options
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.nodes import Loc
from ptxkit.toolchain import compile_cuda

_NOTHING_MADE = frozenset(("st", "red", "bra", "bar", "ret", "setp", "membar", "fence", "call"))
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A name of a lifted function and what the author called the same thing."""

    kernel: str
    context: Context
    wanted: str
    places: tuple[Span, ...]
    """Where the name is known in the lifted function."""


def labelled_names(source: str, arch: str = "sm_90", name: str = "kernel.cu") -> list[Labelled]:
    """Everything in the functions of a file whose name in the source is known.

    >>> source = '''extern "C" __global__ void clear(float *values, int count) {
    ...     int place = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (place < count) values[place] = 0;
    ... }'''
    >>> {one.context.name: one.wanted for one in labelled_names(source)}
    {'p0': 'values', 'n1': 'count', 'i': 'place'}
    """
    source = one_declaration_each(source)
    module = compile_cuda(source, arch=arch, name=name, line_info=True)
    known = parameters(source)
    places = {place: (target, kind) for place, target, kind in assignments(source)}
    return [
        one
        for function in module.functions
        if function.has_body
        for one in _function(module, function, known, places)
    ]


def _function(
    module: Module,
    function: Function,
    known: dict[str, tuple[str, ...]],
    said: dict[Place, tuple[str, str]],
) -> Iterator[Labelled]:
    lifter = ModuleLifter(isolated(module, function), Options(roll=True))
    try:
        tree = lifter.run()
    except Exception:  # A fault of the lifter, which `decompile` reports, teaches nothing.
        return
    made = [i for i in tree.items if isinstance(i, n.Function) and i.body is not None]
    names = lifter.signatures.functions[function.name].name, bare_name(function.name)
    one = next((f for f in made if f.name in names), None)
    if one is None:
        return
    found = contexts(one)
    wanted: dict[str, str] = {}
    own = known.get(bare_name(function.name), ())
    if len(own) == len(one.parameters):
        wanted = {p.name: name for p, name in zip(one.parameters, own, strict=True)}
    variables: dict[str, list[str]] = {}
    for variable, register in lifter.registers[function.name].items():
        if variable in found:
            variables.setdefault(register, []).append(variable)
    for register, name in _registers(function, said, variables).items():
        if len(variables[register]) == 1:
            wanted.setdefault(variables[register][0], name)
    places = spans(one)
    for variable, name in wanted.items():
        yield Labelled(function.name, found[variable], name, places[variable])


def _registers(
    function: Function, places: dict[Place, tuple[str, str]], known: Collection[str]
) -> dict[str, str]:
    """Those of the known registers that hold variables of the source, and which."""
    last: dict[Place, str] = {}
    votes: dict[str, Counter[str]] = {}
    place: Place = (0, 0)
    body = function.body
    for node in body.walk() if body is not None else ():
        if isinstance(node, Loc):
            file, line, column = node.place
            place = (line, column) if file == 1 else (0, 0)
        elif isinstance(node, Instruction) and place in places:
            register = _made(node)
            kind = places[place][1]
            if register in known and (not kind or kind == _kind(node)):
                last[place] = register
    for where, register in last.items():
        votes.setdefault(register, Counter())[places[where][0]] += 1
    return {register: found.most_common(1)[0][0] for register, found in votes.items()}


def _made(instruction: Instruction) -> str:
    """The register that an instruction sets; nothing where it sets none, or a constant."""
    operands = instruction.operands
    if instruction.name in _NOTHING_MADE or not operands:
        return ""
    if instruction.name == "mov" and not operands[1].text.startswith("%"):
        return ""
    return operands[0].text if operands[0].text.startswith("%") else ""


def _kind(instruction: Instruction) -> str:
    for modifier in instruction.modifiers:
        if modifier in (".f32", ".f64", ".f16"):
            return "real"
        if modifier[1:] in ("s32", "u32", "b32", "s64", "u64", "b64", "s16", "u16", "b16"):
            return "whole"
    return ""
