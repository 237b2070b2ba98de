"""Irregular work: graphs, queues, strings, hash tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.run.kernels.case import Case, launch

SOURCE = r"""
// One level of a breadth-first search; `found` says whether there is another.
extern "C" __global__ void bfs_level(const int *starts, const int *targets, int *levels,
                                     int level, int n, int *found) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level) return;
    for (int e = starts[v]; e < starts[v + 1]; ++e)
        if (atomicCAS(&levels[targets[e]], -1, level + 1) == -1) *found = 1;
}

// A breadth-first search in one block, with a queue in shared memory.
extern "C" __global__ void bfs_queue(const int *starts, const int *targets, int *levels, int n) {
    __shared__ int queue[2][512], size[2];
    if (threadIdx.x == 0) { queue[0][0] = 0; size[0] = 1; size[1] = 0; levels[0] = 0; }
    __syncthreads();
    for (int level = 1, now = 0; size[now]; ++level, now ^= 1) {
        int count = size[now];
        __syncthreads();
        if (threadIdx.x == 0) size[now ^ 1] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            int v = queue[now][i];
            for (int e = starts[v]; e < starts[v + 1]; ++e)
                if (atomicCAS(&levels[targets[e]], -1, level) == -1)
                    queue[now ^ 1][atomicAdd(&size[now ^ 1], 1)] = targets[e];
        }
        __syncthreads();
    }
}

// Work is taken from a counter and put to a queue; what is put is sorted out afterwards.
extern "C" __global__ void work_queue(int *next, const int *work, int n, int *tail, int *results,
                                      int *sum) {
    for (;;) {
        int i = atomicAdd(next, 1);
        if (i >= n) return;
        int steps = 0;
        for (unsigned x = work[i]; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
        results[i] = steps;
        atomicAdd(tail, 1);
        atomicAdd(sum, steps);
        atomicMax(sum + 1, steps);
    }
}

extern "C" __global__ void find(const char *text, int length, const char *word, int letters,
                                int *first, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool same = i + letters <= length;
    for (int j = 0; same && j < letters; ++j) same = text[i + j] == word[j];
    unsigned lanes = __ballot_sync(~0u, same);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(lanes));
    if (same) atomicMin(first, i);
}

// The distance of two words by Levenshtein, a diagonal at a time.
extern "C" __global__ void edit_distance(const char *a, int m, const char *b, int n, int *out) {
    __shared__ int rows[3][128];
    int i = threadIdx.x;
    for (int d = 0; d <= m + n; ++d) {
        int j = d - i;
        if (i <= m && j >= 0 && j <= n) {
            int best;
            if (i == 0 || j == 0) best = i + j;
            else {
                best = min(rows[(d + 2) % 3][i - 1], rows[(d + 2) % 3][i]) + 1;
                best = min(best, rows[(d + 1) % 3][i - 1] + (a[i - 1] != b[j - 1]));
            }
            rows[d % 3][i] = best;
            if (i == m && j == n) *out = best;
        }
        __syncthreads();
    }
}

// A hash table with open addressing; keys are unique, so the places differ but not the sums.
extern "C" __global__ void hash_count(const unsigned *keys, int n, unsigned *table, unsigned *counts,
                                      int size, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned slot = keys[i] * 2654435761u % size;
        for (;; slot = (slot + 1) % size) {
            unsigned before = atomicCAS(&table[slot], 0u, keys[i]);
            if (before == 0 || before == keys[i]) break;
        }
        out[i] = atomicAdd(&counts[slot], 1u) == 0;
    }
}

extern "C" __global__ void crc32(const unsigned char *data, int length, unsigned *out) {
    const unsigned char *row = data + threadIdx.x * length;
    unsigned crc = ~0u;
    for (int i = 0; i < length; ++i) {
        crc ^= row[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    out[threadIdx.x] = ~crc;
}
"""


def graph(g: np.random.Generator) -> tuple[Any, Any, int]:
    n = 300
    edges = [sorted(g.integers(0, n, g.integers(0, 4)).tolist()) for _ in range(n)]
    starts = np.cumsum([0, *(len(e) for e in edges)]).astype(np.int32)
    return starts, np.array([t for e in edges for t in e], np.int32), n


def levels(starts: Any, targets: Any, n: int) -> Any:
    found = np.full(n, -1, np.int32)
    found[0] = 0
    front = [0]
    while front:
        following = []
        for v in front:
            for t in targets[starts[v] : starts[v + 1]]:
                if found[t] < 0:
                    found[t] = found[v] + 1
                    following.append(t)
        front = following
    return found


def unvisited(g: np.random.Generator, first: int) -> tuple[Any, ...]:
    starts, targets, n = graph(g)
    start = np.full(n, -1, np.int32)
    start[0] = first
    return starts, targets, start, n


def search(loaded: Any, starts: Any, targets: Any, found: Any, n: int) -> None:
    level, more = 0, np.ones(1, np.int32)
    while more[0]:
        more[0] = 0
        loaded["bfs_level"][3, 128](starts, targets, found, level, n, more)
        level += 1


def collatz(work: Any) -> Any:
    steps = []
    for x in work.tolist():
        count = 0
        while x != 1:
            x = 3 * x + 1 if x % 2 else x // 2
            count += 1
        steps.append(count)
    return np.array(steps)


def queue(next_: Any, work: Any, n: int, tail: Any, results: Any, sums: Any) -> tuple[Any, ...]:
    steps = collatz(work)
    return [n], steps, [steps.sum(), steps.max()]


def edit_distance(a: Any, m: int, b: Any, n: int, out: Any) -> tuple[Any, ...]:
    row = list(range(n + 1))
    for i in range(1, m + 1):
        before, row = row, [i]
        for j in range(1, n + 1):
            change = before[j - 1] + (a[i - 1] != b[j - 1])
            row.append(min(before[j] + 1, row[j - 1] + 1, int(change)))
    return ([row[n]],)


def text(g: np.random.Generator, length: int) -> Any:
    return g.integers(97, 100, length).astype(np.uint8)


def places(t: Any, length: int, word: Any, letters: int, first: Any, count: Any) -> tuple[Any, ...]:
    whole, part = t.tobytes(), word.tobytes()
    found = [i for i in range(length) if whole.startswith(part, i)]
    return [found[0] if found else 1 << 30], [len(found)]


def hashed(keys: Any, n: int, table: Any, counts: Any, size: int, out: Any) -> tuple[Any, ...]:
    return (np.ones(n, np.uint32),)


def crc(data: Any, length: int, out: Any) -> tuple[Any, ...]:
    import zlib

    return ([zlib.crc32(row.tobytes()) for row in data],)


CASES = (
    Case(
        "bfs_levels",
        lambda g: unvisited(g, 0),
        search,
        lambda starts, targets, found, n: (levels(starts, targets, n),),
    ),
    Case(
        "bfs_queue",
        lambda g: unvisited(g, -1),
        launch("bfs_queue", 1, 64),
        lambda starts, targets, found, n: (levels(starts, targets, n),),
    ),
    Case(
        "work_queue",
        lambda g: (np.zeros(1, np.int32), g.integers(1, 500, 200).astype(np.int32), 200,
                   np.zeros(1, np.int32), np.zeros(200, np.int32), np.zeros(2, np.int32)),
        launch("work_queue", 2, 64),
        queue,
    ),
    Case(
        "find",
        lambda g: (text(g, 1000), 1000, text(g, 3), 3, np.full(1, 1 << 30, "i4"), np.zeros(1, "i4")),
        launch("find", 8, 128),
        places,
    ),
    Case(
        "edit_distance",
        lambda g: (text(g, 40), 40, text(g, 55), 55, np.zeros(1, np.int32)),
        launch("edit_distance", 1, 64),
        edit_distance,
    ),
    Case(
        "hash_count",
        lambda g: (g.choice(np.arange(1, 5000), 300, replace=False).astype(np.uint32), 300,
                   np.zeros(512, np.uint32), np.zeros(512, np.uint32), 512, np.zeros(300, "u4")),
        launch("hash_count", 3, 128),
        hashed,
    ),
    Case(
        "crc32",
        lambda g: (g.integers(0, 256, (64, 19)).astype(np.uint8), 19, np.zeros(64, np.uint32)),
        launch("crc32", 1, 64),
        crc,
    ),
)  # fmt: skip
