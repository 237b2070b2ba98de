"""The one form of integer terms is the number that the instructions compute: against the simulator.

Random straight code over two numbers is executed symbolically; what it stores is a term, which is
worked out with plain integers for thirty-two threads and must be what the simulator stores.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.decisions import LEAF, Decisions
from ptxkit.decompiler.verify.dataflow.regions import RETURN, Code, Executor, Program
from ptxkit.decompiler.verify.dataflow.terms import Terms

THREADS = 32
#: Numbers that compilers multiply with to divide, and others.
_UPPER = (3435973837, 613566757, 131077, 6700417, 2863311531, 954437177, 3435973836, 5, 4294967295)
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {
    .reg .pred %p<99>; .reg .f32 %f<9>; .reg .b16 %h<99>; .reg .b32 %r<99>; .reg .b64 %d<99>;
    mov.u32 %r0, %tid.x; ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y];
    ld.param.u32 %r4, [z]; ld.param.u32 %r5, [z+4]; ld.param.u64 %d6, [z];
    mul.wide.u32 %d2, %r0, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
    ld.global.v2.u64 {%d3, %d4}, [%d0]; mov.b64 {%r1, %r2}, %d3; cvt.u32.u64 %r3, %d4;
    xor.b64 %d5, %d3, %d4;
"""
TAIL = "st.global.u64 [%d1], %d{d}; cvt.u64.u32 %d98, %r{r}; st.global.u64 [%d1+8], %d98; ret; }}"


def _code(draw: random.Random, steps: int) -> str:
    """Random instructions; registers of 32 and 64 bits are numbered on."""
    words, wides = 6, 7
    lines: list[str] = []
    for _ in range(steps):
        a, b = draw.randrange(1, words), draw.randrange(1, words)
        c, d = draw.randrange(3, wides), draw.randrange(3, wides)
        low = draw.randrange(32)
        bits = draw.randrange(1, 33 - low)
        mask = ((1 << bits) - 1) << low
        shift = draw.choice((1, 3, 8, 16, 24, 31, 32, 35, 48, 56))
        wide_mask = ((1 << draw.randrange(1, 65)) - 1) << draw.randrange(40) & (1 << 64) - 1
        bytes_chosen = "".join(draw.choice("01234567") for _ in range(4))
        to_word = (
            f"shr.u32 %r{words}, %r{a}, {low};", f"shr.s32 %r{words}, %r{a}, {low};",
            f"shl.b32 %r{words}, %r{a}, {low};", f"and.b32 %r{words}, %r{a}, {mask};",
            f"and.b32 %r{words}, %r{a}, {~mask & 0xFFFFFFFF};", f"xor.b32 %r{words}, %r{a}, %r{b};",
            f"and.b32 %r97, %r{a}, {(1 << bits) - 1}; sub.s32 %r{words}, %r{a}, %r97;",
            f"and.b32 %r{words}, %r{a}, %r{b};", f"xor.b32 %r{words}, %r{a}, {(1 << bits) - 1};",
            f"and.b32 %r96, %r{a}, 7; and.b32 %r97, %r{b}, 7; sub.s32 %r96, 7, %r96;"
            f" sub.s32 %r97, 7, %r97; and.b32 %r{words}, %r96, %r97;",
            f"or.b32 %r{words}, %r{a}, {-(1 << bits) & 0xFFFFFFFF};",
            f"or.b32 %r{words}, %r{a}, %r{b};", f"add.s32 %r{words}, %r{a}, %r{b};",
            f"sub.s32 %r{words}, %r{a}, %r{b};", f"mul.lo.s32 %r{words}, %r{a}, {mask};",
            f"bfe.u32 %r{words}, %r{a}, {low}, {bits};",
            f"bfe.s32 %r{words}, %r{a}, {low}, {bits};",
            f"bfi.b32 %r{words}, %r{a}, %r{b}, {low}, {bits};",
            f"prmt.b32 %r{words}, %r{a}, %r{b}, 0x{bytes_chosen};",
            f"shf.l.wrap.b32 %r{words}, %r{a}, %r{b}, {low};",
            f"shf.r.clamp.b32 %r{words}, %r{a}, %r{b}, {low};",
            f"cvt.u32.u64 %r{words}, %d{c};", f"min.s32 %r{words}, %r{a}, {bits};",
            f"max.s32 %r{words}, %r{a}, 0;", f"min.u32 %r{words}, %r{a}, %r{b};",
            f"mov.b64 {{%r{words}, %r97}}, %d{c};", f"mov.b64 {{%r97, %r{words}}}, %d{c};",
            f"setp.eq.s32 %p1, %r{a}, 0; selp.b32 %r{words}, %r{a}, %r{b}, %p1;",
            f"and.b32 %r97, %r{a}, {mask}; setp.eq.s32 %p1, %r97, 0;"
            f" selp.b32 %r{words}, {low}, %r{b}, %p1;",
            f"setp.lt.s32 %p1, %r{a}, %r{b}; selp.b32 %r{words}, %r{a}, %r{b}, %p1;",
            f"add.s32 %r97, %r{a}, {mask}; and.b32 %r97, %r97, {low | 3};"
            f" setp.eq.s32 %p1, %r97, {bits & 3}; selp.b32 %r{words}, 7, %r{b}, %p1;",
            f"or.b32 %r97, %r{a}, %r{b}; setp.ne.s32 %p1, %r97, 0;"
            f" selp.b32 %r{words}, %r{a}, 3, %p1;",
            f"abs.s32 %r97, %r{a}; setp.lt.u32 %p1, %r97, {mask};"
            f" selp.b32 %r{words}, %r{a}, 9, %p1;",
            f"add.s32 %r97, %r{a}, {low}; setp.lt.u32 %p1, %r97, {~mask & 0xFFFFFFFF};"
            f" selp.b32 %r{words}, %r{a}, %r{b}, %p1;",
            *(
                f"{op} %r96, %r{b}, %r{a}; {op} %r{words}, %r96, %r{draw.randrange(1, words)};"
                for op in ("or.b32", "min.s32", "max.u32")
            ),
            f"and.b32 %r97, %r{a}, {mask}; sub.s32 %r97, %r{b}, %r97; abs.s32 %r{words}, %r97;",
            f"sub.s32 %r97, %r{a}, %r{b}; sub.s32 %r96, %r{b}, %r{a};"
            f" setp.{draw.choice(('lt', 'le', 'ge', 'gt'))}.s32 %p1, %r97, 0;"
            f" selp.b32 %r{words}, %r96, %r97, %p1;",
            f"cvt.s32.s8 %r{words}, %r{a};", f"cvt.u32.u16 %r{words}, %r{a};",
            f"shr.u32 %r{words}, %r{a}, %r{b};", f"shr.s32 %r{words}, %r{a}, %r{b};",
            f"and.b32 %r97, %r{b}, 31; and.b32 %r96, %r{a}, {mask}; shr.u32 %r96, %r96, %r97;"
            f" and.b32 %r{words}, %r96, %r{draw.randrange(1, words)};",
            f"and.b32 %r96, %r{a}, {(1 << bits) - 1}; and.b32 %r96, %r96, %r{b};"
            f" cvt.u16.u32 %h1, %r96; and.b16 %h1, %h1, {draw.choice((15, 255, 0x7FFF))};"
            f" cvt.{draw.choice(('u32.u16', 's32.s16'))} %r{words}, %h1;",
            *(
                f"cvt.u16.u32 %h1, %r{a}; cvt.u16.u32 %h2, %r{b}; and.b16 %h2, %h2, {mask & 255};"
                f" {before} {op} %h3, %h1, %h2; {after} cvt.{sign}32.{sign}16 %r{words}, %h3;"
                for op in ("min.s16", "max.s16", "min.u16", "sub.s16", "add.u16")
                for sign in op[-3:-2]
                for before in ("", "and.b16 %h1, %h1, 255; mul.lo.s16 %h1, %h1, 3;")
                for after in ("", f"shr.{sign}16 %h3, %h3, {low & 15};",
                              f"{draw.choice(('and', 'or', 'xor'))}.b16 %h3, %h3, {mask & 0x3FF};")
            ),
            *(
                f"and.b32 %r97, %r{a}, {mask}; cvt.rn.f32.{kind}32 %f1, %r97;"
                f" mov.b32 %r{words}, %f1;" for kind in "su"
            ),
            *(
                f"cvt.{kind[0]}16.{kind[0]}32 %h1, %r{a}; shr.{kind} %h1, %h1, {low & 7};"
                f" cvt.rn.f32.{kind} %f1, %h1; mov.b32 %r{words}, %f1;" for kind in ("s16", "u16")
            ),
            f"and.b32 %r97, %r{a}, {mask}; mul.hi.u32 %r96, %r97, {draw.choice(_UPPER)};"
            f" shr.u32 %r{words}, %r96, {low & 3};",
            f"mul.hi.u32 %r97, %r{a}, {draw.choice(_UPPER)}; sub.s32 %r96, %r{a}, %r97; shr.u32"
            f" %r96, %r96, 1; add.s32 %r96, %r96, %r97; shr.u32 %r{words}, %r96, {low & 15};",
            f"cvt.u16.u32 %h1, %r{a}; and.b16 %h1, %h1, 255; mul.lo.s16 %h2, %h1,"
            f" {draw.choice((3, 37, 41, 147, 205))}; shr.u16 %h2, %h2, {8 + (low & 7)};"
            f" cvt.u32.u16 %r{words}, %h2;",
            f"cvt.rn.f32.{draw.choice(('s64', 'u64'))} %f1, %d{c}; mov.b32 %r{words}, %f1;",
            f"and.b32 %r97, %r{a}, 1; setp.{draw.choice(('eq', 'ne'))}.s32 %p1, %r97,"
            f" {low & 1}; selp.b32 %r{words}, %r{a}, %r{b}, %p1;",
            f"and.b32 %r97, %r{a}, 255; and.b32 %r96, %r{b}, 63; sub.s32 %r97, %r97, %r96;"
            f" shr.s32 %r97, %r97, {low & 3}; cvt.u16.u32 %h1, %r97; shr.s16 %h1, %h1, 1;"
            f" cvt.s32.s16 %r{words}, %h1;",
        )  # fmt: skip
        to_wide = (
            f"shr.u64 %d{wides}, %d{c}, {shift};", f"shr.s64 %d{wides}, %d{c}, {shift};",
            f"shl.b64 %d{wides}, %d{c}, {shift};", f"and.b64 %d{wides}, %d{c}, {wide_mask};",
            f"add.s64 %d{wides}, %d{c}, %d{d};", f"sub.s64 %d{wides}, %d{c}, %d{d};",
            f"mul.wide.s32 %d{wides}, %r{a}, {low};", f"mul.wide.u32 %d{wides}, %r{a}, {low};",
            f"cvt.s64.s32 %d{wides}, %r{a};", f"cvt.u64.u32 %d{wides}, %r{a};",
            f"and.b64 %d{wides}, %d{c}, %d{d};", f"mov.b64 %d{wides}, {{%r{a}, %r{b}}};",
            f"mul.lo.s64 %d{wides}, %d{c}, {shift};",
            f"cvt.u64.u32 %d97, %r{a};"
            f" mul.hi.u64 %d{wides}, %d97, {draw.choice(_UPPER) << 32 | 9};",
            f"mul.wide.u32 %d97, %r{a}, {draw.choice(_UPPER)};"
            f" shr.u64 %d{wides}, %d97, {32 + (low & 3)};",
            f"min.s64 %d97, %d{c}, %d{d}; min.s64 %d{wides}, %d97, {mask};",
            f"max.u64 %d97, %d{c}, %d{d}; max.u64 %d{wides}, %d97, %d{draw.randrange(3, wides)};",
            f"abs.s64 %d{wides}, %d{c};",
            f"setp.eq.s64 %p2, %d{c}, %d{d}; selp.b64 %d{wides}, %d{c}, 5, %p2;",
            *(
                f"and.b32 %r97, %r{a}, {(1 << low) - 1}; shl.b32 %r96, %r{b}, {moved};"
                f" add.s32 %r97, %r97, %r96; {cvt} %d{wides}, %r97;"
                for moved in (low, max(low - 1, 0))
                for cvt in ("cvt.u64.u32", "cvt.s64.s32")
            ),
        )  # fmt: skip
        if draw.random() < 0.6:
            lines.append(draw.choice(to_word))
            words += 1
        else:
            lines.append(draw.choice(to_wide))
            wides += 1
    return HEAD + "\n".join(lines) + TAIL.format(d=wides - 1, r=words - 1)


class _Numbers:
    """Works out terms for one thread."""

    def __init__(self, terms: Terms, inputs: tuple[int, int], argument: int) -> None:
        self.terms = terms
        self.words = [inputs[k // 2] >> 32 * (k % 2) & 0xFFFFFFFF for k in range(4)]
        self.argument = argument
        self.found: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        if term not in self.found:
            self.found[term] = self._number(self.terms.rows[term])
        return self.found[term]

    def _number(self, row: tuple[Any, ...]) -> int:
        kind = row[0]
        if kind == "sum":
            return (row[2] + sum(self(atom) * factor for atom, factor in row[3])) % (1 << row[1])
        if kind == "multiply":
            made = 1
            for factor in row[2:]:
                made *= self(factor)
            return made % (1 << row[1])
        if kind in ("signed", "unsigned"):
            value = self(row[3])
            return (as_signed(row[1], value) if kind == "signed" else value) % (1 << row[2])
        if kind == "truncate":
            return self(row[3]) % (1 << row[2])
        if kind == "ld":
            return self.words[self.terms.rows[row[4]][2] // 4]
        if kind == "parameter":
            return self.argument >> 8 * row[2] & (1 << row[3][0]) - 1
        if kind == "eq":
            return int(self(row[2]) == 0)
        if kind == "lt":
            a, b = (self(one) for one in row[3:])
            return int(as_signed(row[2], a) < as_signed(row[2], b) if row[1] else a < b)
        assert kind == "op", row
        return self._operation(row[1], [self(one) for one in row[3:]])

    @staticmethod
    def _operation(opcode: str, values: list[int]) -> int:
        name, type = opcode.split(".")[0], opcode.split(".")[-1]
        width = int(type[1:])
        numbers = [as_signed(width, v) for v in values] if type[0] == "s" else values
        if name == "cvt":
            assert opcode == f"cvt.rn.f32.{type}"
            return int(np.array(numbers[0], {"s": np.int64, "u": np.uint64}[type[0]])
                       .astype(np.float32).view(np.uint32))  # fmt: skip
        if name == "xor":
            made = 0
            for value in values:
                made ^= value
            return made
        if name == "abs":
            return abs(numbers[0]) % (1 << width)
        a, b = numbers
        results = {
            "and": a & b, "or": a | b, "min": min(a, b), "max": max(a, b),
            "mul": a * b >> width, "shr": a >> min(values[1], width),
            "div": a // b if type[0] == "u" and b else 0,
        }  # fmt: skip
        return results[name] % (1 << width)


def _diagram(decisions: Decisions, numbers: _Numbers, diagram: int) -> int:
    top, yes, no = decisions.nodes[diagram]
    while top != LEAF:
        diagram = yes if numbers(top) else no
        top, yes, no = decisions.nodes[diagram]
    return yes


def _stored(decisions: Decisions, numbers: _Numbers, memory: int) -> list[int]:
    """The two numbers that are stored, the last one last."""
    terms, term = numbers.terms, _diagram(decisions, numbers, memory)
    found: list[int] = []
    while terms.rows[term][0] == "after":
        _, _, term, _, value = terms.rows[term]
        low, high = (numbers(part) for part in terms.rows[value][1:])
        found.append(low | high << 32)
    return found[::-1]


@pytest.mark.parametrize("seed", range(400))
def test_terms_are_what_the_simulator_computes(seed: int) -> None:
    draw = random.Random(seed)
    module = ptxkit.parse(_code(draw, 14))
    special = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63, 2**64 - 1, 0x8000000000000001)
    inputs = [
        draw.choice(special) if draw.random() < 0.3 else draw.getrandbits(draw.choice((8, 33, 64)))
        for _ in range(2 * THREADS)
    ]
    argument = draw.getrandbits(64)
    x, y = np.array(inputs, np.uint64), np.zeros(2 * THREADS, np.uint64)
    ptxkit.load(module)["k"][1, THREADS](x, y, np.uint64(argument))

    program = Program(Code(module, module["k"], {}, lambda name: (name,)))
    terms = Terms(special=program.special, arguments=program.arguments)
    decisions = Decisions(terms)
    region = Executor(program, terms, decisions).region(
        program.entry, decisions.leaf(terms.make("memory")), lambda r: decisions.undefined,
        decisions.true,
    )  # fmt: skip
    for thread in range(THREADS):
        pair = inputs[2 * thread], inputs[2 * thread + 1]
        numbers = _Numbers(terms, pair, argument)
        stored = _stored(decisions, numbers, region.edges[RETURN].memory)
        assert stored == [int(one) for one in y[2 * thread : 2 * thread + 2]], module.emit()
