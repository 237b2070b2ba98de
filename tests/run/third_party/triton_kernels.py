"""Triton's kernels compiled for sm_80."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl
from tests.run.kernels.case import Case
from tests.run.third_party import Recipe
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# What a compiled kernel needs of its launch, by name.
_SHARED: dict[str, int] = {}


def recipe(
    function: Any,
    signature: dict[str, str],
    constants: dict[str, int],
    grid: Any,
    arguments: Any,
    expected: Any,
    *,
    name: str = "",
    warps: int = 4,
    stages: int = 2,
    **about: Any,
) -> Recipe:
    """Make a recipe of a Triton function."""
    title = name or function.fn.__name__

    def compile_function() -> str:
        made = triton.compile(
            ASTSource(function, signature=signature, constexprs=constants),
            target=GPUTarget("cuda", 80, 32),
            options={"num_warps": warps, "num_stages": stages},
        )
        _SHARED[title] = made.metadata.shared
        return str(made.asm["ptx"])

    def run(loaded: Any, *values: Any) -> None:
        kernel = loaded[loaded.kernels[0]]
        # Behind the function's own come pointers to scratch memory, unused here.
        scratch = [None] * (len(kernel.parameters) - len(values))
        kernel[grid, 32 * warps, _SHARED[title]](*values, *scratch)

    return Recipe(Case(title, arguments, run, expected, **about), compile_function)


def floats(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float32)


def halves(g: np.random.Generator, *shape: int) -> Any:
    return g.integers(-4, 4, shape).astype(np.float16)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):  # noqa: N803
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # noqa: N803
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def layer_norm(x, gain, bias, out, n, epsilon, BLOCK: tl.constexpr):  # noqa: N803
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + row * n + i, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + epsilon)
    y = centred * scale * tl.load(gain + i, mask=mask) + tl.load(bias + i, mask=mask)
    tl.store(out + row * n + i, y, mask=mask)


@triton.jit
def attention(q, k, v, out, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):  # noqa: N803
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), dtype=tl.float32)
    weight = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, N, BN):
        columns = start + tl.arange(0, BN)
        key = tl.load(k + columns[None, :] * D + d[:, None])
        score = tl.dot(query, key) * scale
        higher = tl.maximum(most, tl.max(score, axis=1))
        p = tl.exp(score - higher[:, None])
        shrink = tl.exp(most - higher)
        weight = weight * shrink + tl.sum(p, axis=1)
        value = tl.load(v + columns[:, None] * D + d[None, :])
        total = total * shrink[:, None] + tl.dot(p.to(tl.float16), value)
        most = higher
    tl.store(out + rows[:, None] * D + d[None, :], total / weight[:, None])


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    keep = tl.rand(seed, i) > p
    v = tl.load(x + i, mask=mask)
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=mask)


@triton.jit
def reduce(x, out, n, BLOCK: tl.constexpr):  # noqa: N803
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0)
    tl.store(out + row * 3, tl.sum(v, axis=0))
    tl.store(out + row * 3 + 1, tl.max(v, axis=0))
    tl.store(out + row * 3 + 2, tl.argmax(v, axis=0))


@triton.jit
def atomics(x, bins, n, BLOCK: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_add(bins + tl.load(x + i, mask=mask, other=0), 1, mask=mask)


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):  # noqa: N803
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * BLOCK + i, tl.sort(tl.load(x + row * BLOCK + i)))


def _softmax(x: Any, out: Any, n: int) -> tuple[Any, ...]:
    e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True),)


def _layer_norm(x: Any, gain: Any, bias: Any, out: Any, n: int, epsilon: float) -> tuple[Any, ...]:
    x = x.astype("f8")
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return ((x - mean) / np.sqrt(variance + epsilon) * gain + bias,)


def _attention(q: Any, k: Any, v: Any, out: Any, n: int, scale: float) -> tuple[Any, ...]:
    score = q.astype("f8") @ k.astype("f8").T * scale
    p = np.exp(score - score.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True) @ v.astype("f8"),)


def _uniform(seed: int, counters: Any) -> Any:
    """Triton's tl.rand: the first word of Philox4x32-10 as a number in [0, 1)."""
    word = np.uint64(0xFFFFFFFF)
    c = [counters.astype(np.uint64), *np.zeros((3, len(counters)), np.uint64)]
    keys = [seed, 0]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [second >> 32 ^ c[1] ^ np.uint64(keys[0]), second & word,
             first >> 32 ^ c[3] ^ np.uint64(keys[1]), first & word]  # fmt: skip
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    signed = c[0].astype(np.uint32).view(np.int32)
    positive = np.where(signed < 0, -(signed + 1), signed)
    return positive.astype(np.float32) * np.float32(4.6566127342e-10)


def _dropout(x: Any, out: Any, n: int, p: float, seed: int) -> tuple[Any, ...]:
    keep = _uniform(seed, np.arange(n)) > np.float32(p)
    return (np.where(keep, x / np.float32(1 - np.float32(p)), 0),)


def _reduce(x: Any, out: Any, n: int) -> tuple[Any, ...]:
    return (np.stack([x.sum(axis=1), x.max(axis=1), x.argmax(axis=1)], axis=1),)


RECIPES = (
    recipe(
        add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        {"BLOCK": 256}, 4,
        lambda g: (floats(g, 1000), floats(g, 1000), np.zeros(1000, "f4"), 1000),
        lambda x, y, out, n: (x + y,),
    ),
    recipe(
        softmax, {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256}, 3,
        lambda g: (floats(g, 3, 200), np.zeros((3, 200), "f4"), 200),
        _softmax, tolerance=2e-6, approximate=True,
    ),
    recipe(
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32",
         "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
        {"BM": 32, "BN": 32, "BK": 32}, (2, 2),
        lambda g: (halves(g, 64, 96), halves(g, 96, 64), np.zeros((64, 64), "f4"), 64, 64, 96),
        lambda a, b, c, m, n, k: (a.astype("f4") @ b.astype("f4"),),
    ),
    recipe(
        matmul,
        {"a": "*fp32", "b": "*fp32", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32",
         "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
        {"BM": 32, "BN": 32, "BK": 32}, (2, 2),
        lambda g: (halves(g, 64, 64).astype("f4"), halves(g, 64, 64).astype("f4"),
                   np.zeros((64, 64), "f4"), 64, 64, 64),
        lambda a, b, c, m, n, k: (a @ b,), name="matmul_tf32",
    ),
    recipe(
        layer_norm,
        {"x": "*fp32", "gain": "*fp32", "bias": "*fp32", "out": "*fp32", "n": "i32",
         "epsilon": "fp32", "BLOCK": "constexpr"},
        {"BLOCK": 128}, 4,
        lambda g: (floats(g, 4, 100), floats(g, 100), floats(g, 100), np.zeros((4, 100), "f4"), 100,
                   1e-5),
        _layer_norm, tolerance=1e-5, approximate=True,
    ),
    recipe(
        attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp32", "N": "i32", "scale": "fp32",
         "BM": "constexpr", "BN": "constexpr", "D": "constexpr"},
        {"BM": 32, "BN": 32, "D": 32}, 2,
        lambda g: (*(floats(g, 64, 32).astype("f2") for _ in range(3)), np.zeros((64, 32), "f4"), 64,
                   0.17677669),
        _attention, tolerance=3e-3, approximate=True,
    ),
    recipe(
        dropout,
        {"x": "*fp32", "out": "*fp32", "n": "i32", "p": "fp32", "seed": "i32", "BLOCK": "constexpr"},
        {"BLOCK": 128}, 3,
        lambda g: (floats(g, 300), np.zeros(300, "f4"), 300, 0.4, 123),
        _dropout, tolerance=1e-6, approximate=True,
    ),
    recipe(
        reduce, {"x": "*i32", "out": "*i32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256}, 3,
        lambda g: (g.permutation(600).reshape(3, 200).astype("i4"), np.zeros((3, 3), "i4"), 200),
        _reduce,
    ),
    recipe(
        atomics, {"x": "*i32", "bins": "*i32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 128}, 4,
        lambda g: (g.integers(0, 10, 500).astype("i4"), np.zeros(10, "i4"), 500),
        lambda x, bins, n: (np.bincount(x, minlength=10),),
    ),
    recipe(
        sort, {"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64}, 2,
        lambda g: (floats(g, 2, 64), np.zeros((2, 64), "f4")),
        lambda x, out: (np.sort(x, axis=1),),
    ),
)  # fmt: skip
