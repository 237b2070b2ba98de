"""What C++ offers: templates, structs, recursion, switches, local arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, integers, line, zeros

CONFIG = np.dtype([("scale", "f4"), ("bias", "f4"), ("count", "i4"), ("flags", "u1"), ("table", "3i2")], align=True)  # fmt: skip


def configured(g: np.random.Generator, n: int) -> Setup:
    config = np.zeros((), CONFIG)
    config["scale"], config["bias"], config["count"] = 0.5, 3.0, n
    config["flags"], config["table"] = 5, [4, -8, 16]
    return line(n, config[()], g.integers(-64, 64, n).astype("f4"), zeros(n))


def by_config(c: Any, x: Any, y: Any) -> Any:
    out = x * c["scale"] + c["bias"] + c["table"][np.arange(len(x)) % 3]
    return (-out if c["flags"] & 4 else out,)


def calculated(op: Any, a: Any, b: Any, out: Any, n: int) -> Any:
    found = []
    for o, x, y in zip(op.tolist(), a.tolist(), b.tolist(), strict=True):
        table = {0: x + y, 1: x - y, 2: x * y, 3: int(x / y) if y else 0, 4: x & y, 5: x | y,
                 6: x ^ y, 7: max(x, y)}  # fmt: skip
        found.append(table.get(o, -1))
    return (found,)


def collatz(x: Any, steps: Any, n: int) -> Any:
    found = []
    for v in x.tolist():
        count = 0
        while v != 1:
            v = 3 * v + 1 if v % 2 else v // 2
            count += 1
        found.append(count)
    return (found,)


def fibonacci(out: Any, n: int) -> Any:
    numbers = [0, 1]
    while len(numbers) < 14:
        numbers.append(numbers[-1] + numbers[-2])
    return ([numbers[i % 13] for i in range(n)],)


def days(x: Any, out: Any, n: int) -> Any:
    length = {2: 28, 4: 30, 6: 30, 9: 30, 11: 30}
    found = []
    for v in x.tolist():
        month, year = v % 14, 1900 + v
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if not 1 <= month <= 12:
            found.append(0)
        else:
            found.append(29 if month == 2 and leap else length.get(month, 31))
    return (found,)


def polygon(points: Any, xs: Any, inside: Any, n: int, m: int) -> Any:
    out = []
    for x, y in xs:
        odd = False
        j = m - 1
        for i in range(m):
            (xi, yi), (xj, yj) = points[i], points[j]
            if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
                odd = not odd
            j = i
        out.append(int(odd))
    return (out,)


KERNELS = (
    Kernel(
        "templated_power",
        r"""
template <typename T, int N>
__global__ void templated_power(const T *in, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T r = 1;
#pragma unroll
    for (int k = 0; k < N; ++k) r *= in[i];
    out[i] = r;
}
template __global__ void templated_power<long long, 5>(const long long *, long long *, int);
""",
        lambda g, n: line(n, g.integers(-999, 999, n), zeros(n, dtype="i8"), n),
        lambda x, y, n: (x**5,),
    ),
    Kernel(
        "functor_transform",
        r"""
struct Affine {
    int a, b;
    __device__ int operator()(int x) const { return a * x + b; }
};
struct Square {
    __device__ int operator()(int x) const { return x * x; }
};
template <typename F, typename G> struct Compose {
    F f; G g;
    __device__ int operator()(int x) const { return f(g(x)); }
};
template <typename Op>
__device__ void transform(const int *in, int *out, int n, Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = op(in[i]);
}
extern "C" __global__ void functor_transform(const int *in, int *out, int a, int b, int n)
{
    transform(in, out, n, Compose<Affine, Square>{{a, b}, {}});
}
""",
        lambda g, n: line(n, integers(g, n), zeros(n, dtype="i4"), 3, -7, n),
        lambda x, y, a, b, n: (a * x * x + b,),
    ),
    Kernel(
        "struct_by_value",
        r"""
struct Config { float scale, bias; int count; unsigned char flags; short table[3]; };
extern "C" __global__ void struct_by_value(Config config, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= config.count) return;
    float v = x[i] * config.scale + config.bias + config.table[i % 3];
    y[i] = config.flags & 4 ? -v : v;
}
""",
        configured,
        by_config,
    ),
    Kernel(
        "recursive_fibonacci",
        r"""
__device__ __noinline__ int fib(int n)
{
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}
extern "C" __global__ void recursive_fibonacci(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fib(i % 13);
}
""",
        lambda g, n: line(n, zeros(n, dtype="i4"), n, block=32),
        fibonacci,
        sizes=(1, 40),
    ),
    Kernel(
        "recursive_gcd",
        r"""
__device__ __noinline__ unsigned int gcd(unsigned int a, unsigned int b)
{
    return b == 0 ? a : gcd(b, a % b);
}
extern "C" __global__ void recursive_gcd(const unsigned int *a, const unsigned int *b, unsigned int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gcd(a[i], b[i]);
}
""",
        lambda g, n: line(
            n, *g.integers(0, 5000, (2, n)).astype("u4"), zeros(n, dtype="u4"), n
        ),
        lambda a, b, o, n: (np.gcd(a, b),),
    ),
    Kernel(
        "switch_calculator",
        r"""
extern "C" __global__ void switch_calculator(const int *op, const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], r;
    switch (op[i]) {
        case 0: r = x + y; break;
        case 1: r = x - y; break;
        case 2: r = x * y; break;
        case 3: r = y != 0 ? x / y : 0; break;
        case 4: r = x & y; break;
        case 5: r = x | y; break;
        case 6: r = x ^ y; break;
        case 7: r = max(x, y); break;
        default: r = -1;
    }
    out[i] = r;
}
""",
        lambda g, n: line(
            n, integers(g, n, low=-1, high=10), integers(g, n), integers(g, n, low=-5, high=9),
            zeros(n, dtype="i4"), n,
        ),
        calculated,
    ),
    Kernel(
        "days_in_month",
        r"""
__device__ int days(int month, int year)
{
    switch (month) {
        case 4: case 6: case 9: case 11:
            return 30;
        case 2: {
            bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            return leap ? 29 : 28;
        }
        case 1: case 3: case 5: case 7: case 8: case 10: case 12:
            return 31;
    }
    return 0;
}
extern "C" __global__ void days_in_month(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = days(x[i] % 14, 1900 + x[i]);
}
""",
        lambda g, n: line(n, integers(g, n, low=0, high=400), zeros(n, dtype="i4"), n),
        days,
    ),
    Kernel(
        "collatz",
        r"""
extern "C" __global__ void collatz(const unsigned int *start, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int v = start[i];
    int count = 0;
    while (v != 1) {
        if (v & 1) v = 3 * v + 1;
        else v >>= 1;
        ++count;
    }
    steps[i] = count;
}
""",
        lambda g, n: line(n, g.integers(1, 3000, n).astype("u4"), zeros(n, dtype="i4"), n),
        collatz,
    ),
    Kernel(
        "float4_copy",
        r"""
extern "C" __global__ void __launch_bounds__(128) float4_copy(const float4 *__restrict__ src, float4 *__restrict__ dst, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 v = src[i];
        v.x += 1.0f;
        v.w *= 2.0f;
        dst[i] = v;
    }
}
""",
        lambda g, n: line(n, floats(g, n, 4), zeros(n, 4), n),
        lambda x, y, n: (x * np.float32([1, 1, 1, 2]) + np.float32([1, 0, 0, 0]),),
    ),
    Kernel(
        "dynamic_shared_two",
        r"""
extern __shared__ char raw[];
extern "C" __global__ void dynamic_shared_two(const double *x, const int *idx, double *y, int n)
{
    double *vals = (double *)raw;
    int *perm = (int *)(vals + blockDim.x);
    int t = threadIdx.x;
    vals[t] = t < n ? x[t] : 0.0;
    perm[t] = t < n ? idx[t] : t;
    __syncthreads();
    if (t < n) y[t] = vals[perm[t]];
}
""",
        lambda g, n: Setup(
            1, 128, (g.standard_normal(n), g.permutation(n).astype("i4"), zeros(n, dtype="f8"), n),
            128 * 12,
        ),
        lambda x, p, y, n: (x[p],),
        sizes=(1, 37, 128),
    ),
    Kernel(
        "point_in_polygon",
        r"""
extern "C" __global__ void point_in_polygon(const float2 *poly, const float2 *pts, int *inside, int n, int m)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float2 p = pts[t];
    bool odd = false;
    for (int i = 0, j = m - 1; i < m; j = i++) {
        if ((poly[i].y > p.y) != (poly[j].y > p.y) &&
            p.x < (poly[j].x - poly[i].x) * (p.y - poly[i].y) / (poly[j].y - poly[i].y) + poly[i].x)
            odd = !odd;
    }
    inside[t] = odd;
}
""",
        lambda g, n: line(n, floats(g, 7, 2), floats(g, n, 2), zeros(n, dtype="i4"), n, 7),
        polygon,
    ),
    Kernel(
        "device_counter",
        r"""
__device__ int processed;
__device__ float coefficients[4] = {1.0f, -0.5f, 0.25f, -0.125f};

extern "C" __global__ void device_counter(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * coefficients[i & 3];
        atomicAdd(&processed, 1);
    }
}
""",
        lambda g, n: line(n, floats(g, n), zeros(n), n),
        lambda x, y, n: (x * np.resize(np.float32([1, -0.5, 0.25, -0.125]), n),),
    ),
)  # fmt: skip
