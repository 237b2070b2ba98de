"""Programs that differ, and that a verifier may take for the same."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import certify, verify
from ptxkit.decompiler.verify.dataflow import same_dataflow
from ptxkit.syntax import Module

ONE = 'extern "C" __global__ void k(unsigned *y, int n) { unsigned t = threadIdx.x; '
MANY = """extern "C" __global__ void k(const float *x, float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { %s } }"""
WIDE = """extern "C" __global__ void k(float *x, size_t n) {
    %s i = blockIdx.x * blockDim.x + threadIdx.x; if (i < %s) x[i] += 1; }"""
PLACED = """extern "C" __global__ void k(float *x, int n) {
    int i = %s * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }"""
DRAWN = """extern "C" __global__ void k(unsigned *count, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[atomicAdd(count, 1u)] = %s; }"""
TABLE = "__device__ const unsigned char T[256] = {%s};" + MANY % "y[i] = T[(int)x[i] & 255];"
RARE = """extern "C" __global__ void k(const unsigned *a, unsigned *o, unsigned *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    unsigned h = a[i] * 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13;
    if (h == 305419896u) { o[i] = 1; %s } else if (a[i] & 1) { odd: p[i] = 3; return; }
    p[i + n] = 4; }"""
RACED = """extern "C" __global__ void k(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { y[0] = i; y[i + 1] = %s; } }"""
#: A number that no launch draws: the product of an odd number with it is this one by chance only.
HASHED = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    unsigned v = a[i], h = v * 2246822519u; %s }"""
RARE_MASKS = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
    unsigned v = a[i], w = a[i + n]; if (v * 2654435761u + w * 40503u == 0x9a3c78u) o[i] = %s; }"""
COUNTED = """extern "C" __global__ void k(const unsigned *a, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; unsigned c = 0;
    for (int j = 0; j < 20; j++) c += a[i + j] * 2654435761u == 77u; o[i] = %s; }"""
LINES = """extern "C" __global__ void k(%s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) %s }"""
TURNED = """extern "C" __global__ void k(const float *x, float *y) { %s int t = threadIdx.x;
    s[%s] = x[t]; __syncthreads(); y[t] = s[%s]; }"""
SENT = """extern "C" __global__ void k(volatile int *flag, int *data, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { %s } }"""
RELEASED = 'asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(flag + i), "r"(1) : "memory");'
FOREIGN = 'extern "C" __device__ int ext(int, int);'
SHORT = """extern "C" __global__ void k(unsigned *x, const unsigned *a) {
    int i = threadIdx.x; unsigned m, s;
    asm("mul%s.bf16x2 %%0, %%1, %%1;" : "=r"(m) : "r"(a[i]));
    asm("add%s.bf16x2 %%0, %%1, %%2;" : "=r"(s) : "r"(m), "r"(a[i + 64])); x[i] = s; }"""
WARPS = """extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[%s]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = x[i]; __syncthreads(); y[i] = s[blockDim.x - 1 - t]; }"""
EXCHANGED = """extern "C" __global__ void k(const float *x, float *y) {
    __shared__ volatile float s[1024]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = x[i]; __syncwarp(); %s s[t] = v * 2; __syncwarp(); y[i] = s[t ^ 1]; }"""
LAST = """extern "C" __global__
    void k(const float *x, volatile float *part, float *y, unsigned *c) {
    __shared__ bool last; if (threadIdx.x == 0) { part[blockIdx.x] = x[blockIdx.x];
    %s last = drawn == gridDim.x - 1; } __syncthreads();
    if (last && threadIdx.x == 0) { float s = 0; for (int j = 0; j < gridDim.x; j++) s += part[j];
    *y = s; *c = 0; } }"""
DRAWS = "unsigned drawn = atomicInc(c, gridDim.x);"
LOOKS = 'int %s; asm volatile("ld.global.cv.u32 %%0, [%%1];" : "=r"(%s) : "l"(y) : "memory");'
SAMPLED = "cudaTextureObject_t t, float *y, int n"
BINS = """extern "C" __global__ void k(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int a[8]; %s
    for (int j = 0; j < n; j++) a[x[j] & 7]++; y[i] = a[x[i] & 7]; } }"""
LOCKED = LINES % (
    "int *lock, int *v, int n",
    "if (atomicCAS(lock + i, 0, 1) == 0) { v[i] += 1; %s }",
)
SQUARES = LINES % (
    "float *c, const float *x, int n",
    "{ atomicAdd(c, x[i] * 2 + 1); atomicAdd(c + 1, %s); }",
)
PLUS_ONE = """extern "C" __global__ void k(const unsigned char *x, unsigned char *y, int n) {
    for (%s j = 0; j < n; j++) y[j] = x[j] + 1; }"""
RECORD = """struct R { float *x, *y; int n; }; extern "C" __global__ void k(R *r, float *z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < r->n) { %s } }"""
MANY_ARRAYS = LINES % (
    "float *a, float *b, float *c, float *d, float *e, float *f, float *g, float *h, float *p,"
    " float *q, int n",
    "{ a[i] = 1; b[i] = 1; c[i] = 1; d[i] = 1; e[i] = 1; f[i] = 1; g[i] = 1; %s }",
)
COUNTED_ON = """extern "C" __global__ void k(int *y, int a) {
    y[threadIdx.x] = (int)((%s threadIdx.x * 5 + a) / 3); }"""
WORDS = """__device__ const unsigned T[4] = {%s}; extern "C" __global__
    void k(const unsigned *x, unsigned *y, int n) { %s
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] ^ T[blockIdx.x >> 12 & 3]; }"""
LEVELS = "cudaTextureObject_t t, float *y, int n, float a, float b"
VALUES = """struct R { float *x, *y; }; extern "C" __global__ void k(R r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { %s } }"""
CHOSEN = """extern "C" __global__ void k(int *y, int n, int f) {
    __shared__ int s[256]; int t = threadIdx.x; s[t] = t; __syncthreads();
    int *p = f ? s : y; %s }"""
TAKEN = 'unsigned b; asm("%s" : "=r"(b) : "r"(blockIdx.x));'
#: What it is about: the original, and what is no copy of it.
PAIRS = {
    "a sum that overflows, with more bits": (
        COUNTED_ON % "(int)", COUNTED_ON % "(long long)",
    ),
    "two bytes of a block's number": (
        PLACED % "blockIdx.x", PLACED % "__byte_perm(blockIdx.x, 0, 0x4410)",
    ),
    "half of a block's number, in a sum of products": (
        PLACED % "blockIdx.x", PLACED % "__dp2a_lo(blockIdx.x, 1u, 0u)",
    ),
    "a product of 24 bits": (
        PLACED % "blockIdx.x",
        (PLACED % "b").replace("int i", TAKEN % "mul24.lo.u32 %0, %1, 1;" + " int i"),
    ),
    "bits that are moved out of a number": (
        PLACED % "blockIdx.x",
        (PLACED % "b").replace(
            "int i", TAKEN % "shl.b32 %0, %1, 12; shr.s32 %0, %0, 12;" + " int i"),
    ),
    "bits that a function of three does not need": (
        PLACED % "blockIdx.x",
        (PLACED % "b").replace("int i", TAKEN % "lop3.b32 %0, %1, 131071, 0, 0xC0;" + " int i"),
    ),
    "a block's number through a float": (PLACED % "blockIdx.x", PLACED % "(int)(float)blockIdx.x"),
    "a table of other numbers beside code that has the right ones": (
        WORDS % ("1011060801, 3680671129, 4113882560, 4230436817", ""),
        WORDS % ("1011060801, 3680671129, 4230436817, 4113882560",
                 'asm volatile("{.reg .u32 t; mov.u32 t, 1011060801; mov.u32 t, 3680671129;'
                 ' mov.u32 t, 4113882560; mov.u32 t, 4230436817;}");'),
    ),
    "another level of a texture": (
        LINES % (LEVELS, "y[i] = tex2DLod<float>(t, i * a, b, a);"),
        LINES % (LEVELS, "y[i] = tex2DLod<float>(t, i * a, b, b);"),
    ),
    "one level of a texture for all": (
        LINES % (LEVELS, "y[i] = tex2DLod<float>(t, i * a, b, a);"),
        LINES % (LEVELS, "y[i] = tex2D<float>(t, i * a, b);"),
    ),
    "arrays of a record that begin elsewhere in each other": (
        VALUES % "float v = r.x[i + 3]; r.y[i] = 1; r.y[i + n] = v;",
        VALUES % "r.y[i] = 1; r.y[i + n] = r.x[i + 3];",
    ),
    "arrays that meet two rows on": (
        LINES % ("const float *x, float *y, int n, int w",
                 "{ float v = x[2 * w + i]; y[i] = 1; y[i + n] = v; }"),
        LINES % ("const float *x, float *y, int n, int w",
                 "{ y[i] = 1; y[i + n] = x[2 * w + i]; }"),
    ),
    "arrays that meet where an index says": (
        LINES % ("const int *p, const int *x, int *y, int n",
                 "{ int v = x[i]; y[p[i]] = 1; y[i + n] = v; }"),
        LINES % ("const int *p, const int *x, int *y, int n",
                 "{ y[p[i]] = 1; y[i + n] = x[i]; }"),
    ),
    "what the second block does again": (
        CHOSEN % "int v = p[t]; y[t] = 1; y[t + n] = v;",
        CHOSEN % "y[t] = 1; y[t + n] = p[t];",
    ),
    "a negative zero where a pointer is not aligned": (
        LINES % ("float *x, float *y, int n",
                 "{ if ((long long)x & 15) y[i] = x[i] + 0.0f; else y[i] = x[i]; }"),
        LINES % ("float *x, float *y, int n", "y[i] = x[i];"),
    ),
    "a variable that a host has in its own memory": (
        "__managed__ int f;" + ONE + "y[t] = f; }", "__device__ int f;" + ONE + "y[t] = f; }",
    ),
    "the quotient of the least number": (
        LINES % ("int *y, int n, int m, int q", "y[i] = (m + i) / (q | 1);"),
        LINES % ("int *y, int n, int m, int q", "y[i] = m < -1 && q < -1 ?"
                 " (-m - i) / -(q | 1) : (m + i) / (q | 1);"),
    ),
    "what a sum carries": (
        PLACED % "blockIdx.x",
        (PLACED % "b").replace("int i", TAKEN % (
            "{.reg .u32 t; add.cc.u32 t, %1, -16777216; addc.u32 %0, %1, 0;}") + " int i"),
    ),
    "the upper end of a range": (
        LINES % ("const int *x, int *y, int n", "y[i] = x[i] >= 1000 && x[i] < 3000;"),
        LINES % ("const int *x, int *y, int n", "y[i] = x[i] >= 1000 && x[i] < 3500;"),
    ),
    "two bytes at once, at any address": (
        LINES % ("const unsigned char *x, unsigned *y, int n",
                 "y[i] = x[2 * i] | x[2 * i + 1] << 8;"),
        LINES % ("const unsigned char *x, unsigned *y, int n",
                 "y[i] = ((const unsigned short *)x)[i];"),
    ),
    "an integer that goes through a float": (
        LINES % ("int *y, int n", "y[0] = n;"),
        LINES % ("int *y, int n", "y[0] = (int)(float)n;"),
    ),
    "a quotient of doubles": (
        LINES % ("long long *y, const long long *x, long long n", "y[i] = x[i] / n;"),
        LINES % ("long long *y, const long long *x, long long n",
                 "y[i] = (long long)((double)x[i] / (double)n);"),
    ),
    "the lower half of a limit": (
        'extern "C" __global__ void k(char *y, long long n)'
        " { for (int j = 0; j < n; j++) y[j] = 1; }",
        'extern "C" __global__ void k(char *y, long long n)'
        " { for (int j = 0; j < (int)n; j++) y[j] = 1; }",
    ),
    "an index of bytes, and where it ends": (
        LINES % ("const unsigned long long *j, const char *a, char *y, int n",
                 "{ char r = 0; if (j[i] < 5000) r = a[j[i]]; y[i] = r; }"),
        LINES % ("const unsigned long long *j, const char *a, char *y, int n",
                 "{ char r = 0; if (j[i] < 5500) r = a[j[i]]; y[i] = r; }"),
    ),
    "tables that a host fills by name": (
        '__constant__ float gain[4], bias[4]; extern "C" __global__ void k(float *y) '
        "{ int t = threadIdx.x; y[t] = gain[t] - bias[t]; }",
        '__constant__ float gain[4], bias[4]; extern "C" __global__ void k(float *y) '
        "{ int t = threadIdx.x; y[t] = bias[t] - gain[t]; }",
    ),
    "a variable that nobody names": (
        '__device__ int hits; extern "C" __global__ void k(const int *x) '
        "{ if (x[threadIdx.x] > 5) hits = 1; }",
        'extern "C" __global__ void k(const int *x) { }',
    ),
    "upper bits of a difference": (
        ONE + "y[t] = (16383u - 16u * t) >> 4; }",
        ONE + "y[t] = 1023u + 268435455u * t; }",
    ),
    "an end of the thread inside of a function": (
        "__noinline__ __device__ void f(int x) { if (x == 3) asm volatile(\"exit;\"); } "
        + ONE + "f(t); y[t] = 1; }",
        "__noinline__ __device__ void f(int x) { if (x == 3) asm volatile(\"ret;\"); } "
        + ONE + "f(t); y[t] = 1; }",
    ),
    "a read beyond all memory": (
        ONE + "y[t] = n; }",
        ONE + 'unsigned v; asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(y + 900000 + n));'
        " y[t] = n; }",
    ),
    "who is there": (
        ONE + "unsigned a; if (t & 1) a = __activemask(); else a = __activemask();"
        " y[t] = a; y[t + 64] = __activemask(); }",
        ONE + "unsigned a = __activemask(), b;"
        " if (t & 1) b = __activemask(); else b = __activemask(); y[t] = a; y[t + 64] = b; }",
    ),
    "what a pointer begins with": (
        '__device__ int a = 1; __device__ int *p = &a; extern "C" __global__ void k(int *y) '
        "{ int t = threadIdx.x; y[t] = *p + 1 + t; }",
        '__device__ int a = 2; __device__ int *p = &a; extern "C" __global__ void k(int *y) '
        "{ int t = threadIdx.x; y[t] = t + *p + 1; }",
    ),
    "a load that is kept over a store to the same memory": (
        MANY % "y[i] = x[i] * 2; z[i] = x[i] + 1;",
        MANY % "float v = x[i]; y[i] = v * 2; z[i] = v + 1;",
    ),
    "stores in another order": (MANY % "y[i] = 1; z[i] = 2;", MANY % "z[i] = 2; y[i] = 1;"),
    "a load that is moved out of a loop": (
        MANY % "for (int j = 0; j < 4; j++) y[i * 4 + j] += x[i];",
        MANY % "float v = x[i]; for (int j = 0; j < 4; j++) y[i * 4 + j] += v;",
    ),
    "memory that begins an element on": (
        MANY % "y[i + 1] = x[i + 2]; z[i] = x[i];",
        MANY % "float v = x[i]; y[i + 1] = x[i + 2]; z[i] = v;",
    ),
    "a size beyond 32 bits": (WIDE % ("size_t", "n"), WIDE % ("unsigned", "(unsigned)n")),
    "many blocks along the third axis": (PLACED % "blockIdx.z", PLACED % "(blockIdx.z & 15)"),
    "many blocks along the second axis": (PLACED % "blockIdx.y", PLACED % "(blockIdx.y & 63)"),
    "many threads along the third axis": (PLACED % "threadIdx.z", PLACED % "(threadIdx.z & 15)"),
    "an update that another may undo": (
        ONE + "atomicAdd(y + t, 1); }",
        ONE + "atomicExch(y + t, *(volatile unsigned *)(y + t) + 1); }",
    ),
    "what is left in another order too": (DRAWN % "blockIdx.x * 7", DRAWN % "blockIdx.x * 9"),
    "places that threads draw": (DRAWN % "i", DRAWN % "threadIdx.x"),
    "beside what depends on the order": (
        MANY % "y[0] = i; y[i + 1] = x[i] * 2;", MANY % "y[0] = i; y[i + 1] = x[i] * 3;",
    ),
    "an entry of a table": (
        TABLE % ", ".join(str(k * 7 % 256) for k in range(256)),
        TABLE % ", ".join(str(k * 7 % 256 + (k == 3)) for k in range(256)),
    ),
    "where code goes that never runs": (RARE % "", RARE % "goto odd;"),
    "how much memory a host gave": (
        MANY % "y[i] = x[i];",
        MANY.replace("%s", 'unsigned s; asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(s)); '
                     "y[i] = s > 9000 ? 0 : x[i];"),
    ),
    "a number on the side that never came": (
        HASHED % "o[i] = h == 12345u ? 7u : v;", HASHED % "o[i] = h == 12345u ? 9u : v;",
    ),
    "a selection that is gone": (HASHED % "o[i] = h == 12345u ? 7u : v;", HASHED % "o[i] = v;"),
    "another number to compare with": (
        HASHED % "o[i] = h == 12345u ? 7u : v;", HASHED % "o[i] = h == 54321u ? 7u : v;",
    ),
    "conditions that change places": (
        HASHED % "o[i] = h == 12345u ? 7u : v; o[i + n] = h == 777u ? 8u : v + 1u;",
        HASHED % "o[i] = h == 777u ? 7u : v; o[i + n] = h == 12345u ? 8u : v + 1u;",
    ),
    "one of two conditions": (
        HASHED % "if (h == 12345u || (v & 1)) { o[i] = 3; return; } o[i + n] = 4;",
        HASHED % "if (v & 1) { o[i] = 3; return; } o[i + n] = 4;",
    ),
    "where a rare condition goes": (
        HASHED % "if (h == 12345u || (v & 1)) { o[i] = 3; return; } o[i + n] = 4;",
        HASHED % "if (h != 12345u && (v & 1)) { o[i] = 3; return; } o[i + n] = 4;",
    ),
    "a bound that is never met": (COUNTED % "min(c, 15u)", COUNTED % "min(c, 16u)"),
    "a bound that was never there": (COUNTED % "c", COUNTED % "min(c, 16u)"),
    "a condition on a condition": (
        COUNTED % "c > 3u ? (a[i] > 9u ? 1u : 2u) : 0u", COUNTED % "c > 3u ? 2u : 0u",
    ),
    "a mask beyond all sizes": (
        LINES % ("float *x, int n", "x[i] += 1;"),
        LINES % ("float *x, int n", "x[i & 524287] += 1;"),
    ),
    "a remainder beyond all sizes": (
        LINES % ("float *x, int n", "x[i] += 1;"),
        LINES % ("float *x, int n", "x[i % 900001] += 1;"),
    ),
    "upper bits of a number": (
        LINES % ("unsigned *x, int n", "x[i] = x[i] + i;"),
        LINES % ("unsigned *x, int n", "x[i] = x[i] + i + ((unsigned)i >> 19);"),
    ),
    "shared memory that a host did not give": (
        TURNED % ("extern __shared__ float s[];", "t", "blockDim.x - 1 - t"),
        TURNED % ("extern __shared__ float s[];", "t + 32", "blockDim.x + 31 - t"),
    ),
    "shared memory that there may not be": (
        TURNED % ("__shared__ float s[1024];", "t", "t ^ 1"),
        TURNED % ("__shared__ float s[12000];", "t", "t ^ 1"),
    ),
    "local memory that there may not be": (
        MANY % "y[i] = x[i];",
        MANY % "volatile float v[90000]; v[i & 65535] = x[i]; y[i] = v[i & 65535];",
    ),
    "a store behind its fence": (
        SENT % "data[i] = 5; __threadfence(); flag[i] = 1;",
        SENT % "__threadfence(); data[i] = 5; flag[i] = 1;",
    ),
    "a load before its fence": (
        SENT % "int f = flag[i]; __threadfence(); out[i] = data[i] + f;",
        SENT % "int v = data[i], f = flag[i]; __threadfence(); out[i] = v + f;",
    ),
    "a store behind its release": (
        SENT.replace("%s", "data[i] = i; " + RELEASED),
        SENT.replace("%s", RELEASED + " data[i] = i;"),
    ),
    "volatile stores in another order": (
        SENT % "flag[i] = 1; flag[i + n] = 2; __threadfence();",
        SENT % "flag[i + n] = 2; flag[i] = 1; __threadfence();",
    ),
    "a sum with fewer bits": (
        'extern "C" __global__ void k(int *x, unsigned a, unsigned b) { x[(size_t)a + b] = 1; }',
        'extern "C" __global__ void k(int *x, unsigned a, unsigned b) { x[(size_t)(a + b)] = 1; }',
    ),
    "the sign of an index": (
        HASHED % "int j = i + (h == 12345u ? -500000 : 0); o[j] = v;",
        HASHED % "unsigned j = i + (h == 12345u ? -500000 : 0); o[j] = v;",
    ),
    "one rounding for two": (
        MANY % "y[i] = fmaf(x[i], 4.0f, z[i]);",
        MANY % "y[i] = __fadd_rn(__fmul_rn(x[i], 4.0f), z[i]);",
    ),
    "what a function is given": (
        FOREIGN + ONE + "y[t] = ext(y[t], 1); }",
        FOREIGN + ONE + "y[t] = ext(y[t], 2); }",
    ),
    "what a function is given, in another order": (
        FOREIGN + ONE + "y[t] = ext(y[t], y[t] * 3); }",
        FOREIGN + ONE + "y[t] = ext(y[t] * 3, y[t]); }",
    ),
    "what an atomic compares with": (
        ONE + "y[t + 64] = atomicCAS(y + t, 12345u, 7u); }",
        ONE + "y[t + 64] = atomicCAS(y + t, 12346u, 7u); }",
    ),
    "where an atomic begins again": (
        ONE + "y[t + 64] = atomicInc(y + t, 1000u); }",
        ONE + "y[t + 64] = atomicInc(y + t, 1001u); }",
    ),
    "two roundings of short numbers": (
        SHORT % (".rn", ".rn"),
        SHORT % ("", ""),
    ),
    "shared memory that nobody needs": (
        ONE + "y[t] = n; }",
        ONE + "__shared__ volatile unsigned s[12000]; s[t] = n; y[t] = n; }",
    ),
    "shared memory for half of the threads that there may be": (WARPS % 1024, WARPS % 512),
    "lanes of a block with two axes": (
        LINES % ("int *y, int n", "y[i] = threadIdx.x & 31;"),
        (LINES % ("int *y, int n", "{ @ y[i] = l; }")).replace(
            "@", 'unsigned l; asm("mov.u32 %0, %%laneid;" : "=r"(l));'),
    ),
    "lanes that do not wait before they write": (
        EXCHANGED % "float v = s[t ^ 1]; __syncwarp();",
        EXCHANGED % "__syncwarp(); float v = s[t ^ 1];",
    ),
    "a fence behind what it is for, where threads draw numbers": (
        LAST % f"__threadfence(); {DRAWS}", LAST % f"{DRAWS} __threadfence();",
    ),
    "a look at what others may have changed": (
        ONE + LOOKS % ("a", "a") + LOOKS % ("b", "b") + " y[t + 64] = a - b; }",
        ONE + LOOKS % ("a", "a") + " y[t + 64] = 0; }",
    ),
    "places between texels": (
        LINES % (SAMPLED, "y[i] = tex2D<float>(t, i + 0.5f, n + 0.5f);"),
        LINES % (SAMPLED, "y[i] = tex2D<float>(t, i, n + 0.5f);"),
    ),
    "memory that begins elsewhere in another array": (
        MANY % "float v = x[i + 17]; y[i] = 5; z[i] = v;", MANY % "y[i] = 5; z[i] = x[i + 17];",
    ),
    "memory that begins at the end of another array": (
        MANY % "float v = x[i + n]; y[i] = 5; z[i] = v;", MANY % "y[i] = 5; z[i] = x[i + n];",
    ),
    "local memory that nobody has set": (
        BINS % "for (int j = 0; j < 8; j++) a[j] = 0;",
        BINS % 'asm volatile("" :: "l"(a) : "memory");',
    ),
    "what one launch leaves for the next": (
        ONE + "y[t] = 1; __syncthreads(); y[t] = n; }",
        "__device__ unsigned kept[2048];" + ONE + "unsigned v = kept[2047];"
        " kept[t + 1] = kept[t]; __syncthreads(); y[t] = n + v; }",
    ),
    "half of a number of blocks": (
        ONE + 'unsigned short h; asm("mov.u16 %0, %%ctaid.x;" : "=h"(h));'
        " y[t] = h < 100 && blockIdx.x >= 200; }",
        ONE + 'unsigned short h; asm("mov.u16 %0, %%ctaid.x;" : "=h"(h)); y[t] = 0; }',
    ),
    "a lock that is given back before its fence": (
        LOCKED % "__threadfence(); atomicExch(lock + i, 0);",
        LOCKED % "atomicExch(lock + i, 0); __threadfence();",
    ),
    "numbers that are nearly the same, added up in any order": (
        SQUARES % "__fmul_rn(x[i], x[i]) + 1.0f", SQUARES % "fmaf(x[i], x[i], 1.0f)",
    ),
    "a distance that has no sign": (
        LINES % ("const float *x, float *y, int n, unsigned m", "y[i] = x[(size_t)i * m];"),
        LINES % ("const float *x, float *y, int n, unsigned m", "y[i] = x[(long long)i * (int)m];"),
    ),
    "a counter with as few bits as bytes are computed in": (
        PLUS_ONE % "int", PLUS_ONE % "unsigned short",
    ),
    "a negative zero where a pointer is missing": (
        LINES % ("const float *x, const float *b, float *y, int n",
                 "y[i] = x[i] + (b ? b[i] : 0.0f);"),
        LINES % ("const float *x, const float *b, float *y, int n",
                 "y[i] = b ? x[i] + b[i] : x[i];"),
    ),
    "bits of both sides of a mask": (
        RARE_MASKS % "((v & 1) * 5) & ((w & 1) * 5)",
        RARE_MASKS % "((v & 1) * -3) & ((w & 1) * -3)",
    ),
    "a load over a store where another one is of memory that is constant": (
        LINES % ("const int *x, int *y, int *z, int n",
                 "{ int a = __ldg(x + n); y[i] = a; z[i] = x[i]; }"),
        LINES % ("const int *x, int *y, int *z, int n",
                 "{ int b = x[i]; y[i] = __ldg(x + n); z[i] = b; }"),
    ),
    "what becomes of places outside of a surface": (
        LINES % ("cudaSurfaceObject_t s, float *x, int n, int h",
                 "surf2Dwrite(x[i], s, i * 4, h);"),
        LINES % ("cudaSurfaceObject_t s, float *x, int n, int h",
                 "surf2Dwrite(x[i], s, i * 4, h, cudaBoundaryModeZero);"),
    ),
    "a flag beside another one": (
        LINES % ("const float *x, float *y, int n, unsigned f", "y[i] = f & 1u << 20 ? x[i] : 0;"),
        LINES % ("const float *x, float *y, int n, unsigned f", "y[i] = f & 3u << 20 ? x[i] : 0;"),
    ),
    "arrays of a record that are one array": (
        RECORD % "float v = r->x[i]; r->y[i] = 5; z[i] = v;",
        RECORD % "r->y[i] = 5; z[i] = r->x[i];",
    ),
    "one of many arrays": (
        MANY_ARRAYS % "float v = q[i]; h[i] = 2; p[i] = v;",
        MANY_ARRAYS % "h[i] = 2; p[i] = q[i];",
    ),
    "numbers beside one that threads race for": (
        RACED % "x[i]",
        RACED % "i < 40 ? x[i] : x[i] + 1",
    ),
}  # fmt: skip


def made(source: str) -> Module:
    """What calls functions of other files is compiled to be linked with them."""
    options = ["-rdc=true"] if source.startswith(FOREIGN) else []
    return ptxkit.compile_cuda(source, arch="sm_90", options=options)


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_is_not_accepted(name: str) -> None:
    original, candidate = PAIRS[name]
    module = made(original)
    found = verify(module, candidate)
    assert found.compiles
    assert not found.equivalent, found.level


@pytest.mark.parametrize("name", PAIRS)
def test_and_what_is_the_same_compiles(name: str) -> None:
    original, _ = PAIRS[name]
    module = made(original)
    assert verify(module, original).same_ptx


def test_what_threads_race_for_does_not_count() -> None:
    """Two threads draw from one generator in some launches: either may be first."""
    text = """extern "C" __global__ void k(unsigned *state, unsigned *y, int step, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; %s }"""
    body = """unsigned v = state[i % 64]; for (int j = i; j < n; j += step) {
        v = v * 1664525u + 1013904223u; y[j] = v; } state[i % 64] = v"""
    module = ptxkit.compile_cuda(text % f"{body};", arch="sm_90")
    # The lanes of a warp do not go together: no difference to one that has a state for itself.
    apart = """if (i & 1) { asm volatile("// odd"); %s; } else { asm volatile("// even"); %s%s; }"""
    assert verify(module, text % (apart % (body, body, ""))).equivalent
    assert not verify(module, text % (apart % (body, body, " + (n > 70)"))).equivalent
    assert not verify(module, text % f"{body} + 1;").equivalent


def test_a_number_that_becomes_a_float_keeps_its_bits() -> None:
    """No launch has as many bins as that takes."""
    module = ptxkit.compile_cuda(
        'extern "C" __global__ void k(const float *x, int *y, int n, int bins) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i < n) { int b = (int)(x[i] * (float)bins);"
        " if (b >= 0 && b < bins) atomicAdd(y + b, 1); } }",
        arch="sm_90",
    )
    text = module.emit()
    assert "cvt.rn.f32.s32" in text
    wrong = ptxkit.parse(text.replace("cvt.rn.f32.s32", "cvt.rn.f32.s16"))
    assert certify(module, module, "k").equivalent
    assert not certify(module, wrong, "k").equivalent


def test_a_shift_is_by_no_negative_number() -> None:
    module = ptxkit.compile_cuda(
        'extern "C" __global__ void k(const int *a, const int *b, int *o)'
        " { int i = threadIdx.x; o[i] = a[i] >> (b[i] & 31); }"
    )
    assert "% 32" not in ptxkit.decompile(module, "symbolic").cuda


def test_what_is_called_by_a_pointer_keeps_its_name() -> None:
    module = ptxkit.compile_cuda(
        "typedef float (*fn)(float);"
        "__device__ float f1(float x) { return x + 1; }"
        "__device__ float f2(float x) { return x * 2; }"
        "__device__ fn tab[2] = {f1, f2};"
        'extern "C" __global__ void k(float *x, const int *w)'
        " { int t = threadIdx.x; x[t] = tab[w[t] & 1](x[t]); }"
    )
    found = ptxkit.decompile(module, "symbolic")
    assert found.verdict.equivalent
    assert verify(module, found.cuda).equivalent


def test_what_a_host_puts_into_a_variable_counts() -> None:
    """It begins with a number, but a host that knows its name may put another one there."""
    text = "__device__ int scale = 3;" + LINES % (
        "const int *x, int *y, int n",
        "y[i] = x[i] * %s;",
    )
    module = ptxkit.compile_cuda(text % "scale", arch="sm_90").emit()
    found = ptxkit.parse(module.replace("\n.global", "\n.visible .global"))
    assert verify(found, text % "scale").equivalent
    assert not verify(found, text % "3").equivalent


def test_a_sum_of_two_precisions_is_not_cut() -> None:
    """The sum is one of 32 bits, though the factors have 16."""
    text = """.version 8.6
.target sm_100
.address_size 64
.visible .entry k(.param .u64 x) {
    .reg .b16 %h; .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [x]; ld.global.u16 %h, [%d1]; ld.global.u32 %r1, [%d1+4];
    add.u32 %r2, %r1, PLUS; fma.rn.f32.f16 %r3, %h, %h, %r2; st.global.u32 [%d1+8], %r3; ret;
}"""
    one, other = (ptxkit.parse(text.replace("PLUS", number)) for number in ("0", "65536"))
    assert not same_dataflow(one, other, "k").equal
