"""Our own Triton kernels: the shapes people write, from vector add to flash attention.

The bodies are Triton, which borrows Python's syntax but not its types.
"""
# mypy: ignore-errors
# ruff: noqa: N803, SIM108

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def activations(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    silu = x * tl.sigmoid(x)
    gelu = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    soft = tl.log(1.0 + tl.exp(x)) + tl.sqrt(tl.abs(x)) + tl.rsqrt(x * x + 1.0)
    wave = tl.sin(x) * tl.cos(x) + tl.exp2(x) - tl.log2(tl.abs(x) + 1.0)
    steps = tl.floor(x) + tl.ceil(x)
    out = tl.where(x > 0, silu + gelu, soft + wave) + steps
    tl.store(out_ptr + offsets, out, mask=offsets < n)


@triton.jit
def softmax(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=-float("inf"))
    x = x.to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    out = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * stride + offsets, out, mask=offsets < columns)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    spread = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
        x = tl.where(columns < n, x - mean, 0.0)
        spread += x * x
    scale = 1.0 / tl.sqrt(tl.sum(spread, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=mask)
        bias = tl.load(bias_ptr + columns, mask=mask)
        out = (x - mean) * scale * weight + bias
        tl.store(out_ptr + row * stride + columns, out, mask=mask)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_a, stride_b, stride_c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    a_ptrs = a_ptr + rows[:, None] * stride_a + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * stride_b + columns[None, :]
    acc = tl.zeros((M, N), dtype=ACC)
    for _ in range(tl.cdiv(k, K)):
        acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc, out_dtype=ACC)
        a_ptrs += K
        b_ptrs += K * stride_b
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    out = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rows[:, None] * stride_c + columns[None, :], out, mask=mask)


@triton.jit
def matmul_tma(
    a_ptr, b_ptr, c_ptr, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    a = tl.make_tensor_descriptor(a_ptr, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    b = tl.make_tensor_descriptor(b_ptr, shape=[n, k], strides=[k, 1], block_shape=[N, K])
    c = tl.make_tensor_descriptor(c_ptr, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(k, K), warp_specialize=SPECIALIZE):
        x = a.load([row, step * K])
        y = b.load([column, step * K])
        acc = tl.dot(x, y.T, acc)
    c.store([row, column], acc.to(tl.float16))


@triton.jit
def copy_descriptor(source, target, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    tile = source.load([row, column])
    target.store([row, column], tile * 2.0)
    target.atomic_add([row, column], tile)


@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    inner, groups = tl.arange(0, K), tl.arange(0, K // 32)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + rows[:, None] * k + start + inner[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] + columns[None, :] * k)
        scales = start // 32 + groups
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (k // 32) + scales[None, :])
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (k // 32) + scales[None, :])
        acc = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e5m2", acc)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


@triton.jit
def flash_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns, features = tl.arange(0, N), tl.arange(0, D)
    base = tl.program_id(1).to(tl.int64) * length * D
    q = tl.load(q_ptr + base + rows[:, None] * D + features[None, :])
    top = tl.full([M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([M], dtype=tl.float32)
    acc = tl.zeros([M, D], dtype=tl.float32)
    end = (tl.program_id(0) + 1) * M if CAUSAL else length
    for start in range(0, end, N):
        keys = start + columns
        k = tl.load(k_ptr + base + keys[None, :] * D + features[:, None])
        scores = tl.dot(q, k) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new_top[:, None])
        fade = tl.exp2(top - new_top)
        total = total * fade + tl.sum(weights, axis=1)
        v = tl.load(v_ptr + base + keys[:, None] * D + features[None, :])
        acc = tl.dot(weights.to(v.dtype), v, acc * fade[:, None])
        top = new_top
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + base + rows[:, None] * D + features[None, :], out)


@triton.jit
def atomics(x_ptr, bins_ptr, flags_ptr, float_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(bins_ptr + (x & 255), 1, mask=mask)
    tl.atomic_max(bins_ptr + 256 + (x & 7), x, mask=mask, sem="relaxed")
    tl.atomic_min(bins_ptr + 264 + (x & 7), x, mask=mask, sem="acquire", scope="cta")
    tl.atomic_and(bins_ptr + 272 + (x & 7), x, mask=mask, sem="release")
    tl.atomic_or(bins_ptr + 280 + (x & 7), x, mask=mask, scope="sys")
    tl.atomic_xor(bins_ptr + 288 + (x & 7), x, mask=mask)
    old = tl.atomic_xchg(bins_ptr + 296 + (x & 7), x, mask=mask)
    tl.atomic_add(float_ptr + (old & 31), x.to(tl.float32), mask=mask)
    while tl.atomic_cas(flags_ptr, 0, 1) == 1:
        pass
    tl.store(flags_ptr + 1, tl.load(flags_ptr + 1) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(flags_ptr, 0)


@triton.jit
def add_pairs(sum_a, count_a, sum_b, count_b):
    return sum_a + sum_b, count_a + count_b


@triton.jit
def reductions(x_ptr, out_ptr, scan_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr + rows, tl.sum(x, axis=1))
    tl.store(out_ptr + M + rows, tl.max(x, axis=1))
    tl.store(out_ptr + 2 * M + rows, tl.min(x, axis=1))
    tl.store(out_ptr + 3 * M + rows, tl.argmax(x, axis=1).to(tl.float32))
    tl.store(out_ptr + 4 * M + rows, tl.xor_sum(x.to(tl.int32), axis=1).to(tl.float32))
    total, count = tl.reduce((x, x * x), 0, add_pairs)
    tl.store(out_ptr + 5 * M + columns, total / count)
    scan = tl.cumsum(x, axis=1) + tl.cumprod(x, axis=0)
    tl.store(scan_ptr + rows[:, None] * N + columns[None, :], scan)


@triton.jit
def sort_rows(x_ptr, out_ptr, histogram_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.sort(x, descending=True))
    tl.store(out_ptr + M * N + offsets, tl.flip(x, 1))
    counts = tl.histogram(tl.reshape(x & 63, [M * N]), 64)
    tl.store(histogram_ptr + tl.arange(0, 64), counts)


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x.to(out_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def transpose(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    x = tl.load(
        x_ptr + rows[:, None] * n + columns[None, :], mask=mask, eviction_policy="evict_first"
    )
    out = out_ptr + columns[:, None] * m + rows[None, :]
    tl.store(out, tl.trans(x), mask=tl.trans(mask), cache_modifier=".cs")


@triton.jit
def collatz(x_ptr, steps_ptr, n, limit):
    index = tl.program_id(0)
    x = tl.load(x_ptr + index).to(tl.int64)
    steps = 0
    while (x != 1) & (steps < limit):
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    if index < n:
        tl.store(steps_ptr + index, steps)
    else:
        tl.device_print("out of range", index)


@triton.jit
def dropout(x_ptr, out_ptr, n, probability, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > probability
    noise = tl.randn(seed + 1, offsets)
    tl.device_assert(probability < 1.0, "nothing would be kept")
    out = tl.where(keep, x / (1.0 - probability), noise)
    tl.store(out_ptr + offsets, out, mask=mask)


@triton.jit
def inline_ptx(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    shifted = tl.inline_asm_elementwise(
        "shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + offsets, shifted + tl.gather(x, (x & (BLOCK - 1)), 0))


@triton.jit
def double_integers(x_ptr, y_ptr, out_ptr, i_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.fma(x, y, tl.exp(x) / y + tl.sqrt(y)))
    i = tl.load(i_ptr + offsets)
    high = tl.umulhi(i.to(tl.uint32), i.to(tl.uint32)).to(tl.int64)
    tl.store(i_ptr + offsets, i // 7 + i % 13 + (i << 3) + (i >> 2) + high)
