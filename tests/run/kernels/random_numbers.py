"""Random number generators: counters (Philox) and states (xorshift, xorwow, a Mersenne step)."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
extern "C" __global__ void philox(unsigned *out, unsigned seed_low, unsigned seed_high) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c[4] = {i, 0, 0, 0}, k[2] = {seed_low, seed_high};
    for (int round = 0; round < 10; ++round) {
        unsigned high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
        unsigned high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
        c[0] = high1 ^ c[1] ^ k[0];
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k[1];
        c[3] = low0;
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int j = 0; j < 4; ++j) out[i * 4 + j] = c[j];
}

extern "C" __global__ void xorshift(unsigned long long *states, int steps) {
    unsigned long long x = states[threadIdx.x];
    for (int i = 0; i < steps; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    states[threadIdx.x] = x;
}

struct State { unsigned d, v[5]; };
extern "C" __global__ void xorwow(State *states, float *out, int steps) {
    State s = states[threadIdx.x];
    for (int i = 0; i < steps; ++i) {
        unsigned t = s.v[0] ^ (s.v[0] >> 2);
        for (int j = 0; j < 4; ++j) s.v[j] = s.v[j + 1];
        s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
        s.d += 362437;
        // Uniform in (0, 1]: half a unit is added, as samplers do.
        out[i * blockDim.x + threadIdx.x] = (s.v[4] + s.d) * 2.3283064e-10f + 1.16415322e-10f;
    }
    states[threadIdx.x] = s;
}

// Box and Muller's normal numbers from two uniform ones.
extern "C" __global__ void normal(const float *u, float *out) {
    float r = sqrtf(-2.0f * logf(u[2 * threadIdx.x])), s, c;
    sincospif(2.0f * u[2 * threadIdx.x + 1], &s, &c);
    out[2 * threadIdx.x] = r * s;
    out[2 * threadIdx.x + 1] = r * c;
}

// An estimate of pi: integers only, so that the sum has no order.
extern "C" __global__ void monte_carlo(unsigned long long *inside, int steps) {
    unsigned x = 123456789u + blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    for (int i = 0; i < steps; ++i) {
        x = x * 1664525u + 1013904223u;
        unsigned long long a = x >> 16;
        x = x * 1664525u + 1013904223u;
        unsigned long long b = x >> 16;
        count += a * a + b * b < (1ull << 32);
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)count);
}
"""

_WORD = np.uint64(0xFFFFFFFF)


def philox(out: Any, low: int, high: int) -> tuple[Any, ...]:
    count = len(out)
    c = [np.arange(count, dtype=np.uint64), *np.zeros((3, count), np.uint64)]
    keys = [low, high]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            second >> 32 ^ c[1] ^ np.uint64(keys[0]), second & _WORD,
            first >> 32 ^ c[3] ^ np.uint64(keys[1]), first & _WORD,
        ]  # fmt: skip
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    found = np.stack(c, axis=1).astype(np.uint32)
    if (low, high) == (0, 0):  # the known answer of counter 0 under key 0
        assert [hex(v) for v in found[0]] == [
            "0x6627e8d5",
            "0xe169c58d",
            "0xbc57ac4c",
            "0x9b00dbd8",
        ]
    return (found,)


def xorshift(states: Any, steps: int) -> tuple[Any, ...]:
    x = states.copy()
    for _ in range(steps):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return (x,)


def xorwow(states: Any, out: Any, steps: int) -> tuple[Any, ...]:
    d, v = states[:, 0].copy(), states[:, 1:].copy()
    rows = []
    for _ in range(steps):
        t = v[:, 0] ^ v[:, 0] >> 2
        last = v[:, 4]
        fresh = last ^ last << 4 ^ (t ^ t << 1)
        v = np.concatenate([v[:, 1:], fresh[:, None]], axis=1)
        d = d + np.uint32(362437)
        # The compiler fuses product and sum; doubles hold the product of a rounded word exactly.
        word = (fresh + d).astype(np.float32).astype(np.float64)
        scaled = word * float(np.float32(2.3283064e-10)) + float(np.float32(1.16415322e-10))
        rows.append(scaled.astype(np.float32))
    return np.concatenate([d[:, None], v], axis=1), np.array(rows)


def normal(u: Any, out: Any) -> tuple[Any, ...]:
    pairs = u.astype(np.float64).reshape(-1, 2)
    r, angle = np.sqrt(-2 * np.log(pairs[:, 0])), 2 * np.pi * pairs[:, 1]
    return (np.stack([r * np.sin(angle), r * np.cos(angle)], axis=1).reshape(-1),)


def monte_carlo(inside: Any, steps: int) -> tuple[Any, ...]:
    x = np.uint32(123456789) + np.arange(256, dtype=np.uint32)
    count = 0
    for _ in range(steps):
        x = x * np.uint32(1664525) + np.uint32(1013904223)
        a = (x >> 16).astype(np.uint64)
        x = x * np.uint32(1664525) + np.uint32(1013904223)
        b = (x >> 16).astype(np.uint64)
        count += int(np.sum(a * a + b * b < 1 << 32))
    return ([count],)


CASES = (
    Case(
        "philox_zero",
        lambda g: (np.zeros((256, 4), np.uint32), 0, 0),
        launch("philox", 2, 128),
        philox,
    ),
    Case(
        "philox",
        lambda g: (np.zeros((256, 4), np.uint32), 0xDEADBEEF, 0x12345678),
        launch("philox", 2, 128),
        philox,
    ),
    Case(
        "xorshift",
        lambda g: (g.integers(1, 2**63, 96).astype(np.uint64), 50),
        launch("xorshift", 1, 96),
        xorshift,
    ),
    Case(
        "xorwow",
        lambda g: (g.integers(0, 2**32, (64, 6)).astype("u4"), np.zeros((20, 64), "f4"), 20),
        launch("xorwow", 1, 64),
        xorwow,
    ),
    Case(
        "normal",
        lambda g: (g.uniform(1e-6, 1, 256).astype(np.float32), np.zeros(256, np.float32)),
        launch("normal", 1, 128),
        normal,
        tolerance=2e-6,
        approximate=True,
    ),
    Case(
        "monte_carlo",
        lambda g: (np.zeros(1, np.uint64), 40),
        launch("monte_carlo", 2, 128),
        monte_carlo,
    ),
)
