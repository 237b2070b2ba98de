"""Kernels called on arrays: sizes that agree, results made, messages where they do not."""

import numpy as np
import pytest

from ptxkit.dsl import (
    DslError,
    Size,
    Stride,
    Tile,
    b32,
    bf16,
    cdiv,
    f16,
    f32,
    kernel,
    ptr,
    ptx,
    reg,
    sreg,
    view,
    warp,
)
from ptxkit.run import LaunchError, UnsupportedError

RANDOM = np.random.default_rng(3)


def index(threads):
    return reg.u32(init=sreg.ctaid.x) * threads + reg.u32(init=sreg.tid.x)


@kernel(target="sm_80", grid=lambda N: cdiv(N, 64), block=64)
def axpy(a: f32, x: Tile("N", f32), y: Tile("N", f32), out: Tile("N", f32, out=True), n: Size("N")):
    i = index(64)
    with ptx.if_(i < n):
        value = ptx.fma.rn.f32.new(view(x, f32).load(i), a, view(y, f32).load(i))
        view(out, f32).store(i, value=value)
    ptx.ret()


@kernel(target="sm_80", grid=lambda M: M, block=32)
def row_sums(x: Tile("M", "N", f32), sums: Tile("M", f32, out=True), most: Tile("M", f32, out=True),
             *, N: int):  # fmt: skip
    """N is known while tracing: one kernel for each."""
    row, lane = reg.u32(init=sreg.ctaid.x), warp.lane()
    total, largest = reg.f32(init=0.0), reg.f32(init=float("-inf"))
    values = view(x, f32, strides=(N, 1))
    for k in range(0, N, 32):
        value = reg.f32(init=0.0)
        inside = lane < N - k
        ptx.ld.global_.f32(value, values.at(row, lane + k), when=inside)
        total += value
        ptx.max.f32(largest, largest, value, when=inside)
    view(sums, f32).store(row, value=warp.reduce("add", total), when=lane == 0)
    view(most, f32).store(row, value=warp.reduce("max", largest), when=lane == 0)
    ptx.ret()


@kernel(target="sm_80", grid=lambda M, N: (cdiv(N, 32), M), block=lambda WIDTH: WIDTH)
def scaled(x: Tile("M", "N", f32, inout=True, contiguous=False), by: f32, n: Size("N"),
           row: Stride("x", 0), column: Stride("x", 1), *, WIDTH: int = 32):  # fmt: skip
    i, j = reg.u32(init=sreg.ctaid.y), index(WIDTH)
    with ptx.if_(j < n):
        values = view(x, f32, strides=(row, column))
        values.store(i, j, value=values.load(i, j) * by)
    ptx.ret()


@kernel(target="sm_80", grid=1, block=32)
def bits(x: Tile(32, b32), out: Tile(32, f16, out=True)):
    i = reg.u32(init=sreg.tid.x)
    view(out, f16).store(i, value=view(x, f32).load(i).to("f16"))
    ptx.ret()


@kernel(target="sm_80", grid=1, block=1)
def aligned(x: Tile("N", f32, align=16, inout=True)):
    values = view(x, f32)
    values.store(4, value=values.load(0, count=4))
    ptx.ret()


def test_numpy():
    x, y = RANDOM.standard_normal((2, 1000)).astype(np.float32)
    out = axpy(2.0, x, y)
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)
    given = np.zeros_like(out)
    assert axpy(2.0, x, y, out=given) is given
    np.testing.assert_array_equal(out, given)


def test_strides():
    x = RANDOM.standard_normal((6, 80)).astype(np.float32)
    expected = x.copy()
    expected[1::2, ::2] *= 3
    scaled(x[1::2, ::2], 3.0)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(LaunchError, match="negative strides"):
        scaled(x[::-1], 1.0)
    torch = pytest.importorskip("torch")
    y = torch.from_numpy(x.copy())
    scaled(y.t()[3:, 1:4], 2.0)
    expected[1:4, 3:] *= 2
    np.testing.assert_array_equal(y.numpy(), expected)


def test_nothing_to_do():
    assert axpy(1.0, np.ones(0, np.float32), np.ones(0, np.float32)).shape == (0,)


def test_sizes_known_while_tracing():
    for n in (7, 32, 100, 100):
        x = RANDOM.integers(-9, 9, (5, n)).astype(np.float32)
        sums, most = row_sums(x)
        np.testing.assert_array_equal(sums, x.sum(1))
        np.testing.assert_array_equal(most, x.max(1))
    assert len(row_sums._made) == 3  # traced once for each size
    assert row_sums.ptx(N=100).count("ld.global.f32") == 4
    assert row_sums.check(N=100) == []
    assert row_sums.resources(N=100).registers > 0


def test_fixed_sizes_and_types_by_width():
    x = RANDOM.standard_normal(32).astype(np.float32)
    np.testing.assert_array_equal(bits(x), x.astype(np.float16))
    assert bits(x.view(np.int32)).dtype == np.float16


def test_torch_on_the_host():
    torch = pytest.importorskip("torch")
    x, y = torch.randn(2, 300)
    out = axpy(0.5, x, y)
    assert isinstance(out, torch.Tensor)
    torch.testing.assert_close(out, 0.5 * x + y)
    z = torch.randn(3, 40)
    expected = z * 3
    assert scaled(z, 3.0) is None
    torch.testing.assert_close(z, expected)


def test_bfloat16():
    torch = pytest.importorskip("torch")

    @kernel(target="sm_80", grid=1, block=32)
    def copy(x: Tile(32, bf16), out: Tile(32, bf16, out=True)):
        i = reg.u32(init=sreg.tid.x)
        view(out, bf16).store(i, value=view(x, bf16).load(i))
        ptx.ret()

    x = torch.randn(32).bfloat16()
    assert torch.equal(copy(x), x)


def test_jax_on_the_host():
    jax = pytest.importorskip("jax")
    x, y = jax.numpy.arange(100, dtype="float32"), jax.numpy.ones(100, dtype="float32")
    out = axpy(3.0, x, y)
    assert isinstance(out, jax.Array)
    np.testing.assert_array_equal(np.asarray(out), 3 * np.arange(100) + 1)
    with pytest.raises(LaunchError, match="JAX's arrays never are"):
        scaled(jax.numpy.ones((2, 3)), 1.0)


class Gpu:
    """An array that says it is on a GPU."""

    __cuda_array_interface__ = {"shape": (8,), "typestr": "<f4", "data": (0, False), "version": 3}  # noqa: RUF012


REFUSED = {
    "count": (lambda x: axpy(1.0, x), "is called with 3 arguments, not 2; there should be: a: f32"),
    "size": (lambda x: axpy(1.0, x, x[:3]), r"'y' has the shape \(3,\): its dimension 0 is 3, and "
             r"Tile\('N', f32\) says N = 8"),
    "rank": (lambda x: axpy(1.0, x, x[None]), r"'y' has the shape \(1, 8\), and Tile\('N', f32\) "
             "takes 1 dimensions"),
    "type": (lambda x: axpy(1.0, x, x.astype("f8")), "'y' is of f64"),
    "odd type": (lambda x: axpy(1.0, x, x.astype("c8")), "complex64, which PTX has not"),
    "strides": (lambda x: axpy(1.0, x, np.ones(16, "f4")[::2]), "'y' is not contiguous"),
    "no array": (lambda x: axpy(1.0, x, [1.0]), "'y' is a list; an array of numpy"),
    "apart": (lambda x: axpy(1.0, x, Gpu()), "lie apart: 'x' on cpu, 'y' on cuda:0"),
    "out": (lambda x: axpy(1.0, x, x, out=(x, x)), "has 1 results, and out= gives 2"),
    "out size": (lambda x: axpy(1.0, x, x, out=x[:4]), r"'out' has the shape \(4,\)"),
    "scalar": (lambda x: axpy("a", x, x), "a str cannot be passed"),
    "align": (lambda x: aligned(x[1:]), "'x' begins at 0x.*, which is not a multiple of 16"),
    "fixed": (lambda x: bits(x), "its dimension 0 is 8, and .* says 32"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(LaunchError, match=message):
        call(np.ones(8, np.float32))


def test_mistakes_in_a_signature():
    with pytest.raises(DslError, match="is no array"):
        Tile("M", "K")
    with pytest.raises(DslError, match="is no array"):
        Tile("not a name", f32)
    with pytest.raises(DslError, match="a box of 1 dimensions for an array of 2"):
        Tile("M", "K", f32).mapped(64)

    @kernel(grid=lambda N, Q: 1, block=32)
    def odd(x: Tile("N", f32)):
        ptx.ret()

    with pytest.raises(LaunchError, match="the grid of 'odd' is a function of Q, which no"):
        odd(np.ones(3, np.float32))

    @kernel(grid=1, block=32)
    def sizes(x: Tile("N", f32), m: Size("M"), out: Tile("K", f32, out=True)):
        ptx.ret()

    with pytest.raises(LaunchError, match="the size 'K' of the result 'out' is in no argument"):
        sizes(np.ones(3, np.float32))
    with pytest.raises(LaunchError, match=r"'m' is Size\('M'\), and no argument has"):
        sizes(np.ones(3, np.float32), out=np.ones(3, np.float32))

    @kernel
    def shapeless(x: Tile("N", f32)):
        ptx.ret()

    with pytest.raises(DslError, match="'shapeless' needs a grid and a block"):
        shapeless(np.ones(3, np.float32))


def test_tensor_maps_are_for_the_gpu():
    from ptxkit.dsl import smem, tma

    @kernel(target="sm_90", grid=1, block=32)
    def mapped(x: Tile("M", "N", f32).mapped(8, 32, swizzle=128)):
        tile = smem.tile(f32, 8, 32, swizzle=128)
        tma.load(tile, x, (0, 0), smem.barriers(1).at(0))
        ptx.ret()

    assert ".param .align 64 .b8 x[128]" in mapped.ptx()
    assert mapped.check() == []
    with pytest.raises(UnsupportedError, match=r"cp\.async\.bulk\.tensor"):
        mapped(np.ones((8, 32), np.float32))


# -- torch -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def operator():
    torch = pytest.importorskip("torch")

    def backward(ctx, gradient):
        # A sum's gradient is a view of one element: the operator copies it.
        return None, operator(ctx.factor, gradient, torch.zeros_like(gradient)), gradient

    def setup(ctx, inputs, output):
        ctx.factor = inputs[0]

    operator = axpy.torch_op("ptxkit_tests::axpy", backward=backward, setup_context=setup)
    return operator


def test_operator(operator):
    import torch

    x, y = torch.randn(2, 100)
    torch.testing.assert_close(operator(2.0, x, y), 2 * x + y)
    torch.testing.assert_close(torch.ops.ptxkit_tests.axpy(2.0, x, y), 2 * x + y)


def test_operator_passes_the_checks_of_torch(operator):
    import torch

    x, y = torch.randn(20, requires_grad=True), torch.randn(20, requires_grad=True)
    torch.library.opcheck(operator, (1.5, x, y))


def test_gradient(operator):
    import torch

    x, y = torch.randn(50, requires_grad=True), torch.randn(50, requires_grad=True)
    weights = torch.randn(50)
    (operator(3.0, x, y) * weights).sum().backward()
    torch.testing.assert_close(x.grad, 3 * weights)
    torch.testing.assert_close(y.grad, weights)


def test_compiled(operator):
    """``torch.compile`` sees the operator as one node of its graph."""
    import torch

    seen = []

    def backend(graph, inputs):
        seen.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    @torch.compile(backend=backend, fullgraph=True, dynamic=True)
    def model(x, y):
        return operator(2.0, x, y).relu() + 1

    for size in (10, 20):
        x, y = torch.randn(2, size)
        torch.testing.assert_close(model(x, y), (2 * x + y).relu() + 1)
    assert any("axpy" in str(target) for target in seen[0])


def test_changed_in_place():
    torch = pytest.importorskip("torch")
    operator = scaled.torch_op("ptxkit_tests::scaled_")
    x = torch.randn(4, 33)
    expected = x * 2
    operator(x, 2.0)
    torch.testing.assert_close(x, expected)
    assert "Tensor(a!) x, float by" in str(operator._opoverload._schema)


def test_several_results_and_saved_tensors():
    torch = pytest.importorskip("torch")

    def backward(ctx, gradient, _):
        x, sums, most = ctx.saved_tensors
        assert sums.shape == most.shape == (4,)
        return gradient[:, None].expand_as(x)

    operator = row_sums.torch_op("ptxkit_tests::row_sums", backward=backward)
    x = torch.randn(4, 16, requires_grad=True)
    sums, _ = operator(x)
    sums.backward(torch.arange(4.0))
    torch.testing.assert_close(x.grad, torch.arange(4.0)[:, None].expand(4, 16))


def test_operator_needs_arrays_or_numbers():
    pytest.importorskip("torch")

    @kernel(grid=1, block=1)
    def pointers(x: ptr):
        ptx.ret()

    with pytest.raises(DslError, match="'x' of 'pointers' is neither an array nor a number"):
        pointers.torch_op("ptxkit_tests::pointers")
