"""Words that newer compilers put vectors of bytes together in are vectors again."""

import pytest

import ptxkit

GRAY = """extern "C" __global__ void gray(const uchar4 *x, uchar4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = x[i];
    unsigned char g = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
    out[i] = make_uchar4(g, g, g, p.w);
}"""

HALVES = """extern "C" __global__ void halves(const unsigned *x, ushort2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = make_ushort2(x[i] + 1, x[i] * 3);
}"""

SHADES = """extern "C" __global__ void shades(const int *x, uchar4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char c = x[i] == n ? 0 : 255 * x[i] / n;
    out[i] = make_uchar4(c, c / 2, 255 - c, 255);
}"""

SWAPPED = """extern "C" __global__ void swapped(const unsigned *x, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __byte_perm(x[i], 0, 0x0123);
}"""

MIXED = """extern "C" __global__ void mixed(const uchar4 *x, const int *c, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 p = x[i];
    if (i < n) out[i] = c[0] + p.x * 3 + p.y * 200 + p.z * 17 + p.w * 90;
}"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
@pytest.mark.parametrize(
    ("source", "text"),
    [
        (GRAY, "make_uchar4("),
        (HALVES, "= make_ushort2("),
        (SHADES, "make_uchar4("),
        (MIXED, ".z * 17"),
    ],
)
def test_parts_of_vectors(arch: str, source: str, text: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch=arch), "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    assert text in found.cuda
    assert "__byte_perm" not in found.cuda and "__dp4a" not in found.cuda


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_other_orders_of_bytes_stay(arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(SWAPPED, arch=arch), "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    assert "uchar4" not in found.cuda
