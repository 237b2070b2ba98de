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


PIXEL = """
extern "C" __global__ void shade(unsigned char *image, size_t pitch, int width, int height,
                                 float t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float *pixel = (float *)(image + y * pitch) + 4 * x;
    float value = 0.5f + 0.5f * __cosf(t + 2.0f * x / width);
    if (value > 0.75f) value *= t;
    pixel[0] = value;
    pixel[1] = pixel[1] * value;
    pixel[3] = 1.0f;
}
"""
STRIDE = """
extern "C" __global__ void halve(float *x, unsigned count) {
    const size_t stride = gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) x[i] *= 0.5f;
}
"""


def test_a_place_in_a_row_is_computed_behind_the_question_for_bounds() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(PIXEL, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda


def test_a_stride_of_64_bits_has_a_name() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(STRIDE, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
