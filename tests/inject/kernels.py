"""Kernels with sites, and stubs for them, for the tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import ptxkit
from ptxkit.inject import Template


@dataclass(frozen=True)
class Case:
    """A type of operand: its array elements, the CUDA type, and stubs with known results."""

    type: str
    cuda: str
    dtype: str
    stub: str
    """Sets %_z from %_x and %_acc, and %_acc to %_x."""
    header: str = ""
    words: int = 1  # array elements that make one value


def integer(type_: str, cuda: str, dtype: str) -> Case:
    kind = "s" if type_[0] == "b" else type_[0]
    width = type_[1:]
    return Case(
        type_, cuda, dtype,
        f"add.{kind}{width} %_z, %_x, %_acc;\nmov.b{width} %_acc, %_x;",
    )  # fmt: skip


FP16, BF16 = "#include <cuda_fp16.h>\n", "#include <cuda_bf16.h>\n"
CASES = (
    integer("s16", "short", "int16"),
    integer("u16", "unsigned short", "uint16"),
    integer("b16", "unsigned short", "uint16"),
    integer("s32", "int", "int32"),
    integer("u32", "unsigned", "uint32"),
    integer("b32", "unsigned", "uint32"),
    integer("s64", "long long", "int64"),
    integer("u64", "unsigned long long", "uint64"),
    integer("b64", "unsigned long long", "uint64"),
    Case("f32", "float", "float32", "add.f32 %_z, %_x, %_acc;\nmov.f32 %_acc, %_x;"),
    Case("f64", "double", "float64", "add.f64 %_z, %_x, %_acc;\nmov.f64 %_acc, %_x;"),
    Case("f16", "__half", "float16", "add.f16 %_z, %_x, %_acc;\nmov.b16 %_acc, %_x;", FP16),
    Case(
        "f16x2", "__half2", "float16",
        "add.f16x2 %_z, %_x, %_acc;\nmov.b32 %_acc, %_x;", FP16, 2,
    ),
    Case(
        "bf16", "__nv_bfloat16", "uint16",
        "{ .reg .b32 a, b, s; .reg .b16 zero; mov.b16 zero, 0;"
        " mov.b32 a, {zero, %_x}; mov.b32 b, {zero, %_acc};"
        " add.s32 s, a, b; mov.b32 {zero, %_z}, s; }\nmov.b16 %_acc, %_x;", BF16,
    ),
    Case(
        "bf16x2", "__nv_bfloat162", "uint16",
        "{ .reg .b16 a, b, c, d; mov.b32 {a, b}, %_x; mov.b32 {c, d}, %_acc;"
        " add.u16 a, a, c; add.u16 b, b, d; mov.b32 %_z, {a, b}; }\nmov.b32 %_acc, %_x;", BF16, 2,
    ),
)  # fmt: skip

KERNEL = """{header}
extern "C" __global__ void k(const {cuda} *x, {cuda} *acc, {cuda} *z)
{{
    int i = threadIdx.x;
    {cuda} sum = acc[i], result;
    /* PTX_INJECT func
        in  {type} x = x[i]
        mod {type} acc = sum
        out {type} z = result
    */
    acc[i] = sum;
    z[i] = result;
}}
"""
MACRO_KERNEL = """#include <ptxkit_inject.cuh>
{header}
extern "C" __global__ void k(const {cuda} *x, {cuda} *acc, {cuda} *z)
{{
    int i = threadIdx.x;
    {cuda} sum = acc[i], result;
    PTX_INJECT("func", PTX_IN({upper}, x, x[i]), PTX_MOD({upper}, acc, sum),
               PTX_OUT({upper}, z, result));
    acc[i] = sum;
    z[i] = result;
}}
"""


def kernel(case: Case, macro: bool = False) -> str:
    """The CUDA source for a type."""
    text = MACRO_KERNEL if macro else KERNEL
    return text.format(header=case.header, cuda=case.cuda, type=case.type, upper=case.type.upper())


def values(case: Case, seed: int, count: int = 8) -> Any:
    """Random values of a type, every bit pattern but those that are no number."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(case.dtype)
    if dtype.kind == "f":
        return random.normal(0, 100, count * case.words).astype(dtype)
    raw = random.integers(0, 256, count * case.words * dtype.itemsize, dtype=np.uint8)
    return raw.view(dtype)


def run(ptx: str, name: str, *arguments: Any, threads: int = 8) -> None:
    """Run a kernel on the simulator."""
    ptxkit.load(ptx, device="cpu")[name][1, threads](*arguments)


def render(source: str, stubs: dict[Any, str], **options: Any) -> str:
    """Compile and render."""
    return Template.from_cuda(source, **options).render(stubs)


def accepted(ptx: str, arch: str = "sm_90") -> bool:
    """Whether the assembler takes it; what it says is raised."""
    return bool(ptxkit.assemble(ptx, arch).data)
