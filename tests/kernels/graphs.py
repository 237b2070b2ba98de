"""Sparse matrices and graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.kernel import Kernel, integers, line, small, zeros


def rows(g: np.random.Generator, n: int, most: int = 6) -> tuple[Any, Any]:
    """The row starts and the columns of a square sparse matrix."""
    counts = g.integers(0, most, n)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = [np.sort(g.choice(n, min(c, n), replace=False)) for c in counts]
    starts = np.concatenate([[0], np.cumsum([len(c) for c in columns])]).astype(np.int32)
    return starts, np.concatenate([*columns, [0]]).astype(np.int32)


def each(starts: Any) -> Any:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def csr(g: np.random.Generator, n: int) -> Any:
    starts, columns = rows(g, n)
    return line(n, n, starts, columns, small(g, len(columns)), small(g, n), zeros(n))


def multiplied(n: int, starts: Any, columns: Any, values: Any, x: Any, y: Any) -> Any:
    e = each(starts)
    return (np.bincount(e, values[: len(e)] * x[columns[: len(e)]], minlength=n),)


def ell(g: np.random.Generator, n: int) -> Any:
    columns = g.integers(-2, n, (4, n)).astype(np.int32)
    return line(n, columns, small(g, 4, n), small(g, n), zeros(n), n, 4)


def ell_multiplied(columns: Any, values: Any, x: Any, y: Any, n: int, width: int) -> Any:
    return (np.where(columns >= 0, values * x[np.maximum(columns, 0)], 0).sum(axis=0),)


def bfs(g: np.random.Generator, n: int) -> Any:
    starts, columns = rows(g, n)
    return line(
        n, starts, columns, zeros(1, dtype="i4"), g.integers(-1, 3, n).astype("i4"), n, 1
    )  # fmt: skip


def bfs_step(starts: Any, columns: Any, changed: Any, distance: Any, n: int, level: int) -> Any:
    e = each(starts)
    targets = columns[: len(e)][distance[e] == level]
    found = distance.copy()
    fresh = targets[found[targets] < 0]
    found[fresh] = level + 1
    return [int(len(fresh) > 0)], found


def ranks(g: np.random.Generator, n: int) -> Any:
    starts, columns = rows(g, n)
    outs = g.integers(1, 5, n).astype(np.int32)
    return line(n, starts, columns, outs, g.random(n), zeros(n, dtype="f8"), 0.85, n)


def ranked(starts: Any, columns: Any, outs: Any, before: Any, after: Any, d: float, n: int) -> Any:
    e = each(starts)
    c = columns[: len(e)]
    return ((1 - d) / n + d * np.bincount(e, before[c] / outs[c], minlength=n),)


def edges(g: np.random.Generator, n: int) -> Any:
    return line(
        n, integers(g, n, low=0, high=20), integers(g, n, low=0, high=20),
        integers(g, n, low=1, high=9), integers(g, 20, low=0, high=99), zeros(20, dtype="i4") + 500, n,
    )  # fmt: skip


def relaxed(src: Any, dst: Any, weight: Any, distance: Any, out: Any, n: int) -> Any:
    out = out.copy()
    np.minimum.at(out, dst, distance[src] + weight)
    return (out,)


def triangles(starts: Any, columns: Any, n: int, count: Any) -> Any:
    near = [set(columns[starts[v] : starts[v + 1]].tolist()) for v in range(n)]
    return ([sum(len({x for x in near[v] & near[u] if x > u}) for v in range(n) for u in near[v] if u > v)],)  # fmt: skip


KERNELS = (
    Kernel(
        "spmv_csr",
        r"""
extern "C" __global__ void spmv_csr(int num_rows, const int *ptr, const int *indices,
                                    const float *data, const float *x, float *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0;
        int row_start = ptr[row];
        int row_end = ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += data[jj] * x[indices[jj]];
        y[row] = dot;
    }
}
""",
        csr,
        multiplied,
    ),
    Kernel(
        "spmv_ell",
        r"""
extern "C" __global__ void spmv_ell(const int *cols, const float *vals, const float *x, float *y, int n, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.f;
    for (int k = 0; k < width; ++k) {
        int c = cols[k * n + row];
        if (c >= 0)
            sum += vals[k * n + row] * __ldg(&x[c]);
    }
    y[row] = sum;
}
""",
        ell,
        ell_multiplied,
    ),
    Kernel(
        "bfs_level",
        r"""
extern "C" __global__ void bfs_level(const int *row_ptr, const int *col, int *changed, int *dist, int n, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && dist[v] == level) {
        for (int e = row_ptr[v]; e < row_ptr[v + 1]; ++e) {
            int u = col[e];
            if (dist[u] < 0) {
                dist[u] = level + 1;
                *changed = 1;
            }
        }
    }
}
""",
        bfs,
        bfs_step,
    ),
    Kernel(
        "pagerank_pull",
        r"""
extern "C" __global__ void pagerank_pull(const int *row_ptr, const int *col, const int *out_degree,
                                         const double *old_rank, double *new_rank, double damping, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    double sum = 0.0;
    for (int e = row_ptr[v]; e < row_ptr[v + 1]; e++) {
        int u = col[e];
        sum += old_rank[u] / out_degree[u];
    }
    new_rank[v] = (1.0 - damping) / n + damping * sum;
}
""",
        ranks,
        ranked,
        tolerance=1e-13,
    ),
    Kernel(
        "sssp_relax",
        r"""
struct Edges { const int *src, *dst, *weight; };
extern "C" __global__ void sssp_relax(const int *src, const int *dst, const int *weight,
                                      const int *dist, int *out, int m)
{
    Edges edges = {src, dst, weight};
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) {
        int d = dist[edges.src[e]] + edges.weight[e];
        if (d < out[edges.dst[e]])
            atomicMin(&out[edges.dst[e]], d);
    }
}
""",
        edges,
        relaxed,
    ),
    Kernel(
        "triangle_count",
        r"""
extern "C" __global__ void triangle_count(const int *row_ptr, const int *col, int n, unsigned long long *total)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    unsigned long long mine = 0;
    for (int e = row_ptr[v]; e < row_ptr[v + 1]; ++e) {
        int u = col[e];
        if (u <= v) continue;
        int i = row_ptr[v], j = row_ptr[u];
        while (i < row_ptr[v + 1] && j < row_ptr[u + 1]) {
            int a = col[i], b = col[j];
            if (a == b) {
                if (a > u) ++mine;
                ++i;
                ++j;
            } else if (a < b) ++i;
            else ++j;
        }
    }
    if (mine) atomicAdd(total, mine);
}
""",
        lambda g, n: line(n, *rows(g, n, 12), n, zeros(1, dtype="u8")),
        triangles,
    ),
)
