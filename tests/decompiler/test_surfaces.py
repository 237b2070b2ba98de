"""Vectors in surfaces: the functions of CUDA C++, and no assembly."""

import ptxkit

BLEND = """
extern "C" __global__ void blend(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
    if (x >= width) return;
    uchar4 a = surf2Dread<uchar4>(from, x * 4, y);
    uchar4 b = surf2Dread<uchar4>(from, x * 4, y + 1, cudaBoundaryModeClamp);
    surf2Dwrite(make_uchar4((a.x + b.x) / 2, a.y, 7, b.w), to, x * 4, y);
}
"""
SHAPES = """
extern "C" __global__ void shapes(cudaSurfaceObject_t one, cudaSurfaceObject_t other, int layer) {
    int x = threadIdx.x, y = threadIdx.y;
    surf3Dwrite(surf2Dread<uint4>(one, x * 16, y), other, x * 16, y, 2);
    surf1Dwrite(surf1Dread<ushort2>(one, x * 4), other, x * 4, cudaBoundaryModeZero);
    float2 pair = surf2Dread<float2>(one, x * 8, y);
    surf2DLayeredwrite(make_float2(pair.y * 2.0f, pair.x + 1.0f), other, x * 8, y, layer);
}
"""


def test_bytes_of_a_pixel_are_a_vector() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(BLEND, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
    assert "surf2Dread<uchar4>(" in found.cuda
    assert "cudaBoundaryModeClamp)" in found.cuda
    assert "asm" not in found.cuda
    assert "& 255" not in found.cuda  # bytes need no mask
    assert "% 256" not in found.cuda


def test_vectors_of_other_parts_and_surfaces_of_other_shapes() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(SHAPES, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
    for text in ("surf3Dwrite(surf2Dread<uint4>(", "surf1Dwrite(surf1Dread<ushort2>(",
                 "surf2DLayeredwrite(make_float2("):  # fmt: skip
        assert text in found.cuda
