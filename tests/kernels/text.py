"""Bytes and strings."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, Setup, line, zeros


def letters(g: np.random.Generator, *shape: int) -> Any:
    return g.integers(97, 100, shape).astype(np.uint8)


def places(text: Any, n: int, word: Any, m: int, found: Any) -> Any:
    whole, part = text.tobytes(), word.tobytes()
    return ([int(whole.startswith(part, i)) if i + m <= n else 0 for i in range(n)],)


def upper(text: Any, n: int) -> Any:
    return (np.where((text >= 97) & (text <= 122), text - 32, text).astype(np.uint8),)


def words(text: Any, n: int, count: Any) -> Any:
    return ([len(text.tobytes().split())],)


def hamming(a: Any, b: Any, out: Any, width: int, n: int) -> Any:
    bits = np.unpackbits((a ^ b).view(np.uint8), axis=1)
    return (bits.sum(axis=1).astype(np.int32),)


def levenshtein(a: Any, b: Any, out: Any, m: int, n: int) -> Any:
    found = []
    for row in range(n):
        before = list(range(m + 1))
        for i in range(1, m + 1):
            now = [i]
            for j in range(1, m + 1):
                cost = int(a[row, i - 1] != b[row, j - 1])
                now.append(min(before[j] + 1, now[j - 1] + 1, before[j - 1] + cost))
            before = now
        found.append(before[m])
    return (found,)


def hexadecimal(data: Any, out: Any, n: int) -> Any:
    return (np.frombuffer(data.tobytes().hex().encode(), np.uint8),)


KERNELS = (
    Kernel(
        "string_match",
        r"""
extern "C" __global__ void string_match(const char *text, int text_len, const char *pattern, int pattern_len, int *found)
{
    int pos = blockIdx.x * blockDim.x + threadIdx.x;
    if (pos >= text_len) return;
    int match = 0;
    if (pos + pattern_len <= text_len) {
        match = 1;
        for (int k = 0; k < pattern_len; k++) {
            if (text[pos + k] != pattern[k]) {
                match = 0;
                break;
            }
        }
    }
    found[pos] = match;
}
""",
        lambda g, n: line(n, letters(g, n), n, letters(g, 2), 2, zeros(n, dtype="i4")),
        places,
    ),
    Kernel(
        "to_upper",
        r"""
extern "C" __global__ void to_upper(char *s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        char c = s[i];
        if (c >= 'a' && c <= 'z') s[i] = c - 'a' + 'A';
    }
}
""",
        lambda g, n: line(n, g.integers(0, 128, n).astype("u1"), n),
        upper,
    ),
    Kernel(
        "count_words",
        r"""
__device__ bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

extern "C" __global__ void count_words(const char *text, int n, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool starts = i < n && !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
    int total = __syncthreads_count(starts);
    if (threadIdx.x == 0) atomicAdd(count, total);
}
""",
        lambda g, n: line(
            n, g.choice(np.frombuffer(b"ab \n\t", np.uint8), n), n, zeros(1, dtype="i4")
        ),
        words,
    ),
    Kernel(
        "hamming_distance",
        r"""
extern "C" __global__ void hamming_distance(const unsigned int *a, const unsigned int *b, int *dist, int words, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int d = 0;
    for (int w = 0; w < words; ++w)
        d += __popc(a[i * words + w] ^ b[i * words + w]);
    dist[i] = d;
}
""",
        lambda g, n: line(
            n, *g.integers(0, 2**32, (2, n, 7)).astype("u4"), zeros(n, dtype="i4"), 7, n
        ),
        hamming,
    ),
    Kernel(
        "levenshtein",
        r"""
#define MAXLEN 16
extern "C" __global__ void levenshtein(const char *as, const char *bs, int *out, int len, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const char *a = as + t * len, *b = bs + t * len;
    int row[MAXLEN + 1];
    for (int j = 0; j <= len; ++j) row[j] = j;
    for (int i = 1; i <= len; ++i) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= len; ++j) {
            int cost = a[i - 1] == b[j - 1] ? 0 : 1;
            int best = min(min(row[j] + 1, row[j - 1] + 1), diag + cost);
            diag = row[j];
            row[j] = best;
        }
    }
    out[t] = row[len];
}
""",
        lambda g, n: line(n, letters(g, n, 9), letters(g, n, 9), zeros(n, dtype="i4"), 9, n, block=32),
        levenshtein,
        sizes=(1, 40),
    ),
    Kernel(
        "crc32_rows",
        r"""
__device__ unsigned int crc_table(unsigned int c)
{
#pragma unroll 1
    for (int k = 0; k < 8; ++k)
        c = (c & 1) ? (0xEDB88320u ^ (c >> 1)) : (c >> 1);
    return c;
}
extern "C" __global__ void crc32_rows(const unsigned char *data, int len, unsigned int *crc)
{
    int t = threadIdx.x;
    unsigned int c = 0xFFFFFFFFu;
    for (int i = 0; i < len; ++i)
        c = crc_table((c ^ data[t * len + i]) & 0xff) ^ (c >> 8);
    crc[t] = c ^ 0xFFFFFFFFu;
}
""",
        lambda g, n: Setup(1, 20, (g.integers(0, 256, (20, n)).astype("u1"), n, zeros(20, dtype="u4"))),
        lambda d, n, c: ([zlib.crc32(row.tobytes()) for row in d],),
        sizes=(0, 1, 13),
    ),
    Kernel(
        "hex_encode",
        r"""
__constant__ char digits[17] = "0123456789abcdef";
extern "C" __global__ void hex_encode(const unsigned char *data, char2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = make_char2(digits[data[i] >> 4], digits[data[i] & 15]);
}
""",
        lambda g, n: line(n, g.integers(0, 256, n).astype("u1"), zeros(2 * n, dtype="u1"), n),
        hexadecimal,
    ),
)  # fmt: skip
