"""Loops that the compiler wrote out come back as loops, and nothing else does."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import print_module
from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.decompiler.lift.unify import counter
from ptxkit.decompiler.verify import verify

HEAD = 'extern "C" __global__ void k(const float *x, float *y, int n) {\n'
ROLLED = {
    "a tree in shared memory": (
        """__shared__ float s[128];
        int t = threadIdx.x; s[t] = x[blockIdx.x * 128 + t]; __syncthreads();
        for (int d = 64; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
        if (t == 0) y[blockIdx.x] = s[0];""",
        "for (int stride = 64; stride > 0; stride >>= 1)",
    ),
    "a sum over a warp": (
        """float v = x[threadIdx.x];
        for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
        if (threadIdx.x == 0) y[0] = v;""",
        "for (int stride = 16; stride > 0; stride >>= 1) ",
    ),
    "a scan over a warp": (
        """float v = x[threadIdx.x];
        for (int d = 1; d < 32; d <<= 1) {
            float u = __shfl_up_sync(~0u, v, d);
            if (threadIdx.x >= d) v += u;
        }
        y[threadIdx.x] = v;""",
        "stride <<= 1",
    ),
    "rows and columns of tiles": (
        """__shared__ float a[8][8], b[8][8];
        int c = threadIdx.x, r = threadIdx.y;
        a[r][c] = x[r * 8 + c]; b[r][c] = x[64 + r * 8 + c]; __syncthreads();
        float v = 0;
        for (int i = 0; i < 8; i++) v += a[r][i] * b[i][c];
        y[r * 8 + c] = v;""",
        "for (int l = 0; l < 8; l++)",
    ),
    "a merge whose last turn masks nothing": (
        """__shared__ float s[64], w[64];
        unsigned t = threadIdx.x ^ 3; s[t] = x[t]; s[t + 32] = w[t] = x[t + 32]; w[t + 32] = 0;
        for (unsigned d = 32; d > 0; d >>= 1) {
            __syncthreads();
            unsigned at = 2 * t - (t & (d - 1));
            if (s[at] > s[at + d]) {
                float a = s[at]; s[at] = s[at + d]; s[at + d] = a;
                a = w[at]; w[at] = w[at + d]; w[at + d] = a;
            }
        }
        __syncthreads(); y[t] = s[t] + w[t]; y[t + 32] = s[t + 32];""",
        "for (int stride = 32; stride > 0; stride >>= 1)",
    ),
    "rows of which the first needs no product": (
        """int i = threadIdx.x;
        for (int j = 0; j < 6; j++) y[i + j * 32] = x[(unsigned)(j * n) + (size_t)i];""",
        "for (int l = 0; l < 6; l++)",
    ),
    "the largest of some": (
        """int i = threadIdx.x; float v = x[i];
        for (int j = 1; j < 6; j++) v = fmaxf(v, x[i + j * 3]);
        y[i] = v;""",
        "fmaxf(",
    ),
}
KEPT = {
    "distances that grow unevenly": "y[i] = x[i] + x[i + 1] * 2 + x[i + 3] * 3 + x[i + 4] * 4;",
    "one factor that is another": (
        "float v = 0; v += x[i] * 5; v += x[i + 1] * 5; v += x[i + 2] * 6; v += x[i + 3] * 5;"
        " y[i] = v;"
    ),
    "a value used between": (
        "float a = x[i] * x[i + 1], b = a * x[i + 2], c = b * x[i + 3]; y[i] = a + b + c;"
    ),
    "the old value after the new": (
        "float a = x[i], b = x[i + 1];"
        " for (int j = 0; j < 5; j++) { float t = a; a = b; b = t + b; } y[i] = a - b;"
    ),
    "stores that the next may see": "for (int j = 0; j < 4; j++) y[i + j] = y[i + j + 1] + 1;",
}  # fmt: skip


def lifted(body: str) -> tuple[ptxkit.Module, str]:
    module = ptxkit.compile_cuda(HEAD + body + "}", arch="sm_90")
    return module, print_module(lift_module(module, FORMS[0]))


@pytest.mark.parametrize("name", ROLLED)
def test_copies_become_a_loop_that_is_proved(name: str) -> None:
    body, wanted = ROLLED[name]
    module, text = lifted(body)
    assert wanted in text
    assert text.count("for (") == 1, text
    assert verify(module, text, "k").equivalent


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_loop_is_not_made_wrong(name: str) -> None:
    module, text = lifted("int i = threadIdx.x; " + KEPT[name])
    assert verify(module, text, "k").equivalent, text


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([(0, 1, 2), (5, 9, 13)], True),
        ([(16, 8, 4), (15, 7, 3)], True),
        ([(1, 2, 4), (2, 4, 8)], True),
        ([(1, 2, 4), (1, 2, 3)], False),
        ([(0, 1, 3)], False),
        ([(8, 4, 1)], False),
    ],
)
def test_a_counter_makes_every_row_again(rows: list[tuple[int, ...]], found: bool) -> None:
    made = counter({f"#{k}": row for k, row in enumerate(rows)}, 3)
    assert (made is not None) == found
    if made is None:
        return
    value, turns = made.start, []
    while (value < made.condition[1], value > made.condition[1], value >= made.condition[1])[
        ("<", ">", ">=").index(made.condition[0])
    ]:
        turns.append(value)
        value = {"+=": value + 1, "<<=": value << 1, ">>=": value >> 1}[made.step[0]]
    for k, row in enumerate(rows):
        times, added = made.holes[f"#{k}"]
        assert tuple(times * turn + added for turn in turns) == row


def test_two_turns_at_once_of_a_loop_over_structures() -> None:
    source = """struct Ball { float x, y, z, r, mass; };
__global__ void k(const Ball *balls, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float best = 0.0f, far = -1e10f;
    #pragma unroll 2
    for (int b = 0; b < 600; b++) {
        float dx = i - balls[b].x, dy = i - balls[b].y, t = -1e10f;
        if (dx * dx + dy * dy < balls[b].r) t = sqrtf(dx * dx) + balls[b].z;
        if (t > far) { best = balls[b].mass; far = t; }
    }
    o[i] = best;
}"""
    module = ptxkit.compile_cuda(source, arch="sm_75")
    # It is two turns at once that the compiler makes of it.
    assert module.emit().count("sqrt") == 2
    text = print_module(lift_module(module, FORMS[0]))
    assert "j < 600; j++" in text
    assert text.count("sqrtf(") == 1
    assert text.count("    float field_") == 5


def test_threads_wait_at_the_end_of_every_turn() -> None:
    """Two turns at once, and one that is left over: what ends a turn is in the loop."""
    source = """extern "C" __global__ void product(const float *a, float *c, int k, int n) {
    __shared__ float t[16][16];
    float sum = 0.0f;
    int row = blockIdx.y * 16 + threadIdx.y;
    for (int i = 0; i < (k + 15) / 16; i++) {
        int x = i * 16 + threadIdx.x;
        t[threadIdx.y][threadIdx.x] = row < n && x < k ? a[row * k + x] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += t[threadIdx.y][j] * t[j][threadIdx.x];
        __syncthreads();
    }
    c[row * 16 + threadIdx.x] = sum;
}"""
    text = print_module(lift_module(ptxkit.compile_cuda(source, arch="sm_120"), FORMS[0]))
    assert text.count("for (") == 2 and text.count("__syncthreads") == 2
    inner = text[text.index("for (int l") :].splitlines()
    assert inner[1].strip() == "__syncthreads();" and inner[2].strip() == "}", text
    # A loop up to a quotient asks by itself whether there is a turn.
    assert "k < (n2 + 15) / 16; k++" in text and "if (n2 >= 1)" not in text
