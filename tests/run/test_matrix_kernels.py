"""Kernels with matrix instructions and textures on the simulator, against numpy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.gpu.matrix_kernels import LAUNCHES, SOURCE, Launch, result_of

import ptxkit
from ptxkit.run import CpuModule, LaunchError, SimulationError, Surface, Texture


@lru_cache(maxsize=2)
def _loaded(arch: str) -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch=arch), device="cpu")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("launch", LAUNCHES, ids=[launch.name for launch in LAUNCHES])
def test_kernels_compute_what_numpy_does(launch: Launch, arch: str) -> None:
    arguments = launch.arguments()
    _loaded(arch)[launch.name][launch.grid, launch.block](*arguments)
    expected = launch.expected(*arguments)
    np.testing.assert_allclose(result_of(arguments), expected, 0, launch.tolerance)


def _kernel(body: str, parameters: str = ".param .u64 t, .param .u64 o", extra: str = "") -> str:
    return (
        f".version 8.0\n.target sm_80\n.address_size 64\n{extra}\n"
        f".visible .entry k({parameters}) {{\n"
        ".reg .b64 %t, %o; .reg .f32 %f<8>; .reg .b32 %r<8>; .reg .pred %p;\n"
        f"{body}\nret; }}\n"
    )


def test_references_are_bound_by_name() -> None:
    text = _kernel(
        "ld.param.u64 %o, [o]; mov.f32 %f5, 0f3FC00000;\n"
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5}]; st.global.f32 [%o], %f1;",
        ".param .u64 o",
        ".global .texref image;",
    )
    module = ptxkit.load(text, device="cpu")
    out = np.zeros(1, np.float32)
    with pytest.raises(SimulationError, match="no texture or surface"):
        module["k"][1, 1](out)
    module.bind("image", Texture(np.arange(4, dtype=np.float32) * 10))
    module["k"][1, 1](out)
    assert out[0] == 10
    with pytest.raises(ptxkit.UnknownNameError, match="there are: image"):
        module.bind("picture", Texture(np.zeros(1, np.float32)))


def test_questions_about_a_texture() -> None:
    text = _kernel(
        "ld.param.u64 %t, [t]; ld.param.u64 %o, [o];\n"
        "txq.width.b32 %r1, [%t]; txq.height.b32 %r2, [%t]; st.global.v2.b32 [%o], {%r1, %r2};"
    )
    out = np.zeros(2, np.uint32)
    ptxkit.load(text, device="cpu")["k"][1, 1](Texture(np.zeros((3, 5), np.uint8)), out)
    assert out.tolist() == [5, 3]


def test_bad_handles_are_told_from_good_ones() -> None:
    text = _kernel(
        "ld.param.u64 %t, [t]; mov.f32 %f5, 0f00000000;\n"
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f5}];"
    )
    kernel = ptxkit.load(text, device="cpu")["k"]
    with pytest.raises(SimulationError, match="no texture or surface"):
        kernel[1, 1](12345, np.zeros(1))
    with pytest.raises(SimulationError, match="2 dimensions, used with 1"):
        kernel[1, 1](Texture(np.zeros((2, 2), np.float32)), np.zeros(1))


def test_fetches_by_number_take_plain_memory() -> None:
    text = _kernel(
        "ld.param.u64 %t, [t]; ld.param.u64 %o, [o]; mov.u32 %r1, %tid.x;\n"
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%t, {%r1}];\n"
        "mad.wide.u32 %o, %r1, 4, %o; st.global.f32 [%o], %f1;"
    )
    kernel = ptxkit.load(text, device="cpu")["k"]
    values, out = np.arange(1, 4, dtype=np.float32), np.full(4, -1, np.float32)
    kernel[1, 4](Texture(values, memory=True), out)
    assert out.tolist() == [1, 2, 3, 0]
    with pytest.raises(SimulationError, match="memory=True"):
        kernel[1, 4](Texture(values), out)


def test_textures_are_not_written() -> None:
    text = _kernel("ld.param.u64 %t, [t]; mov.u32 %r1, 0; sust.b.1d.b32.trap [%t, {%r1}], {%r1};")
    kernel = ptxkit.load(text, device="cpu")["k"]
    with pytest.raises(SimulationError, match="read-only"):
        kernel[1, 1](Texture(np.ones(4, np.float32)), np.zeros(1))
    array = np.ones(4, np.float32)
    kernel[1, 1](Surface(array), np.zeros(1))
    assert array.tolist() == [0, 1, 1, 1]


def test_a_surface_traps_beyond_its_edge() -> None:
    text = _kernel("ld.param.u64 %t, [t]; mov.u32 %r1, 16; sust.b.1d.b32.trap [%t, {%r1}], {%r1};")
    with pytest.raises(SimulationError, match="outside the surface"):
        ptxkit.load(text, device="cpu")["k"][1, 1](Surface(np.ones(4, np.float32)), np.zeros(1))


def test_a_texture_is_no_number() -> None:
    text = _kernel("", ".param .u32 n")
    with pytest.raises(LaunchError, match="Texture cannot be passed"):
        ptxkit.load(text, device="cpu")["k"][1, 1](Texture(np.zeros(1, np.float32)))


def test_products_need_a_whole_warp() -> None:
    text = _kernel(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3},"
        " {%f1, %f2, %f3, %f4};"
    )
    kernel = ptxkit.load(text, device="cpu")["k"]
    kernel[1, 64](0, 0)
    with pytest.raises(SimulationError, match="all 32 lanes"):
        kernel[1, 48](0, 0)


def test_results_may_overwrite_operands() -> None:
    # d shares registers with a: both halves of the product must read a as it was.
    names = [f"%r{n}" for n in range(8)]
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) {\n.reg .b64 %p, %x; .reg .b32 %r<8>, %s<8>, %l;\n"
        "ld.param.u64 %p, [p]; mov.u32 %l, %laneid; mul.wide.u32 %x, %l, 32; add.u64 %p, %p, %x;\n"
        + "".join(f"mov.b32 %r{n}, 0x3C003C00; mov.b32 %s{n}, 0;\n" for n in range(8))
        + "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {"
        + ", ".join(names) + "}, {" + ", ".join(names) + "}, {" + ", ".join(names) + "}, {"
        + ", ".join(f"%s{n}" for n in range(8)) + "};\n"
        + "".join(f"st.global.b32 [%p+{4 * n}], {name};\n" for n, name in enumerate(names))
        + "ret; }\n"
    )  # fmt: skip
    out = np.zeros((32, 8), np.float32)
    ptxkit.load(text, device="cpu")["k"][1, 32](out)
    assert (out == 16).all()


def test_what_ptxas_makes_no_code_of_is_refused() -> None:
    text = _kernel(
        "mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32"
        " {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r1, %r2}, {%r3, %r4},"
        " {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};"
    )
    with pytest.raises(ptxkit.PtxkitError, match="makes no code of it"):
        _ = ptxkit.load(text, device="cpu")["k"]
