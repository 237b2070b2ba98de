"""What C++ turns into: structs by value, tables, pointers to functions, recursion, templates."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
struct Camera { double position[3]; float matrix[2][2]; short kind; char name[5]; };
extern "C" __global__ void by_value(Camera camera, char first, double *out) {
    int i = threadIdx.x;
    double v = camera.position[i % 3] + camera.matrix[i % 2][i / 2 % 2] * camera.kind;
    out[i] = v + camera.name[i % 5] - first;
}

struct Pointers { const int *from; int *to; int count; };
extern "C" __global__ void through_struct(const int *from, int *to, int count) {
    Pointers p{from, to, count};
    Pointers *hidden = &p;
    asm volatile("" : "+l"(hidden));  // through local memory
    for (int i = threadIdx.x; i < hidden->count; i += blockDim.x) hidden->to[i] = -hidden->from[i];
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b) { int r = 1; while (b-- > 0) r *= a; return r; }
extern "C" __global__ void function_pointers(const int *which, const int *a, const int *b, int *out) {
    Operation table[4] = {add, subtract, multiply, power};
    int i = threadIdx.x;
    out[i] = table[which[i] & 3](a[i], b[i]);
}

struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ Square(float v) : s(v) {}
                        __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float v) : r(v) {}
                        __device__ float area() const override { return 3.0f * r * r; } };
extern "C" __global__ void devirtualised(const float *x, float *out) {
    Square square(x[threadIdx.x]);
    Circle circle(x[threadIdx.x]);
    const Shape *shape = threadIdx.x % 2 ? (const Shape *)&square : &circle;
    out[threadIdx.x] = threadIdx.x % 2 ? square.area() : circle.area();
    if (shape == nullptr) out[threadIdx.x] = 0;
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void deep(int *out) { out[threadIdx.x] = ackermann(threadIdx.x / 4 % 3, threadIdx.x % 4); }

__device__ __noinline__ void hanoi(int n, int from, int to, int by, int *moves) {
    if (n == 0) return;
    hanoi(n - 1, from, by, to, moves);
    moves[from * 3 + to] += 1;
    hanoi(n - 1, by, to, from, moves);
}
extern "C" __global__ void towers(int *moves) {
    int mine[9] = {};
    hanoi(threadIdx.x % 7, 0, 2, 1, mine);
    for (int i = 0; i < 9; ++i) moves[threadIdx.x * 9 + i] = mine[i];
}

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ unsigned long long ticket;
extern "C" __global__ void constants(int *out, unsigned long long *tickets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = primes[i % 8] * primes[(i + 3) % 8];
    atomicAdd(&ticket, (unsigned long long)i);
    if (i == 0) *tickets = 1;
}

template <int N> struct Power { template <typename T> static __device__ T of(T x) { return x * Power<N - 1>::of(x); } };
template <> struct Power<0> { template <typename T> static __device__ T of(T) { return 1; } };
template <typename T, int N> __global__ void templated(const T *x, T *y) {
    y[threadIdx.x] = Power<N>::of(x[threadIdx.x]);
}
template __global__ void templated<int, 5>(const int *, int *);
template __global__ void templated<long long, 3>(const long long *, long long *);

extern "C" __global__ void wide(const long long *a, const unsigned long long *b, long long *out) {
    int i = threadIdx.x;
    unsigned long long u = b[i];
    long long v = a[i];
    switch (i % 9) {
        case 0: out[i] = v / 7 + v % 1000003; break;
        case 1: out[i] = (long long)(u / 10 + u % 97); break;
        case 2: out[i] = __clzll(v) * 100 + __ffsll(v); break;
        case 3: out[i] = __popcll(v); break;
        case 4: out[i] = (long long)__umul64hi(u, u); break;
        case 5: out[i] = __mul64hi(v, v); break;
        case 6: out[i] = (long long)__brevll(u); break;
        case 7: out[i] = v >> (u & 63); break;
        default: out[i] = v << (u & 63); break;
    }
}

// Branches that part a warp in every way: nested, with loops of different lengths, returns inside.
extern "C" __global__ void diverge(int *out) {
    int i = threadIdx.x, sum = 0;
    if (i % 7 == 3) { out[i] = -1; return; }
    for (int a = 0; a < i % 5; ++a) {
        if ((a + i) % 3 == 0) continue;
        for (int b = a; b < i; b += 3) {
            if (b % 4 == 2) sum += b;
            else if (b % 5 == 1) break;
            else sum -= a;
        }
        if (sum > 60) goto done;
    }
    sum += 1000;
done:
    out[i] = sum + __popc(__activemask() != 0);
}
"""

CAMERA = np.dtype(
    [("position", "3f8"), ("matrix", "(2,2)f4"), ("kind", "i2"), ("name", "5i1")], align=True
)


def camera(g: np.random.Generator) -> tuple[Any, ...]:
    value = np.zeros((), CAMERA)
    value["position"] = (1.5, -2.25, 8.0)
    value["matrix"] = [[1, 2], [3, 4]]
    value["kind"], value["name"] = -3, [5, -6, 7, -8, 9]
    return value[()], 4, np.zeros(64)


def seen(value: Any, first: int, out: Any) -> tuple[Any, ...]:
    i = np.arange(64)
    matrix = value["matrix"][i % 2, i // 2 % 2].astype(np.float64) * value["kind"]
    return (value["position"][i % 3] + matrix + value["name"][i % 5] - first,)


def operations(which: Any, a: Any, b: Any, out: Any) -> tuple[Any, ...]:
    table = (lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x**y)
    return (
        [
            table[w & 3](x, y)
            for w, x, y in zip(which.tolist(), a.tolist(), b.tolist(), strict=True)
        ],
    )


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def towers(moves: Any) -> tuple[Any, ...]:
    out = np.zeros((32, 3, 3), np.int32)

    def hanoi(n: int, start: int, end: int, spare: int, mine: Any) -> None:
        if n:
            hanoi(n - 1, start, spare, end, mine)
            mine[start, end] += 1
            hanoi(n - 1, spare, end, start, mine)

    for thread in range(32):
        hanoi(thread % 7, 0, 2, 1, out[thread])
    return (out.reshape(32, 9),)


def signed(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def wide(a: Any, b: Any, out: Any) -> tuple[Any, ...]:
    results = []
    for i, (v, u) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        bits = v % 2**64
        quotient = abs(v) // 7 * (1 if v >= 0 else -1)
        remainder = abs(v) % 1000003 * (1 if v >= 0 else -1)
        lowest = (bits & -bits).bit_length()
        results.append(signed((
            quotient + remainder, u // 10 + u % 97, (64 - bits.bit_length()) * 100 + lowest,
            bits.bit_count(), u * u >> 64, v * v >> 64, int(f"{u:064b}"[::-1], 2), v >> (u & 63),
            v << (u & 63),
        )[i % 9]))  # fmt: skip
    return (results,)


def diverge(out: Any) -> tuple[Any, ...]:
    def one(i: int) -> int:
        total = 0
        if i % 7 == 3:
            return -1
        for a in range(i % 5):
            if (a + i) % 3 == 0:
                continue
            for b in range(a, i, 3):
                if b % 4 == 2:
                    total += b
                elif b % 5 == 1:
                    break
                else:
                    total -= a
            if total > 60:
                return total + 1
        return total + 1001

    return ([one(i) for i in range(128)],)


def integers(g: np.random.Generator, low: int, high: int, count: int, dtype: Any = np.int32) -> Any:
    return g.integers(low, high, count).astype(dtype)


CASES = (
    Case("by_value", camera, launch("by_value", 1, 64), seen),
    Case(
        "through_struct",
        lambda g: (integers(g, -99, 99, 100), np.zeros(100, np.int32), 100),
        launch("through_struct", 1, 32),
        lambda x, y, n: (-x,),
    ),
    Case(
        "function_pointers",
        lambda g: (integers(g, 0, 4, 96), integers(g, -9, 9, 96), integers(g, 0, 6, 96),
                   np.zeros(96, np.int32)),
        launch("function_pointers", 1, 96),
        operations,
    ),
    Case(
        "devirtualised",
        lambda g: (g.integers(-99, 99, 64).astype(np.float32), np.zeros(64, np.float32)),
        launch("devirtualised", 1, 64),
        lambda x, y: (np.where(np.arange(64) % 2, x * x, 3 * x * x),),
    ),
    Case(
        "deep",
        lambda g: (np.zeros(32, np.int32),),
        launch("deep", 1, 32),
        lambda x: ([ackermann(i // 4 % 3, i % 4) for i in range(32)],),
    ),
    Case("towers", lambda g: (np.zeros((32, 9), np.int32),), launch("towers", 1, 32), towers),
    Case(
        "constants",
        lambda g: (np.zeros(64, np.int32), np.zeros(1, np.uint64)),
        launch("constants", 2, 32),
        lambda x, t: (np.resize([2, 3, 5, 7, 11, 13, 17, 19], 64)
                      * np.resize([7, 11, 13, 17, 19, 2, 3, 5], 64), [1]),
    ),
    Case(
        "templated_int",
        lambda g: (integers(g, -20, 20, 64), np.zeros(64, np.int32)),
        launch("_Z9templatedIiLi5EEvPKT_PS0_", 1, 64),
        lambda x, y: (x**5,),
    ),
    Case(
        "templated_long",
        lambda g: (integers(g, -(10**5), 10**5, 64, np.int64), np.zeros(64, np.int64)),
        launch("_Z9templatedIxLi3EEvPKT_PS0_", 1, 64),
        lambda x, y: (x**3,),
    ),
    Case(
        "wide",
        lambda g: (integers(g, -(2**63), 2**63 - 1, 144, np.int64),
                   integers(g, 0, 2**63 - 1, 144, np.uint64) * 2 + 1, np.zeros(144, np.int64)),
        launch("wide", 1, 144),
        wide,
    ),
    Case("diverge", lambda g: (np.zeros(128, np.int32),), launch("diverge", 1, 128), diverge),
)  # fmt: skip
