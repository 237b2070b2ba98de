"""Bodies, rays, waves and fractals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, line, plane, zeros


def forces(p: Any, a: Any, n: int) -> Any:
    d = p[None, :, :3].astype(np.float64) - p[:, None, :3]
    r2 = (d**2).sum(axis=2) + 0.01
    out = (d * (p[None, :, 3] * r2**-1.5)[:, :, None]).sum(axis=1)
    return (np.concatenate([out, np.zeros((n, 1))], axis=1),)


def butterfly(x: Any, y: Any, n: int, half: int) -> Any:
    z = x.astype(np.float64).reshape(-1, 2) @ [1, 1j]
    t = np.arange(n // 2)
    k, base = t % half, t // half * 2 * half
    w = np.exp(-1j * np.pi * k / half)
    out = np.zeros(n, complex)
    a, b = z[base + k], z[base + k + half] * w
    out[base + k], out[base + k + half] = a + b, a - b
    return (np.stack([out.real, out.imag], axis=1),)


def boxes(origin: Any, direction: Any, lo: Any, hi: Any, hit: Any, n: int) -> Any:
    inverse = np.float32(1) / direction
    t1, t2 = (lo - origin) * inverse, (hi - origin) * inverse
    near, far = np.minimum(t1, t2).max(axis=1), np.maximum(t1, t2).min(axis=1)
    return ((far >= np.maximum(near, 0)).astype(np.uint8),)


def box_setup(g: np.random.Generator, n: int) -> Setup:
    lo = floats(g, n, 3)
    hi = lo + np.abs(floats(g, n, 3)) * 2
    return line(n, floats(g, n, 3) * 3, floats(g, n, 3), lo, hi, zeros(n, dtype="u1"), n)


def spheres(rays: Any, depth: Any, n: int, cx: float, cy: float, cz: float, r: float) -> Any:
    d2 = r * r - ((rays.astype(np.float64) - [cx, cy]) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return (np.where(d2 < 0, -1.0, cz - np.sqrt(d2)),)


def escape(out: Any, w: int, h: int, limit: int) -> Any:
    x0 = (np.arange(w, dtype=np.float64) * 3.5 / w - 2.5)[None, :]
    y0 = (np.arange(h, dtype=np.float64) * 2.0 / h - 1.0)[:, None]
    x, y = np.zeros((2, h, w))
    count = np.zeros((h, w), np.int32)
    for _ in range(limit):
        inside = x * x + y * y <= 4
        count += inside
        x, y = np.where(inside, x * x - y * y + x0, x), np.where(inside, 2 * x * y + y0, y)
    return (count,)


def moved(particles: Any, n: int, dt: float, gravity: float) -> Any:
    out = particles.copy()
    out["vy"] = particles["vy"] - np.float32(gravity) * np.float32(dt)
    for axis in "xyz":
        out[axis] += out["v" + axis] * np.float32(dt)
    below = out["y"] < 0
    out["y"][below] *= -1
    out["vy"][below] *= -1
    out["bounces"] += below
    return (out,)


PARTICLE = np.dtype([(k, "f4") for k in ("x", "y", "z", "vx", "vy", "vz")] + [("bounces", "i4")])


def particles(g: np.random.Generator, n: int) -> Setup:
    out = np.zeros(n, PARTICLE)
    for name in PARTICLE.names[:-1]:
        out[name] = g.integers(-64, 64, n) / 8
    return line(n, out, n, 0.25, 8.0)


def black_scholes(call: Any, put: Any, s: Any, x: Any, t: Any, r: float, v: float, n: int) -> Any:
    s, x, t = (k.astype(np.float64) for k in (s, x, t))
    d1 = (np.log(s / x) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)

    def cnd(d: Any) -> Any:
        k = 1 / (1 + 0.2316419 * np.abs(d))
        series = k * (
            0.31938153
            + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
        )
        c = 0.39894228040143267794 * np.exp(-0.5 * d * d) * series
        return np.where(d > 0, 1 - c, c)

    discount = np.exp(-r * t)
    return (s * cnd(d1) - x * discount * cnd(d2), x * discount * (1 - cnd(d2)) - s * (1 - cnd(d1)))


def options(g: np.random.Generator, n: int) -> Setup:
    prices = [g.uniform(lo, hi, n).astype("f4") for lo, hi in ((5, 30), (1, 100), (0.25, 10))]
    return line(n, zeros(n), zeros(n), *prices, 0.02, 0.3, n)


KERNELS = (
    Kernel(
        "nbody",
        r"""
#define EPS2 0.01f
__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

extern "C" __global__ void nbody(const float4 *positions, float4 *accelerations, int n)
{
    __shared__ float4 shPosition[32];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = gtid < n ? positions[gtid] : make_float4(0, 0, 0, 0);
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int i = 0, tile = 0; i < n; i += 32, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = idx < n ? positions[idx] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++)
            acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
        __syncthreads();
    }
    if (gtid < n) accelerations[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}
""",
        lambda g, n: line(n, g.uniform(0.1, 1, (n, 4)).astype("f4"), zeros(n, 4), n, block=32),
        forces,
        sizes=(1, 70),
        tolerance=2e-4,
    ),
    Kernel(
        "fft_radix2_step",
        r"""
extern "C" __global__ void fft_radix2_step(const float2 *in, float2 *out, int n, int half)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2) return;
    int k = t % half;
    int base = (t / half) * 2 * half;
    float s, c;
    sincosf(-3.14159265358979f * k / half, &s, &c);
    float2 a = in[base + k], b = in[base + k + half];
    float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    out[base + k] = make_float2(a.x + w.x, a.y + w.y);
    out[base + k + half] = make_float2(a.x - w.x, a.y - w.y);
}
""",
        lambda g, n: line(n, floats(g, n, 2), zeros(n, 2), n, max(1, n // 4)),
        butterfly,
        sizes=(2, 64, 256),
        tolerance=1e-5,
    ),
    Kernel(
        "ray_box",
        r"""
struct Ray { float3 origin, direction; };
struct Box { float3 lo, hi; };

__device__ bool intersect(const Ray &r, const Box &b)
{
    float3 inv = make_float3(1.0f / r.direction.x, 1.0f / r.direction.y, 1.0f / r.direction.z);
    float tx1 = (b.lo.x - r.origin.x) * inv.x, tx2 = (b.hi.x - r.origin.x) * inv.x;
    float tmin = fminf(tx1, tx2), tmax = fmaxf(tx1, tx2);
    float ty1 = (b.lo.y - r.origin.y) * inv.y, ty2 = (b.hi.y - r.origin.y) * inv.y;
    tmin = fmaxf(tmin, fminf(ty1, ty2));
    tmax = fminf(tmax, fmaxf(ty1, ty2));
    float tz1 = (b.lo.z - r.origin.z) * inv.z, tz2 = (b.hi.z - r.origin.z) * inv.z;
    tmin = fmaxf(tmin, fminf(tz1, tz2));
    tmax = fminf(tmax, fmaxf(tz1, tz2));
    return tmax >= fmaxf(tmin, 0.0f);
}

extern "C" __global__ void ray_box(const float3 *origin, const float3 *direction, const float3 *lo,
                                   const float3 *hi, unsigned char *hit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Ray r = {origin[i], direction[i]};
        Box b = {lo[i], hi[i]};
        hit[i] = intersect(r, b);
    }
}
""",
        box_setup,
        boxes,
    ),
    Kernel(
        "ray_sphere_depth",
        r"""
struct Sphere {
    float x, y, z, radius;
    __device__ float hit(float ox, float oy) const {
        float dx = ox - x, dy = oy - y;
        float d2 = radius * radius - dx * dx - dy * dy;
        if (d2 < 0.f) return -1.f;
        return z - sqrtf(d2);
    }
};
extern "C" __global__ void ray_sphere_depth(const float2 *rays, float *depth, int n, float cx, float cy, float cz, float r)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    Sphere s{cx, cy, cz, r};
    depth[i] = s.hit(rays[i].x, rays[i].y);
}
""",
        lambda g, n: line(n, floats(g, n, 2), zeros(n), n, 0.25, -0.5, 0.0, 1.5),
        spheres,
        tolerance=1e-5,
    ),
    Kernel(
        "mandelbrot",
        r"""
extern "C" __global__ void mandelbrot(int *iterations, int width, int height, int max_iter)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double x0 = px * 3.5 / width - 2.5;
    double y0 = py * 2.0 / height - 1.0;
    double x = 0.0, y = 0.0;
    int iter = 0;
    while (__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 4.0 && iter < max_iter) {
        double xt = __dadd_rn(__dsub_rn(__dmul_rn(x, x), __dmul_rn(y, y)), x0);
        y = __dadd_rn(__dmul_rn(2.0 * x, y), y0);
        x = xt;
        iter++;
    }
    iterations[py * width + px] = iter;
}
""",
        lambda g, n: plane(n, 12, zeros(12, n, dtype="i4"), n, 12, 40),
        escape,
        sizes=(1, 28),
    ),
    Kernel(
        "particle_update",
        r"""
struct Particle {
    float x, y, z;
    float vx, vy, vz;
    int bounces;
};

extern "C" __global__ void particle_update(Particle *p, int n, float dt, float g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle q = p[i];
    q.vy -= g * dt;
    q.x += q.vx * dt;
    q.y += q.vy * dt;
    q.z += q.vz * dt;
    if (q.y < 0.f) {
        q.y = -q.y;
        q.vy = -q.vy;
        q.bounces++;
    }
    p[i] = q;
}
""",
        particles,
        moved,
    ),
    Kernel(
        "black_scholes",
        r"""
__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f;
    const float A2 = -0.356563782f;
    const float A3 = 1.781477937f;
    const float A4 = -1.821255978f;
    const float A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

extern "C" __global__ void black_scholes(float *call, float *put, const float *S, const float *X,
                                         const float *T, float R, float V, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < optN) {
        float sqrtT = __fdividef(1.0F, rsqrtf(T[opt]));
        float d1 = __fdividef(__logf(S[opt] / X[opt]) + (R + 0.5f * V * V) * T[opt], V * sqrtT);
        float d2 = d1 - V * sqrtT;
        float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2);
        float expRT = __expf(-R * T[opt]);
        call[opt] = S[opt] * CNDD1 - X[opt] * expRT * CNDD2;
        put[opt] = X[opt] * expRT * (1.0f - CNDD2) - S[opt] * (1.0f - CNDD1);
    }
}
""",
        options,
        lambda *a: (*black_scholes(*a), *a[2:5]),
        tolerance=1e-3,
    ),
    Kernel(
        "spring_energy",
        r"""
extern "C" __global__ void spring_energy(const double3 *pos, const int2 *springs, const double *rest, double k, double *energy, int n)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n) return;
    double3 a = pos[springs[s].x], b = pos[springs[s].y];
    double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    double len = sqrt(dx * dx + dy * dy + dz * dz);
    double ext = len - rest[s];
    energy[s] = 0.5 * k * ext * ext;
}
""",
        lambda g, n: line(
            n, g.standard_normal((10, 3)), g.integers(0, 10, (n, 2)).astype("i4"),
            g.random(n), 3.5, zeros(n, dtype="f8"), n,
        ),
        lambda p, s, rest, k, e, n: (
            0.5 * k * (np.sqrt(((p[s[:, 0]] - p[s[:, 1]]) ** 2).sum(axis=1)) - rest) ** 2,
        ),
        tolerance=1e-12,
    ),
)  # fmt: skip
