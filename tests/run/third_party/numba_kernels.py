"""Python functions compiled by numba-cuda for sm_80."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it, and numpy 2.5 dropped it
    np.row_stack = np.vstack

from numba import cuda, types
from tests.run.kernels.case import Case
from tests.run.third_party import Recipe

f4, f8, i4, i8, u1 = types.float32, types.float64, types.int32, types.int64, types.uint8
c8 = types.complex64


def flat(value: Any) -> tuple[Any, ...]:
    """How numba passes a value: an array as owner, parent, counts, address, shape and strides."""
    if isinstance(value, np.ndarray):
        return (0, 0, value.size, value.itemsize, value, *value.shape, *value.strides)
    if isinstance(value, complex):
        return (np.array(value, np.complex64).tobytes(),)
    return (value,)


def recipe(
    signature: tuple[Any, ...], launch: tuple[Any, ...], arguments: Any, expected: Any, **about: Any
) -> Callable[[Any], Recipe]:
    """Make a recipe of a function."""

    def decorate(function: Any) -> Recipe:
        def run(loaded: Any, *values: Any) -> None:
            (name,) = loaded.kernels
            loaded[name][launch](*(part for value in values for part in flat(value)))

        def compile_function() -> str:
            text, _ = cuda.compile_ptx(function, signature, cc=(8, 0))
            return str(text)

        name = function.__name__
        return Recipe(Case(name, arguments, run, expected, **about), compile_function)

    return decorate


def floats(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float32)


@recipe(
    (f4[::1], f4[::1], f4), (4, 64),
    lambda g: (floats(g, 200), floats(g, 200), 2.0),
    lambda x, y, a: ((a * x.astype("f8") + y).astype("f4"),), tolerance=1e-6,
)  # fmt: skip
def axpy(x: Any, y: Any, a: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@recipe(
    (i8[::1], i8[::1]), (3, 64), lambda g: (g.integers(-9999, 9999, 1000), np.zeros(1, np.int64)),
    lambda x, out: ([x.sum()],),
)  # fmt: skip
def reduction(x: Any, out: Any) -> None:
    total = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(out, 0, total)


@recipe(
    (f4[:, ::1], f4[:, ::1], f4[:, ::1]), ((2, 2), (16, 16)),
    lambda g: (g.integers(-8, 8, (32, 32)).astype("f4"), g.integers(-8, 8, (32, 32)).astype("f4"),
               np.zeros((32, 32), "f4")),
    lambda a, b, c: (a @ b,),
)  # fmt: skip
def matmul(a: Any, b: Any, c: Any) -> None:
    left = cuda.shared.array((16, 16), f4)
    right = cuda.shared.array((16, 16), f4)
    row, column = cuda.grid(2)
    total = f4(0)
    for tile in range(a.shape[1] // 16):
        left[cuda.threadIdx.x, cuda.threadIdx.y] = a[row, tile * 16 + cuda.threadIdx.y]
        right[cuda.threadIdx.x, cuda.threadIdx.y] = b[tile * 16 + cuda.threadIdx.x, column]
        cuda.syncthreads()
        for k in range(16):
            total += left[cuda.threadIdx.x, k] * right[k, cuda.threadIdx.y]
        cuda.syncthreads()
    c[row, column] = total


@recipe(
    (u1[::1], i4[::1]), (2, 128),
    lambda g: (g.integers(0, 64, 2000).astype(np.uint8), np.zeros(64, np.int32)),
    lambda x, bins: (np.bincount(x, minlength=64),),
)  # fmt: skip
def histogram(x: Any, bins: Any) -> None:
    counts = cuda.shared.array(64, i4)
    if cuda.threadIdx.x < 64:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 64:
        cuda.atomic.add(bins, cuda.threadIdx.x, counts[cuda.threadIdx.x])


@recipe(
    (i4[::1],), (1, 128), lambda g: (g.integers(-99, 99, 128).astype(np.int32),),
    lambda x: (np.cumsum(x),),
)  # fmt: skip
def scan(x: Any) -> None:
    data = cuda.shared.array(128, i4)
    i = cuda.threadIdx.x
    data[i] = x[i]
    distance = 1
    while distance < cuda.blockDim.x:
        cuda.syncthreads()
        before = data[i - distance] if i >= distance else 0
        cuda.syncthreads()
        data[i] += before
        distance *= 2
    x[i] = data[i]


def _escape(out: Any, limit: int) -> tuple[Any, ...]:
    height, width = out.shape
    c = np.linspace(-2, 1, width)[None, :] + 1j * np.linspace(-1, 1, height)[:, None]
    z = np.zeros_like(c)
    count = np.zeros(out.shape, np.int32)
    for _ in range(limit):
        inside = z.real * z.real + z.imag * z.imag <= 4
        count += inside
        z = np.where(inside, z * z + c, z)
    return (count,)


@recipe(
    (i4[:, ::1], i4), ((2, 2), (16, 16)), lambda g: (np.zeros((32, 32), np.int32), 20), _escape,
)  # fmt: skip
def mandelbrot(out: Any, limit: Any) -> None:
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        a = -2.0 + column * 3.0 / (out.shape[1] - 1)
        b = -1.0 + row * 2.0 / (out.shape[0] - 1)
        x = y = 0.0
        count = 0
        while count < limit and x * x + y * y <= 4.0:
            x, y = x * x - y * y + a, 2.0 * x * y + b
            count += 1
        out[row, column] = count


def _inside(seeds: Any, out: Any) -> tuple[Any, ...]:
    x = seeds.astype(np.uint64)
    count = np.zeros(len(seeds), np.int64)
    for _ in range(30):
        pair = []
        for _ in range(2):
            x = (x * np.uint64(1103515245) + np.uint64(12345)) & np.uint64(0x7FFFFFFF)
            pair.append(x.astype(np.float64) / 2147483648.0)
        count += pair[0] ** 2 + pair[1] ** 2 < 1.0
    return (count,)


@recipe(
    (i8[::1], i8[::1]), (2, 32),
    lambda g: (g.integers(1, 2**31, 64), np.zeros(64, np.int64)), _inside,
)  # fmt: skip
def monte_carlo(seeds: Any, out: Any) -> None:
    i = cuda.grid(1)
    state = seeds[i]
    count = 0
    for _ in range(30):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        a = state / 2147483648.0
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        b = state / 2147483648.0
        if a * a + b * b < 1.0:
            count += 1
    out[i] = count


def _around(x: Any, y: Any) -> tuple[Any, ...]:
    out = np.zeros_like(x)
    out[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return (out,)


@recipe(
    (f8[:, ::1], f8[:, ::1]), ((3, 3), (8, 8)),
    lambda g: (g.integers(-9, 9, (20, 22)).astype(np.float64), np.zeros((20, 22))), _around,
)  # fmt: skip
def heat(x: Any, y: Any) -> None:
    i, j = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


def _functions(x: Any, y: Any) -> tuple[Any, ...]:
    a = np.abs(x) + 0.5
    return (
        np.sin(x) + np.cos(a) * np.exp(-a) + np.log(a) + np.sqrt(a) + np.arctan2(x, a) + a**1.7,
    )


@recipe(
    (f8[::1], f8[::1]), (2, 64), lambda g: (g.standard_normal(100) * 5, np.zeros(100)),
    _functions, tolerance=1e-12,
)  # fmt: skip
def functions(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        a = abs(x[i]) + 0.5
        y[i] = math.sin(x[i]) + math.cos(a) * math.exp(-a) + math.log(a) + math.sqrt(a)
        y[i] += math.atan2(x[i], a) + math.pow(a, 1.7)


@recipe(
    (i4[:, ::1], i4[::1]), (1, 32),
    lambda g: (g.integers(0, 100, (32, 9)).astype(np.int32), np.zeros(32, np.int32)),
    lambda x, out: (np.median(x, axis=1),),
)  # fmt: skip
def records(x: Any, out: Any) -> None:
    row = cuda.local.array(9, i4)
    t = cuda.threadIdx.x
    for i in range(9):
        value = x[t, i]
        j = i
        while j > 0 and row[j - 1] > value:
            row[j] = row[j - 1]
            j -= 1
        row[j] = value
    cuda.syncwarp()
    out[t] = row[4]


@recipe(
    (c8[::1], c8[::1], f4), (1, 64),
    lambda g: ((floats(g, 50) + 1j * floats(g, 50)).astype("c8"), np.zeros(50, "c8"), 0.5),
    lambda x, y, a: (x.astype("c16") ** 2 * (0.5 - 2j) + np.conj(x.astype("c16")),), tolerance=1e-5,
)  # fmt: skip
def complex_numbers(x: Any, y: Any, a: Any) -> None:
    i = cuda.threadIdx.x
    if i < x.size:
        y[i] = x[i] * x[i] * complex(a, -2.0) + x[i].conjugate()


@recipe(
    (f4[::1], f4[::1]), (4, 32), lambda g: (floats(g, 500), np.full(2, 0, np.float32)),
    lambda x, out: ([min(x.min(), 0), max(x.max(), 0)],),
)  # fmt: skip
def reduce_min(x: Any, out: Any) -> None:
    for i in range(
        cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x,
        x.size,
        cuda.gridDim.x * cuda.blockDim.x,
    ):
        cuda.atomic.min(out, 0, x[i])
        cuda.atomic.max(out, 1, x[i])


RECIPES = (
    axpy, reduction, matmul, histogram, scan, mandelbrot, monte_carlo, heat, functions, records,
    complex_numbers, reduce_min,
)  # fmt: skip
