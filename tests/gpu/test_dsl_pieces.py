"""The higher pieces of the DSL on a GPU: those of tests/dsl, tensor copies, wgmma, clusters."""

from __future__ import annotations

import numpy as np
import pytest

from dsl import test_launching, test_pieces
from dsl.test_pieces import *  # noqa: F403
from ptxkit.dsl import (
    Size,
    Tile,
    bf16,
    e4m3,
    f16,
    f32,
    fence_copies,
    fence_init,
    kernel,
    ptr,
    ptx,
    reg,
    s8,
    s32,
    smem,
    sreg,
    swizzled,
    tensor_map,
    tf32,
    tma,
    types,
    u8,
    u32,
    view,
    wgmma,
)
from ptxkit.run import tensor_map as encode_map
from ptxkit.run.cuda_driver import architecture

torch = pytest.importorskip("torch")
test_pieces.DEVICE = "cuda"
RANDOM = np.random.default_rng(9)
hopper = pytest.mark.skipif(architecture(0) != "sm_90", reason="wgmma is of sm_90a only")

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32,
          "s8": torch.int8, "u8": torch.uint8, "e4m3": torch.float8_e4m3fn,
          "e5m2": torch.float8_e5m2, "s32": torch.int32}  # fmt: skip


def whole_numbers(shape, type, low=-3, high=4):
    """A tensor of small whole numbers, whose products are exact in every type."""
    values = torch.from_numpy(RANDOM.integers(max(low, 0) if type.name[0] == "u" else low, high,
                                              shape).astype("f4"))  # fmt: skip
    return values.cuda().to(DTYPES[type.name])


def map_of(tensor, box, type, swizzle=0):
    return encode_map(tensor.data_ptr(), tensor.shape, box, type.name, swizzle=swizzle,
                      strides=tensor.stride())  # fmt: skip


# -- tensor copies ---------------------------------------------------------------------------


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("type", [f16, f32, u8], ids=str)
def test_the_hardware_swizzles_as_we_say(type, swizzle):
    """What a tensor copy leaves in shared memory is where ``swizzled`` says."""
    width = (swizzle or 64) * 8 // type.width

    @kernel(target="sm_90")
    def copy(map: tensor_map, raw: ptr, back: ptr):
        tile = smem.tile(type, 16, width, swizzle=swizzle)
        done = smem.barriers(1).at(0)
        tid = reg.u32(init=sreg.tid.x)
        with ptx.if_(tid == 0):
            done.init(1)
            fence_init()
            done.expect(tile.bytes)
            tma.load(tile, map, (width, 16), done)
        ptx.bar.sync(0)
        done.wait(0)
        plain = view(tile.base, types.b8, space="shared")
        for k in ptx.range(tid, tile.bytes, 32):
            view(raw, types.b8).store(k, value=plain.load(k))
        for row in ptx.range(16):
            for k in ptx.range(tid, width, 32):
                view(back, type, strides=(width, 1)).store(row, k, value=tile.load(row, k))
        ptx.ret()

    source = torch.randint(0, 256, (48, 3 * width * type.width // 8), dtype=torch.uint8).cuda()
    tensor = source.view(DTYPES[type.name])
    raw = torch.zeros(16 * width * type.width // 8, dtype=torch.uint8).cuda()
    back = torch.zeros((16, width), dtype=DTYPES[type.name]).cuda()
    copy.load("cuda")[1, 32](map_of(tensor, (16, width), type, swizzle), raw, back)
    box = source[16:32, width * type.width // 8 : 2 * width * type.width // 8].cpu().numpy()
    flat = box.reshape(-1)
    expected = np.zeros_like(flat)
    for place in range(flat.size):
        expected[swizzled(place, swizzle)] = flat[place]
    np.testing.assert_array_equal(raw.cpu().numpy(), expected)
    np.testing.assert_array_equal(back.view(torch.uint8).cpu().numpy(), box)
    assert copy.check() == []


@kernel(target="sm_90")
def through(map: tensor_map, out: tensor_map, *, swizzle: int = 128):
    """A tile of several panels, in and out again, beyond the tensor's edge."""
    tile = smem.tile(f16, 32, 128, swizzle=swizzle)
    done = smem.barriers(1).at(0)
    tid = reg.u32(init=sreg.tid.x)
    row, column = reg.u32(init=sreg.ctaid.y) * 32, reg.u32(init=sreg.ctaid.x) * 128
    with ptx.if_(tid == 0):
        tma.prefetch(map)
        done.init(1)
        fence_init()
        done.expect(tile.bytes)
        tma.load_tile(tile, map, row, column, done)
    ptx.bar.sync(0)
    done.wait(0)
    for k in range(0, 128, 4):
        value = tile.load(tid, k)
        tile.store(tid, k, value=-value)
    fence_copies()
    ptx.bar.sync(0)
    with ptx.if_(tid == 0):
        tma.store_tile(out, row, column, tile)
        tma.commit()
        tma.wait(0)
    ptx.ret()


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_tiles_in_and_out(swizzle):
    x = torch.randn((80, 200), dtype=torch.float16).cuda()
    y = torch.zeros((80, 200), dtype=torch.float16).cuda()
    box = (32, swizzle // 2)
    through.load("cuda", swizzle=swizzle)[(2, 3), 32](
        map_of(x, box, f16, swizzle), map_of(y, box, f16, swizzle)
    )
    expected = x.clone()
    expected[:, ::4] *= -1
    assert torch.equal(y, expected)
    assert through.check(swizzle=swizzle) == []


@kernel(target="sm_90", reqnctapercluster=(4, 1, 1))
def shared_by_a_cluster(map: tensor_map, out: ptr[f32]):
    """Every block fetches a quarter for all four."""
    tiles = smem.tile(f32, 8, 32, stages=4)
    done = smem.barriers(1).at(0)
    tid, rank = reg.u32(init=sreg.tid.x), reg.u32(init=sreg.cluster_ctarank)
    with ptx.if_(tid == 0):
        done.init(1)
        fence_init()
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()
    with ptx.if_(tid == 0):
        done.expect(4 * tiles.bytes)
        tma.load(tiles.stage(rank), map, (0, rank * 8), done, blocks=lit16(0xF))
    done.wait(0)
    for stage in range(4):
        for row in range(8):
            view(out, f32, strides=(1024, 256, 32, 1)).store(
                rank, stage, row, tid, value=tiles.stage(stage).load(row, tid)
            )
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()
    ptx.ret()


def lit16(value):
    return reg.u16(init=value)


def test_multicast():
    x = torch.randn((32, 32)).cuda()
    out = torch.zeros((4, 32, 32)).cuda()
    shared_by_a_cluster.load("cuda")[4, 32](map_of(x, (8, 32), f32), out)
    for rank in range(4):
        assert torch.equal(out[rank], x)
    assert shared_by_a_cluster.check() == []


@kernel(target="sm_90", reqnctapercluster=(2, 1, 1))
def told(out: ptr[u32]):
    """The first block waits until all threads of the second have arrived."""
    done = smem.barriers(1).at(0)
    tid, rank = reg.u32(init=sreg.tid.x), reg.u32(init=sreg.cluster_ctarank)
    with ptx.if_(tid == 0):
        done.init(32)
        fence_init()
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()
    with ptx.if_(rank == 1):
        done.arrive(block=reg.u32(init=0))
    with ptx.else_():
        done.wait(0)
        view(out, u32).store(tid, value=reg.u32(init=7))
    ptx.barrier.cluster.arrive.aligned()
    ptx.barrier.cluster.wait.aligned()
    ptx.ret()


def test_arrival_at_another_block():
    out = torch.zeros(32, dtype=torch.int32).cuda()
    told.load("cuda")[2, 32](out)
    assert (out == 7).all()
    assert told.check() == []


# -- wgmma -----------------------------------------------------------------------------------


def wgmma_kernel(n, sums, type, swizzle, major_a="k", major_b="k", depth=64, registers=False):
    """``d = a * b`` for 64 rows, n columns and a depth; b is given as columns where K-major."""
    product = wgmma.Wgmma(n, sums, type)

    @kernel(target="sm_90a")
    def multiply(a: tensor_map, b: tensor_map, d: ptr, plain: ptr):
        pool = smem.dynamic()
        shape_a = (64, depth) if major_a == "k" else (depth, 64)
        shape_b = (n, depth) if major_b == "k" else (depth, n)
        left = pool.tile(type, *shape_a, swizzle=swizzle)
        right = pool.tile(type, *shape_b, swizzle=swizzle)
        done = pool.barriers(1).at(0)
        tid = reg.u32(init=sreg.tid.x)
        with ptx.if_(tid == 0):
            done.init(1)
            fence_init()
            done.expect(left.bytes + right.bytes)
            tma.load_tile(left, a, 0, 0, done)
            tma.load_tile(right, b, 0, 0, done)
        ptx.bar.sync(0)
        done.wait(0)
        out = product.c.new(0.0 if sums.name == "f32" else 0)
        fragments = []
        if registers:
            matrix = view(plain, type, strides=(depth, 1))
            for k in range(0, depth, product.k):
                fragments.append(product.a.load(matrix, 0, k, tid))
        wgmma.fence()
        for step, k in enumerate(range(0, depth, product.k)):
            x = wgmma.descriptor(left, *((0, k) if major_a == "k" else (k, 0)), major=major_a)
            y = wgmma.descriptor(right, *((0, k) if major_b == "k" else (k, 0)), major=major_b)
            product(
                out,
                fragments[step] if registers else x,
                y,
                turned_a=major_a != "k",
                turned_b=major_b != "k",
            )
        wgmma.commit()
        wgmma.wait(0)
        product.c.store(view(d, sums, strides=(n, 1)), out, 0, 0, tid)
        ptx.ret()

    return multiply


WGMMAS = [
    # n, sums, type, swizzle, major a, major b, a in registers
    *[(n, f32, f16, 128, "k", "k", False) for n in (8, 16, 24, 64, 104, 128, 256)],
    *[(n, f32, f16, swizzle, "k", "k", False) for n in (32, 128) for swizzle in (32, 64)],
    (64, f16, f16, 128, "k", "k", False), (128, f16, f16, 64, "k", "k", False),
    *[(n, f32, type, 128, "k", "k", False) for n in (64, 128) for type in (bf16, tf32, e4m3)],
    (64, f32, types.e5m2, 64, "k", "k", False),
    (64, s32, s8, 128, "k", "k", False), (96, s32, u8, 128, "k", "k", False),
    *[(n, f32, f16, 128, "k", "mn", False) for n in (64, 128, 256)],
    *[(64, f32, f16, swizzle, "mn", "mn", False) for swizzle in (32, 64, 128)],
    (128, f32, bf16, 128, "mn", "k", False), (128, f32, f16, 64, "k", "mn", False),
    (64, f32, f16, 128, "k", "k", True), (128, f32, bf16, 128, "k", "mn", True),
    (64, f32, tf32, 128, "k", "k", True), (64, f32, e4m3, 128, "k", "k", True),
    (32, s32, s8, 128, "k", "k", True),
]  # fmt: skip


@hopper
@pytest.mark.parametrize("case", WGMMAS, ids=lambda case: "-".join(map(str, case)))
def test_wgmma(case):
    n, sums, type, swizzle, major_a, major_b, registers = case
    row = swizzle * 8 // type.width
    depth = max(64, row) if type.width != 8 else 128
    one = wgmma_kernel(n, sums, type, swizzle, major_a, major_b, depth, registers)
    a, b = whole_numbers((64, depth), type), whole_numbers((n, depth), type)
    given_a = a if major_a == "k" else a.t().contiguous()
    given_b = b if major_b == "k" else b.t().contiguous()
    box_a = (64 if major_a == "k" else depth, row)
    box_b = (n if major_b == "k" else depth, row)
    d = torch.zeros((64, n), dtype=DTYPES[sums.name]).cuda()
    one.load("cuda")[1, 128, one.shared_bytes()](
        map_of(given_a, box_a, type, swizzle), map_of(given_b, box_b, type, swizzle), d, a
    )
    expected = (a.double() @ b.double().t()).to(d.dtype)
    wrong = (d != expected).nonzero()
    assert len(wrong) == 0, f"{len(wrong)} of {d.numel()} differ, first {wrong[:4].tolist()}"
    assert one.check() == []


# -- calls on arrays -------------------------------------------------------------------------


def test_calls_on_tensors():
    x, y = torch.randn(2, 1000, device="cuda")
    out = test_launching.axpy(2.0, x, y)
    assert out.is_cuda
    torch.testing.assert_close(out, 2 * x + y)
    sums, most = test_launching.row_sums(torch.ones(6, 45, device="cuda"))
    assert (sums == 45).all() and (most == 1).all()
    z = torch.randn(40, 60, device="cuda")
    expected = z.clone()
    expected[1::3, 2:50:2] *= 5
    test_launching.scaled(z[1::3, 2:50:2], 5.0)
    torch.testing.assert_close(z, expected)
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.testing.assert_close(test_launching.axpy(1.0, x, x), x + x)


def test_calls_on_cupy_and_numpy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(500, dtype="float32")
    out = test_launching.axpy(2.0, x, x)
    assert isinstance(out, cupy.ndarray)
    assert (out == 3 * x).all()
    z = cupy.ones((8, 40), dtype="float32")
    test_launching.scaled(z[::2, ::2], 3.0)
    assert float(z.sum()) == 8 * 40 + 2 * 4 * 20
    host = np.arange(500, dtype=np.float32)
    np.testing.assert_array_equal(
        test_launching.axpy(2.0, host, host, device="cuda"), host + 2 * host
    )


def test_compiled_operator():
    def backward(ctx, gradient):
        assert [one.shape for one in ctx.saved_tensors] == [(777,)] * 3
        return None, gradient * 2, gradient

    operator = test_launching.axpy.torch_op("ptxkit_gpu_tests::axpy", backward=backward)

    @torch.compile(fullgraph=True)
    def model(x, y):
        return torch.relu(operator(2.0, x.sin(), y)) + 1

    x = torch.randn(777, device="cuda", requires_grad=True)
    y = torch.randn(777, device="cuda")
    result = model(x, y)
    torch.testing.assert_close(result, torch.relu(2 * x.sin() + y) + 1)
    result.sum().backward()
    again = x.detach().clone().requires_grad_()
    (torch.relu(2 * again.sin() + y) + 1).sum().backward()
    torch.testing.assert_close(x.grad, again.grad)


def test_mapped_arguments():
    @kernel(target="sm_90", grid=lambda M, N: (N // 32, M // 8), block=32)
    def turned(
        x: Tile("M", "N", f32).mapped("ROWS", 32, swizzle="SWIZZLE"),
        out: Tile("N", "M", f32, out=True),
        m: Size("M"),
        *,
        ROWS: int = 8,
        SWIZZLE: int = 128,
    ):
        tile = smem.tile(f32, ROWS, 32, swizzle=SWIZZLE)
        done = smem.barriers(1).at(0)
        tid = reg.u32(init=sreg.tid.x)
        row, column = reg.u32(init=sreg.ctaid.y) * ROWS, reg.u32(init=sreg.ctaid.x) * 32
        with ptx.if_(tid == 0):
            done.init(1)
            fence_init()
            done.expect(tile.bytes)
            tma.load(tile, x, (column, row), done)
        ptx.bar.sync(0)
        done.wait(0)
        for k in range(ROWS):
            place = view(out, f32, strides=(m, 1))
            place.store(column + tid, row + k, value=tile.load(k, tid))
        ptx.ret()

    x = torch.randn(64, 96, device="cuda")
    assert torch.equal(turned(x), x.t())
    assert torch.equal(turned(x[:32]), x[:32].t())


@hopper
@pytest.mark.parametrize("options", [{}, {"CLUSTER": 1}, {"BN": 128, "STAGES": 6}], ids=str)
@pytest.mark.parametrize("shape", [(128, 256, 64), (1000, 520, 200), (4096, 4096, 512)], ids=str)
def test_hopper_gemm(shape, options):
    from examples.hopper_gemm import multiply

    m, n, k = shape
    a, b = (whole_numbers((size, k), f16) for size in (m, n))
    expected = (a.float() @ b.float().t()).half()
    assert torch.equal(multiply(a, b, **options), expected)


@hopper
def test_speed_of_the_hopper_product(record_property):
    from examples.hopper_gemm import multiply, timed

    size = 8192
    a, b = torch.randn(2, size, size, device="cuda", dtype=torch.float16)
    times = timed({"ptxkit": lambda: multiply(a, b), "torch": lambda: a @ b.t()})
    rates = {name: 2e-9 * size**3 / time for name, time in times.items()}
    ratio = rates["ptxkit"] / rates["torch"]
    shown = f"{rates['ptxkit']:.0f} TFLOPS, torch {rates['torch']:.0f}, ratio {ratio:.2f}"
    record_property("facts", {f"examples/hopper_gemm.py, {size}^3 in half precision": shown})
    assert ratio > 0.8
