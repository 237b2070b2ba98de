"""Random numbers and hashes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, line, zeros

WORD = np.uint64(0xFFFFFFFF)


def lcg(state: Any, out: Any, n: int, rounds: int) -> Any:
    x = state.copy()
    for _ in range(rounds):
        x = x * np.uint32(1664525) + np.uint32(1013904223)
    return x, ((x >> np.uint32(8)).astype(np.float32) * np.float32(1 / 16777216))


def xorshift(state: Any, n: int) -> Any:
    x = state.copy()
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    return (x * np.uint64(2685821657736338717),)


def murmur(keys: Any, out: Any, n: int) -> Any:
    h = keys.copy()
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return (h,)


def philox(out: Any, key: int, n: int) -> Any:
    c = [np.arange(n, dtype=np.uint64), *np.zeros((3, n), np.uint64)]
    keys = [key, key ^ 0x5A5A5A5A]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            second >> np.uint64(32) ^ c[1] ^ np.uint64(keys[0]), second & WORD,
            first >> np.uint64(32) ^ c[3] ^ np.uint64(keys[1]), first & WORD,
        ]  # fmt: skip
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return (np.stack(c, axis=1).astype(np.uint32),)


def pi(hits: Any, trials: int, seed: int) -> Any:
    x = np.uint32(seed) + np.arange(128, dtype=np.uint32) * np.uint32(7919)
    total = 0
    for _ in range(trials):
        x = x * np.uint32(1103515245) + np.uint32(12345)
        a = (x >> np.uint32(16)).astype(np.int64)
        x = x * np.uint32(1103515245) + np.uint32(12345)
        b = (x >> np.uint32(16)).astype(np.int64)
        total += int((a * a + b * b < 1 << 32).sum())
    return ([total],)


def normal(u: Any, out: Any, n: int) -> Any:
    r = np.sqrt(-2 * np.log(np.float64(u[:, 0])))
    angle = 6.28318530718 * np.float64(u[:, 1])
    return (np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1),)


KERNELS = (
    Kernel(
        "lcg_uniform",
        r"""
extern "C" __global__ void lcg_uniform(unsigned int *state, float *out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int x = state[i];
        for (int r = 0; r < rounds; r++) x = x * 1664525u + 1013904223u;
        state[i] = x;
        out[i] = (x >> 8) * (1.0f / 16777216.0f);
    }
}
""",
        lambda g, n: line(n, g.integers(0, 2**32, n).astype("u4"), zeros(n), n, 5),
        lcg,
    ),
    Kernel(
        "xorshift64star",
        r"""
__device__ unsigned long long next(unsigned long long *s)
{
    unsigned long long x = *s;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *s = x;
    return x * 2685821657736338717ULL;
}

extern "C" __global__ void xorshift64star(unsigned long long *state, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n) {
        unsigned long long s = state[tid];
        state[tid] = next(&s);
    }
}
""",
        lambda g, n: line(n, g.integers(1, 2**63, n).astype("u8"), n),
        xorshift,
    ),
    Kernel(
        "murmur_mix",
        r"""
__device__ __forceinline__ unsigned int fmix32(unsigned int h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    h ^= h >> 16;
    return h;
}
extern "C" __global__ void murmur_mix(const unsigned int *keys, unsigned int *hashes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) hashes[i] = fmix32(keys[i]);
}
""",
        lambda g, n: line(n, g.integers(0, 2**32, n).astype("u4"), zeros(n, dtype="u4"), n),
        murmur,
    ),
    Kernel(
        "philox4x32",
        r"""
__device__ uint4 philox_round(uint4 c, uint2 k)
{
    unsigned int hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
    unsigned int hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
    return make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
}

extern "C" __global__ void philox4x32(uint4 *out, unsigned int key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 c = make_uint4(i, 0, 0, 0);
    uint2 k = make_uint2(key, key ^ 0x5a5a5a5au);
    for (int r = 0; r < 10; ++r) {
        c = philox_round(c, k);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    out[i] = c;
}
""",
        lambda g, n: line(n, zeros(n, 4, dtype="u4"), 0x12345678, n),
        philox,
    ),
    Kernel(
        "monte_carlo_pi",
        r"""
extern "C" __global__ void monte_carlo_pi(unsigned long long *hits, int trials, unsigned int seed)
{
    __shared__ int block_hits;
    if (threadIdx.x == 0) block_hits = 0;
    __syncthreads();
    unsigned int x = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 7919u;
    int mine = 0;
    for (int t = 0; t < trials; t++) {
        x = x * 1103515245u + 12345u;
        long long a = x >> 16;
        x = x * 1103515245u + 12345u;
        long long b = x >> 16;
        if (a * a + b * b < (1LL << 32)) mine++;
    }
    atomicAdd(&block_hits, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(hits, (unsigned long long)block_hits);
}
""",
        lambda g, n: Setup(2, 64, (zeros(1, dtype="u8"), n, 42)),
        pi,
        sizes=(0, 1, 25),
    ),
    Kernel(
        "box_muller",
        r"""
extern "C" __global__ void box_muller(const float2 *uniform, float2 *normal, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 u = uniform[i];
        float r = sqrtf(-2.0f * logf(u.x));
        float s, c;
        sincosf(6.28318530718f * u.y, &s, &c);
        normal[i].x = r * c;
        normal[i].y = r * s;
    }
}
""",
        lambda g, n: line(n, g.uniform(1e-4, 1, (n, 2)).astype("f4"), zeros(n, 2), n),
        normal,
        tolerance=1e-5,
    ),
)
