"""A stub computes what the same statements in CUDA C++ do, whatever the site looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from inject.kernels import accepted, run
from ptxkit.inject import Template

# PTX type -> CUDA type, numpy type, and for each operation its PTX and CUDA.
INTEGER = {
    "add.{t} {d}, {a}, {b};": "{d} = {a} + {b};",
    "sub.{t} {d}, {a}, {b};": "{d} = {a} - {b};",
    "mul.lo.{t} {d}, {a}, {b};": "{d} = {a} * {b};",
    "xor.b{w} {d}, {a}, {b};": "{d} = {a} ^ {b};",
    "and.b{w} {d}, {a}, {b};": "{d} = {a} & {b};",
    "not.b{w} {d}, {a};": "{d} = ~{a};",
    "max.{t} {d}, {a}, {b};": "{d} = {a} > {b} ? {a} : {b};",
}
FLOAT = {
    "add.rn.{t} {d}, {a}, {b};": "{d} = {f}add_rn({a}, {b});",
    "mul.rn.{t} {d}, {a}, {b};": "{d} = {f}mul_rn({a}, {b});",
    "neg.{t} {d}, {a};": "{d} = -{a};",
    "fma.rn.{t} {d}, {a}, {b}, {a};": "{d} = {g}({a}, {b}, {a});",
}


@dataclass(frozen=True)
class Kind:
    name: str
    cuda: str
    dtype: str
    operations: dict[str, str]

    def words(self) -> dict[str, str]:
        double = self.name == "f64"
        return {
            "t": self.name, "w": self.name[1:], "f": "__d" if double else "__f",
            "g": "__fma_rn" if double else "__fmaf_rn",
        }  # fmt: skip


KINDS = (
    Kind("u32", "unsigned", "uint32", INTEGER),
    Kind("u64", "unsigned long long", "uint64", INTEGER),
    Kind("f32", "float", "float32", FLOAT),
    Kind("f64", "double", "float64", FLOAT),
)


@dataclass(frozen=True)
class Program:
    kinds: tuple[Kind, ...]
    directions: tuple[str, ...]
    order: tuple[int, ...]
    steps: tuple[tuple[int, int, int, str], ...]
    """Destination, two sources and operation, over the operands and one spare of each kind."""
    rounds: int

    @property
    def variables(self) -> list[Kind]:
        return [*self.kinds, *KINDS]

    def name(self, number: int) -> str:
        return f"v{number}"


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.integers(1, 9))
    kinds = tuple(draw(st.sampled_from(KINDS)) for _ in range(count))
    directions = tuple(draw(st.sampled_from(["in", "mod", "out"])) for _ in range(count))
    order = tuple(draw(st.permutations(range(count))))
    variables = [*kinds, *KINDS]
    steps = []
    for _ in range(draw(st.integers(0, 12))):
        target = draw(st.integers(0, len(variables) - 1))
        kind = variables[target]
        same = [n for n, one in enumerate(variables) if one is kind]
        a, b = draw(st.sampled_from(same)), draw(st.sampled_from(same))
        steps.append((target, a, b, draw(st.sampled_from(sorted(kind.operations)))))
    return Program(kinds, directions, order, tuple(steps), draw(st.integers(1, 3)))


def start(program: Program) -> list[int]:
    """Outputs and spares, which have no value when a stub begins."""
    outputs = [n for n, one in enumerate(program.directions) if one == "out"]
    return [*outputs, *range(len(program.kinds), len(program.variables))]


def stub(program: Program, template: Template) -> str:
    site = template.sites["site"]
    registers = [site.args[program.name(n)].register for n in range(len(program.kinds))]
    lines = []
    for kind in KINDS:
        registers.append(f"spare_{kind.name}")
        lines.append(f".reg .{kind.name} {registers[-1]};")
    for number in start(program):
        width = program.variables[number].name[1:]
        lines.append(f"mov.b{width} {registers[number]}, 0;")
    for target, a, b, operation in program.steps:
        words = program.variables[target].words()
        names = {"d": registers[target], "a": registers[a], "b": registers[b]}
        lines.append(operation.format(**words, **names))
    return "\n".join(lines)


def direct(program: Program) -> str:
    """The same in CUDA C++, on copies where the stub has copies."""
    lines = []
    inside = [f"w{n}" for n in range(len(program.variables))]
    for number, kind in enumerate(program.variables):
        known = number < len(program.kinds) and program.directions[number] != "out"
        lines.append(f"{kind.cuda} {inside[number]} = {f'v{number}' if known else '0'};")
    for target, a, b, operation in program.steps:
        kind = program.variables[target]
        names = {"d": inside[target], "a": inside[a], "b": inside[b]}
        lines.append(kind.operations[operation].format(**kind.words(), **names))
    for number, direction in enumerate(program.directions):
        if direction != "in":
            lines.append(f"v{number} = {inside[number]};")
    return "{ " + "\n".join(lines) + " }"


def kernel(program: Program, name: str, body: str) -> str:
    numbers = range(len(program.kinds))
    parameters = ", ".join(f"{program.kinds[n].cuda} *p{n}" for n in numbers)
    loads = "\n".join(f"{program.kinds[n].cuda} v{n} = p{n}[threadIdx.x];" for n in numbers)
    stores = "\n".join(f"p{n}[threadIdx.x] = v{n};" for n in numbers)
    return f"""
extern "C" __global__ void {name}({parameters}) {{
    {loads}
    #pragma unroll
    for (int i = 0; i < {program.rounds}; i++)
    {body}
    {stores}
}}
"""


def annotation(program: Program) -> str:
    lines = [
        f"{program.directions[n]} {program.kinds[n].name} {program.name(n)}" for n in program.order
    ]
    return "/* PTX_INJECT site\n" + "\n".join(lines) + "\n*/"


@settings(max_examples=40)
@given(programs(), st.integers(0, 2**32))
def test_a_stub_is_what_the_compiler_makes_of_the_same_statements(
    program: Program, seed: int
) -> None:
    template = Template.from_cuda(kernel(program, "injected", annotation(program)))
    ptx = template.render({"site": stub(program, template)})
    assert len(template.sites["site"].occurrences) == program.rounds
    source = kernel(program, "direct", direct(program))
    plain = ptxkit.compile_cuda(source, options=["--disable-warnings"])
    random = np.random.default_rng(seed)
    values = [random.integers(0, 1000, 4).astype(kind.dtype) for kind in program.kinds]
    mine, theirs = [one.copy() for one in values], [one.copy() for one in values]
    run(ptx, "injected", *mine, threads=4)
    run(plain.emit(), "direct", *theirs, threads=4)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert accepted(ptx)
