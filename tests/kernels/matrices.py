"""Dense linear algebra."""

from __future__ import annotations

import numpy as np

from tests.kernels.kernel import Kernel, Setup, floats, line, plane, small, zeros

KERNELS = (
    Kernel(
        "transpose_naive",
        r"""
extern "C" __global__ void transpose_naive(float *odata, const float *idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        odata[x * height + y] = idata[y * width + x];
}
""",
        lambda g, n: plane(n, 21, zeros(n, 21), floats(g, 21, n), n, 21),
        lambda y, x, w, h: (x.T, x),
    ),
    Kernel(
        "transpose_coalesced",
        r"""
#define TILE_DIM 32
#define BLOCK_ROWS 8
extern "C" __global__ void transpose_coalesced(float *odata, const float *idata)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int width = gridDim.x * TILE_DIM;
    int height = gridDim.y * TILE_DIM;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
""",
        lambda g, n: Setup(
            (n, 2), (32, 8), (zeros(32 * n, 64), floats(g, 64, 32 * n))
        ),
        lambda y, x: (x.T, x),
        sizes=(1, 3),
    ),
    Kernel(
        "matmul_naive",
        r"""
extern "C" __global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
""",
        lambda g, n: plane(n, 13, small(g, 13, 9), small(g, 9, n), zeros(13, n), 13, n, 9),
        lambda a, b, c, m, n, k: (a @ b,),
        sizes=(1, 37),
    ),
    Kernel(
        "matmul_tiled",
        r"""
#define BLOCK_SIZE 16
extern "C" __global__ void matmul_tiled(float *C, const float *A, const float *B, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by;
    int aEnd = aBegin + wA - 1;
    int aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx;
    int bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}
""",
        lambda g, n: Setup(
            (2, n), (16, 16), (zeros(16 * n, 32), small(g, 16 * n, 48), small(g, 48, 32), 48, 32)
        ),
        lambda c, a, b, wa, wb: (a @ b, a, b),
        sizes=(1, 2),
    ),
    Kernel(
        "matmul_tiled_ragged",
        r"""
template <int TILE>
__global__ void matmul_tiled_ragged(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float sa[TILE][TILE], sb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
        sa[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.f;
        sb[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) acc += sa[threadIdx.y][i] * sb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = acc;
}
template __global__ void matmul_tiled_ragged<8>(const float *, const float *, float *, int, int, int);
""",
        lambda g, n: plane(
            n, 13, small(g, 13, 11), small(g, 11, n), zeros(13, n), 13, n, 11, block=(8, 8)
        ),
        lambda a, b, c, m, n, k: (a @ b,),
        sizes=(1, 19),
    ),
    Kernel(
        "matvec_warp",
        r"""
extern "C" __global__ void matvec_warp(const float *A, const float *x, float *y, int rows, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (warp >= rows) return;
    float sum = 0.f;
    for (int c = lane; c < cols; c += 32)
        sum += A[warp * cols + c] * x[c];
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, o);
    if (lane == 0) y[warp] = sum;
}
""",
        lambda g, n: Setup(3, 64, (small(g, 5, n), small(g, n), zeros(5), 5, n)),
        lambda a, x, y, r, c: (a @ x,),
    ),
    Kernel(
        "outer_accumulate",
        r"""
extern "C" __global__ void outer_accumulate(double *C, const double *u, const double *v, double alpha, int m, int n)
{
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < m; i += gridDim.y * blockDim.y)
        for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x)
            C[i * n + j] += alpha * u[i] * v[j];
}
""",
        lambda g, n: Setup(
            (1, 2), (16, 4),
            (g.integers(-9, 9, (11, n)).astype("f8"), g.integers(-9, 9, 11).astype("f8"),
             g.integers(-9, 9, n).astype("f8"), 0.5, 11, n),
        ),
        lambda c, u, v, a, m, n: (c + a * np.outer(u, v), u, v),
    ),
    Kernel(
        "triangular_solve",
        r"""
// Forward substitution, one thread per right-hand side.
extern "C" __global__ void triangular_solve(const double *L, double *B, int n, int rhs)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= rhs) return;
    for (int i = 0; i < n; ++i) {
        double s = B[i * rhs + j];
        for (int k = 0; k < i; ++k) s -= L[i * n + k] * B[k * rhs + j];
        B[i * rhs + j] = s / L[i * n + i];
    }
}
""",
        lambda g, n: line(
            n, np.tril(g.uniform(0.5, 1, (9, 9))) + 2 * np.eye(9), g.standard_normal((9, n)), 9, n
        ),
        lambda low, b, n, rhs: (np.linalg.solve(low, b),),
        tolerance=1e-11,
    ),
)  # fmt: skip
