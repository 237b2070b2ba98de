"""Rows of elements whose pitch is a number of bytes."""

import ptxkit

PITCHED = """
extern "C" __global__ void push(float2 *field, size_t pitch, int top, int left, float force) {
    float2 *cell = (float2 *)((char *)field + (threadIdx.y + top) * pitch) + threadIdx.x + left;
    float2 now = *cell;
    now.x += force;
    now.y -= force;
    *cell = now;
}
"""
READ = """
extern "C" __global__ void read(const int *image, size_t pitch, int *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const int *row = (const int *)((const char *)image + y * pitch);
    if (x + 1 < width) out[y * width + x] = row[x] + row[x + 1];
}
"""


def test_a_row_starts_at_bytes_and_holds_elements() -> None:
    for source, text in ((PITCHED, "(float2 *)((char *)"), (READ, "(int *)((char *)")):
        found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
        assert found.verdict.level == "E1", found.cuda
        assert text in found.cuda
