"""Kernels called on JAX's arrays, on the host: computed by the simulator, given back as JAX's."""

import numpy as np
import pytest

from ptxkit.dsl import Size, Tile, cdiv, f32, kernel, ptx, reg, sreg, view
from ptxkit.run import LaunchError

jax = pytest.importorskip("jax")
jnp = jax.numpy


@kernel(target="sm_80", grid=lambda N: cdiv(N, 64), block=64)
def axpy(a: f32, x: Tile("N", f32), y: Tile("N", f32), out: Tile("N", f32, out=True), n: Size("N")):
    i = reg.u32(init=sreg.ctaid.x) * 64 + reg.u32(init=sreg.tid.x)
    with ptx.if_(i < n):
        value = ptx.fma.rn.f32.new(view(x, f32).load(i), a, view(y, f32).load(i))
        view(out, f32).store(i, value=value)
    ptx.ret()


@kernel(target="sm_80", grid=1, block=32)
def double(x: Tile("N", f32, inout=True)):
    i = reg.u32(init=sreg.tid.x)
    view(x, f32).store(i, value=view(x, f32).load(i) * 2.0)
    ptx.ret()


def test_a_result_is_jaxs():
    x, y = jnp.arange(100, dtype=jnp.float32), jnp.ones(100, dtype=jnp.float32)
    out = axpy(2.0, x, y)
    assert isinstance(out, jax.Array)
    np.testing.assert_array_equal(np.asarray(out), 2 * np.arange(100, dtype=np.float32) + 1)
    np.testing.assert_array_equal(np.asarray(x), np.arange(100))  # left as it was


def test_sizes_must_agree():
    with pytest.raises(LaunchError, match="N"):
        axpy(2.0, jnp.ones(4, dtype=jnp.float32), jnp.ones(5, dtype=jnp.float32))


def test_jaxs_arrays_do_not_change():
    with pytest.raises(LaunchError, match="JAX's arrays never are"):
        double(jnp.ones(32, dtype=jnp.float32))


def test_numpys_still_do():
    x = np.ones(32, dtype=np.float32)
    double(x)
    assert (x == 2).all()
