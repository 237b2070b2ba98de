"""PTX as nvcc writes it, of any size, the same on every run.

Used where no collected corpus is at hand, and where two sizes of the same kind of text are
compared. ptxas accepts it; pyptx reads all of it.

>>> generate(100_000) == generate(100_000)
True
>>> len(generate(100_000)) >= 100_000
True
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_HEADER = """//
// Made by benchmarks/generate.py
//

.version 8.0
.target sm_80
.address_size 64

"""

_PROLOGUE = """	ld.param.u64 	%rd1, [{name}_param_0];
	ld.param.u64 	%rd2, [{name}_param_1];
	ld.param.u32 	%r1, [{name}_param_2];
	ld.param.f32 	%f1, [{name}_param_3];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r4, %tid.x;
	mad.lo.s32 	%r5, %r2, %r3, %r4;
	setp.ge.s32 	%p1, %r5, %r1;
	@%p1 bra 	$L__BB{number}_{last};
"""


class _Registers:
    """Registers of one function, taken in order as nvcc does; operands look back a little."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = {"%r": 6, "%rd": 5, "%f": 2, "%fd": 1, "%p": 2}

    def new(self, prefix: str) -> str:
        number = self.count[prefix]
        self.count[prefix] = number + 1
        return f"{prefix}{number}"

    def old(self, prefix: str) -> str:
        count = self.count[prefix]
        return f"{prefix}{self.random.randrange(max(1, count - 12), max(2, count))}"


def _integer(r: _Registers) -> list[str]:
    operation = r.random.choice(
        ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "shl.b32", "max.s32")
    )
    left = r.old("%r")
    right = r.old("%r") if r.random.random() < 0.5 else str(r.random.randrange(-64, 64))
    if operation == "shl.b32":
        right = str(r.random.randrange(32))
    return [f"{operation} \t{r.new('%r')}, {left}, {right};"]


def _multiply_add(r: _Registers) -> list[str]:
    a, b, c = r.old("%r"), r.old("%r"), r.old("%r")
    return [f"mad.lo.s32 \t{r.new('%r')}, {a}, {b}, {c};"]


def _float(r: _Registers) -> list[str]:
    a, b, c = r.old("%f"), r.old("%f"), r.old("%f")
    kind = r.random.randrange(4)
    if kind == 0:
        return [f"fma.rn.f32 \t{r.new('%f')}, {a}, {b}, {c};"]
    if kind == 1:
        return [
            f"mul.f32 \t{r.new('%f')}, {a}, 0f{r.random.randrange(0x3F000000, 0x41000000):08X};"
        ]
    if kind == 2:
        return [f"add.ftz.f32 \t{r.new('%f')}, {a}, {b};"]
    return [f"ex2.approx.ftz.f32 \t{r.new('%f')}, {a};"]


def _load(r: _Registers) -> list[str]:
    wide, address, offset = r.new("%rd"), r.new("%rd"), 4 * r.random.randrange(-4, 64)
    lines = [
        f"mul.wide.s32 \t{wide}, {r.old('%r')}, 4;",
        f"add.s64 \t{address}, %rd{r.random.choice((3, 4))}, {wide};",
    ]
    place = f"{address}+{offset}" if offset else address
    if r.random.random() < 0.2:
        values = ", ".join(r.new("%f") for _ in range(4))
        return [*lines, f"ld.global.nc.v4.f32 \t{{{values}}}, [{address}];"]
    return [*lines, f"ld.global.f32 \t{r.new('%f')}, [{place}];"]


def _store(r: _Registers) -> list[str]:
    space = r.random.choice(("global", "shared"))
    if space == "shared":
        return [f"st.shared.f32 \t[{r.old('%r')}+{4 * r.random.randrange(32)}], {r.old('%f')};"]
    return [f"st.global.f32 \t[{r.old('%rd')}], {r.old('%f')};"]


def _double(r: _Registers) -> list[str]:
    wide, product = r.new("%fd"), r.new("%fd")
    return [
        f"cvt.f64.f32 \t{wide}, {r.old('%f')};",
        f"mul.f64 \t{product}, {wide}, 0d3FE{r.random.randrange(16**13):013X};",
        f"cvt.rn.f32.f64 \t{r.new('%f')}, {product};",
    ]


def _select(r: _Registers) -> list[str]:
    predicate, a, b = r.new("%p"), r.old("%f"), r.old("%f")
    return [
        f"setp.lt.f32 \t{predicate}, {a}, {b};",
        f"selp.f32 \t{r.new('%f')}, {b}, {a}, {predicate};",
    ]


def _shuffle(r: _Registers) -> list[str]:
    value, predicate, lanes = r.old("%r"), r.new("%p"), r.random.choice((1, 2, 4))
    return [f"shfl.sync.down.b32 \t{r.new('%r')}|{predicate}, {value}, {lanes}, 31, -1;"]


_SHAPES: tuple[Callable[[_Registers], list[str]], ...] = (
    _integer, _integer, _integer, _multiply_add, _float, _float, _float, _load, _load, _store,
    _double, _select, _shuffle,
)  # fmt: skip


def _function(number: int, random: Random) -> str:
    name = f"_Z{12 + number % 20}kernel_{number}PKfPfif"
    registers = _Registers(random)
    blocks = random.randrange(3, 12)
    lines: list[str] = []
    for block in range(2, blocks + 1):
        lines.append(f"\n$L__BB{number}_{block}:")
        for _ in range(random.randrange(4, 30)):
            lines += [f"\t{line}" for line in random.choice(_SHAPES)(registers)]
        predicate = registers.new("%p")
        lines.append(f"\tsetp.ne.s32 \t{predicate}, {registers.old('%r')}, 0;")
        lines.append(f"\t@{predicate} bra \t$L__BB{number}_{random.randrange(2, blocks + 2)};")
    types = {"%p": ".pred", "%f": ".f32", "%r": ".b32", "%fd": ".f64", "%rd": ".b64"}
    declarations = "".join(
        f"\t.reg {types[prefix]} \t{prefix}<{registers.count[prefix]}>;\n" for prefix in types
    )
    parameters = ",\n".join(
        f"\t.param {kind} {name}_param_{at}"
        for at, kind in enumerate((".u64", ".u64", ".u32", ".f32"))
    )
    prologue = _PROLOGUE.format(name=name, number=number, last=blocks + 1)
    body = "\n".join(lines)
    return (
        f"\t// .globl\t{name}\n.visible .entry {name}(\n{parameters}\n)\n{{\n{declarations}\n\n"
        f"{prologue}{body}\n\n$L__BB{number}_{blocks + 1}:\n\tret;\n\n}}\n"
    )


def generate(size: int, seed: int = 1) -> str:
    """A module of at least ``size`` bytes, ending with a whole function."""
    random = Random(seed)
    parts = [_HEADER]
    written = len(_HEADER)
    number = 0
    while written < size or number == 0:
        parts.append(_function(number, random))
        written += len(parts[-1])
        number += 1
    return "".join(parts)
