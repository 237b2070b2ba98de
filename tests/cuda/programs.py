# ruff: noqa: E501
"""Programs as S-expressions with launches: what the printer prints must compile, and what
the evaluator says must be what the compiled kernel does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(5)


def floats(count: int, dtype: str = "f4") -> Any:
    return RANDOM.uniform(-4, 4, count).astype(dtype)


def integers(count: int, dtype: str = "i4") -> Any:
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, count, dtype=dtype, endpoint=True)


@dataclass
class Program:
    """A module, how to launch its kernel, and how near the answers must be."""

    name: str
    text: str
    arguments: tuple[Any, ...]
    grid: Any = 2
    block: Any = 64
    shared: int = 0
    tolerance: float = 0.0
    includes: tuple[str, ...] = field(default=())


INDEX = "(let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))"


def elementwise(name: str, type: str, expression: str, *inputs: Any, tolerance: float = 0.0,
                result: str | None = None, includes: tuple[str, ...] = ()) -> Program:  # fmt: skip
    """One output of 128 elements from inputs a, b, c of one type."""
    result = result or type
    output = np.zeros(128, {"float": "f4", "double": "f8", "half": "f2", "int": "i4",
                            "uint": "u4", "longlong": "i8", "ulonglong": "u8",
                            "uchar": "u1", "short": "i2", "char": "i1"}[result])  # fmt: skip
    parameters = "".join(f" (param (ptr {type} const) {c})" for c in "abc"[: len(inputs)])
    text = f"""(kernel {name} (params (param (ptr {result}) o){parameters} (param int n))
        {INDEX} (if (< i n) (then (= ([] o i) {expression}))))"""
    return Program(name, text, (output, *inputs, 120), tolerance=tolerance, includes=includes)


A, B, C = "([] a i)", "([] b i)", "([] c i)"
PROGRAMS: list[Program] = [
    elementwise("arithmetic", "float", f"(/ (- (* {A} 2.5f) {B}) (+ (call fabsf {B}) 1.0f))",
                floats(128), floats(128), tolerance=1e-6),
    elementwise("precedence", "int", f"(- {A} (- {B} (- {A} (* (+ {B} 3) (~ {A})))))",
                integers(128), integers(128)),
    elementwise("shifts", "int", f"(^ (<< {A} (& {B} 31)) (>> {A} (& {B} 31)))",
                integers(128), integers(128)),
    elementwise("logical_shifts", "uint", f"(| (>> {A} (& {B} 31u)) (<< {A} 3))",
                integers(128, "u4"), integers(128, "u4")),
    elementwise("division", "int", f"(+ (/ {A} (| {B} 1)) (% {A} (| {B} 1)))",
                integers(128), integers(128)),
    elementwise("wide_division", "longlong", f"(- (/ {A} (| {B} 1ll)) (% {A} 1000ll))",
                integers(128, "i8"), integers(128, "i8")),
    elementwise("conversions", "float", f"(cast int (* {A} 1e9f))", floats(128), result="int"),
    elementwise("to_unsigned", "float", f"(cast uint (* {A} 1e9f))", floats(128), result="uint"),
    elementwise("to_64", "double", f"(cast longlong (* {A} 1e19))", floats(128, "f8"),
                result="longlong"),
    elementwise("narrow", "short", f"(+ (* {A} {A}) (cast short (cast char {B})))",
                integers(128, "i2"), integers(128, "i2")),
    elementwise("bytes", "uchar", f"(- {A} (* {B} 3))", integers(128, "u1"), integers(128, "u1")),
    elementwise("mixed", "uint", f"(cast float (- {A} 7))", integers(128, "u4"), result="float"),
    elementwise("ternary", "float", f"(? (&& (< {A} {B}) (! (== {A} 0.0f))) (neg {A}) (- {B} {A}))",
                floats(128), floats(128)),
    elementwise("logic", "int", f"(|| (> {A} {B}) (&& (!= {A} 0) (<= {B} {A})))",
                integers(128), integers(128)),
    elementwise("square_roots", "float", f"(call sqrtf (call fabsf {A}))", floats(128)),
    elementwise("fused", "float", f"(call fmaf {A} {B} {C})", floats(128), floats(128),
                floats(128)),
    elementwise("doubles", "double", f"(call fma {A} {B} (/ {B} {A}))", floats(128, "f8"),
                floats(128, "f8")),
    elementwise("extremes", "float", f"(call fminf (call fmaxf {A} {B}) 1.5f)", floats(128),
                floats(128)),
    elementwise("sines", "float", f"(+ (call sinf {A}) (call cosf {B}))", floats(128), floats(128),
                tolerance=1e-5),
    elementwise("exponentials", "float", f"(call logf (call expf {A}))", floats(128),
                tolerance=1e-4),
    elementwise("powers", "float", f"(call powf (call fabsf {A}) 1.5f)", floats(128),
                tolerance=1e-5),
    elementwise("roundings", "float", f"(+ (call floorf {A}) (+ (call rintf {B}) (call roundf {B})))",
                floats(128), floats(128) * 2),
    elementwise("counts", "int",
                f"(+ (call __popc {A}) (+ (call __clz {A}) (* (call __ffs {B}) 64)))",
                integers(128), integers(128)),
    elementwise("high", "int", f"(^ (call __mulhi {A} {B}) (cast int (call __brev {A})))",
                integers(128), integers(128)),
    elementwise("bits", "float", f"(call __int_as_float (^ (call __float_as_int {A}) 1))",
                floats(128)),
    elementwise("infinities", "float", f"(? (> {A} 0.0f) (bits float 0x7f800000) (neg {A}))",
                floats(128)),
    elementwise("smallest", "int", f"(^ {A} -2147483648)", integers(128)),
    elementwise("halves", "half", f"(+ (* {A} {B}) 0.5h)", floats(128, "f2"), floats(128, "f2"),
                tolerance=4e-3, includes=("cuda_fp16.h",)),
    elementwise("overloads", "uint", f"(call min (call max {A} 5u) {B})", integers(128, "u4"),
                integers(128, "u4")),
    Program("loops", f"""(kernel loops (params (param (ptr int) o) (param int n)) {INDEX}
        (let int total 0)
        (for (let int k 0) (< k n) (+= k 1)
            (if (== (% k 3) 0) (then (continue)))
            (if (> total 200) (then (break)))
            (+= total (* k i)))
        (let int j i)
        (while (> j 0) (-= j 5) (+= total j))
        (do (< j 100) (+= j 37) (^= total j))
        (= ([] o i) total))""", (np.zeros(128, "i4"), 17)),
    Program("switches", f"""(kernel switches (params (param (ptr int) o)) {INDEX} (let int v 7)
        (switch (& i 7)
            (case (0) (= v 10)) (case (1 2) (+= v i) (return)) (case (3) (*= v 2) :falls)
            (case (4) (+= v 100)) (default (= v (neg i))))
        (= ([] o i) v))""", (np.full(128, -1, "i4"),)),
    Program("tiles", """(kernel tiles (params (param (ptr float const) a) (param (ptr float) o)
            (param int n))
        (shared (array float 8 9) tile)
        (let int x (+ (* blockIdx.x 8) threadIdx.x)) (let int y (+ (* blockIdx.y 8) threadIdx.y))
        (= ([] ([] tile threadIdx.y) threadIdx.x) ([] a (+ (* y n) x)))
        (call __syncthreads)
        (= x (+ (* blockIdx.y 8) threadIdx.x)) (= y (+ (* blockIdx.x 8) threadIdx.y))
        (= ([] o (+ (* y n) x)) ([] ([] tile threadIdx.x) threadIdx.y)))""",
            (floats(256), np.zeros(256, "f4"), 16), grid=(2, 2), block=(8, 8)),
    Program("reduction", f"""(kernel reduction (params (param (ptr float const) a) (param (ptr float) o)
            (param int n))
        (extern-shared (array float 0) part) {INDEX} (let int t threadIdx.x)
        (= ([] part t) (? (< i n) ([] a i) 0.0f)) (call __syncthreads)
        (for (let int s (/ blockDim.x 2)) (> s 0) (>>= s 1)
            (if (< t s) (then (+= ([] part t) ([] part (+ t s))))) (call __syncthreads))
        (if (== t 0) (then (= ([] o blockIdx.x) ([] part 0)))))""",
            (floats(128), np.zeros(2, "f4"), 100), shared=256),
    Program("warps", f"""(kernel warps (params (param (ptr int const) a) (param (ptr int) o)) {INDEX}
        (let int v ([] a i))
        (for (let int d 16) (> d 0) (>>= d 1)
            (+= v (call __shfl_xor_sync 4294967295u v d)))
        (let uint m (call __ballot_sync 4294967295u (& ([] a i) 1)))
        (= ([] o i) (+ v (+ (cast int m) (+ (call __shfl_up_sync 4294967295u i 3)
            (call __any_sync 4294967295u (== v 3)))))))""", (integers(128), np.zeros(128, "i4"))),
    Program("atomics", f"""(kernel atomics (params (param (ptr int const) a) (param (ptr int) o)) {INDEX}
        (call atomicAdd (addr ([] o (& ([] a i) 7))) 1)
        (call atomicMax (addr ([] o 8)) ([] a i)) (call atomicXor (+ o 9) ([] a i)))""",
            (integers(128), np.zeros(10, "i4"))),
    Program("functions", f"""(module
        (constant (array int 4) unused)
        (function float square (params (param float x)) (return (* x x)))
        (function float choose (params (param float x) (param int k))
            (if (> k 3) (then (return (call square x)))) (return (+ x 1.0f)))
        (kernel functions (params (param (ptr float) o)) {INDEX}
            (= ([] o i) (call choose ([] o i) (& i 7)))))""", (floats(128),), tolerance=1e-6),
    Program("vectors", f"""(kernel vectors (params (param (ptr float4 const) a) (param (ptr float4) o))
        {INDEX} (let float4 v ([] a i)) (= v.x (+ v.y v.w))
        (= ([] o i) (call make_float4 v.x v.z v.y (- v.x v.z))))""",
            (floats(512), np.zeros(512, "f4"))),
    Program("locals", f"""(kernel locals (params (param (ptr int) o)) {INDEX}
        (let (array int 4) box)
        (for (let int k 0) (< k 4) (+= k 1) (= ([] box k) (* k (+ i 1))) :unroll 0)
        (let (ptr int) p (+ box 1))
        (= ([] o i) (+ (deref p) ([] p (& i 1)))))""", (np.zeros(128, "i4"),)),
]  # fmt: skip
