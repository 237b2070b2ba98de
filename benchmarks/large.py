"""CUDA C++ kernels of any size, each of one kind, for what has to be linear in a function.

A kernel is a piece of code repeated: what is compiled of twice as many pieces is about twice as
long, so that the two can be compared.

>>> source("branches", 2).count("if (")
7
>>> 900 < len(module("straight", 1000)["large"].instructions) < 1100
True
"""

from __future__ import annotations

from functools import cache

import ptxkit

ARCH, NAME = "sm_90", "large"

#: A piece of each kind; ``@`` is its number.
PIECES = {
    # One value after the other.
    "straight": "v = v * x[i + @] + w; w = fmaxf(w - v, 0.5f * v);\n",
    # Nothing but memory.
    "memory": "y[i + @ * n] = x[i + @] + x[j + @]; j = (j + p[j + @]) & 1023;\n",
    # Loops in a row.
    "loops": (
        "#pragma unroll 1\n"
        "for (int t = 0; t < n + @; ++t) v += x[t * @ + i] * w; y[i + @ * n] = v;\n"
    ),
    # Decisions in decisions.
    "branches": (
        "if (v > @.5f) { if (w < v) { y[i + @ * n] = w; v = w * w; } else w += x[j + @]; }\n"
        "else if (p[j + @] > @) j += p[i + @];\n"
    ),
    # Loops that a compiler unrolled, with what is reused in registers.
    "tiles": (
        "__syncthreads(); s[j & 1023] = x[i + @ * n]; __syncthreads();\n"
        "for (int t = 0; t < 4; ++t)\n"
        "  for (int u = 0; u < 4; ++u) c[t][u] += s[(j + t) & 1023] * s[u * 32 + @ % 32];\n"
    ),
    # Integers: every value is used more than once.
    "integers": (
        "h = (h << 7 | h >> 25) + (g ^ @u * (unsigned)j); g = (g & h) ^ (~g & p[i + @]);\n"
    ),
    # A pointer that moves on.
    "strides": "q += n; v = v * q[0] + q[1]; y[i + @ * n] = v;\n",
    # Loops that are left early.
    "searches": (
        "#pragma unroll 1\n"
        "for (int t = 0; t < n; ++t) { if (p[t + @] == i) break; if (x[t] < w) return; w += v; }\n"
        "v += w; y[i + @ * n] = w;\n"
    ),
    # Conditions of several parts.
    "conditions": (
        "if ((p[i + @] > j && x[j + @] < v) || p[j + @] == n) { y[i + @ * n] = w; w += v; }\n"
        "if (v < w && x[i + @] > w && p[i + 2 * @] != @) { y[i + @ * n] = v; v += w; }\n"
    ),
    # Ways that leave the middle of others.
    "exits": (
        "do { if (p[i + @] < j) { w += x[j + @]; if (w > v) break; y[i + @ * n] = w; }\n"
        "  if (p[j + @] == n) break; v += w; y[i + @ * n] = v; } while (false);\n"
    ),
    # One of many.
    "cases": "case @: v += x[i + @] * w; y[i + @ * n] = v; break;\n",
    # One loop around all, which carries everything.
    "carried": "c[@ % 4][@ / 4 % 4] += x[i + j + @] * w; if (v < x[j + @]) v += w; w += v;\n",
    # Functions of the math library.
    "mathematics": "v = sinf(v) + expf(w) * x[i + @]; w = logf(v) / (w + @.0f);\n",
}
#: Instructions that a piece becomes, about.
_LENGTHS = {
    "straight": 5, "memory": 12, "loops": 14, "branches": 26, "tiles": 29, "integers": 10,
    "strides": 6, "searches": 21, "conditions": 26, "exits": 18, "cases": 11, "carried": 8,
    "mathematics": 180,
}  # fmt: skip
#: What stands around the pieces.
_AROUND = {
    "cases": ("switch (p[i]) {\n", "}\n"),
    "carried": ("#pragma unroll 1\nfor (j = 0; j < n; ++j) {\n", "}\n"),
}
_KERNEL = """extern "C" __global__ void large(float *y, const float *x, const int *p, int n) {{
    __shared__ float s[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i & 1023;
    if (i >= n) return;
    const float *q = x + i;
    unsigned h = p[i], g = p[i + 1];
    float v = x[i], w = x[i + 1], c[4][4] = {{}};
{pieces}
    float total = v + w + j + h + g + *q;
    for (int t = 0; t < 4; ++t)
        for (int u = 0; u < 4; ++u) total += c[t][u];
    y[i] = total + s[j];
}}
"""


def source(kind: str, pieces: int) -> str:
    """A kernel of so many pieces."""
    body = "".join(PIECES[kind].replace("@", str(k)) for k in range(1, pieces + 1))
    before, after = _AROUND.get(kind, ("", ""))
    return _KERNEL.format(pieces=f"{before}{body}{after}")


@cache
def module(kind: str, instructions: int) -> ptxkit.Module:
    """PTX of a kernel with about so many instructions."""
    pieces = max(1, instructions // _LENGTHS[kind])
    return ptxkit.compile_cuda(source(kind, pieces), arch=ARCH)
