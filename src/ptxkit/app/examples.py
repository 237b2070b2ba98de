"""What the page opens on, and what else it offers."""

from __future__ import annotations

SAXPY = """\
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""

BLOCK_SUM = """\
// The sum of each block's elements, in shared memory.
extern "C" __global__ void block_sum(const float *x, float *sums, int n) {
    __shared__ float part[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
"""

MATRIX = """\
// A product of square matrices, one element a thread.
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""

PTX_SCALE = """\
.version 8.0
.target sm_80
.address_size 64

// x[i] = x[i] * factor, for the elements below n
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;

    ld.param.u64 %rd1, [x];
    ld.param.f32 %f1, [factor];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra $done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
$done:
    ret;
}
"""

PTX_WRONG = PTX_SCALE.replace("mul.f32 %f3, %f2, %f1;", "mul.f32 %f3, %f2, %rd1;").replace(
    "setp.ge.u32", "setp.gee.u32"
)

OUT_OF_BOUNDS = SAXPY.replace("x[i] + y", "x[i + 1] + y").replace("saxpy", "past_the_end")

#: Name -> text, in the order of the list; the first one is what the page opens on.
EXAMPLES = {
    "saxpy (CUDA C++)": SAXPY,
    "block sum (CUDA C++)": BLOCK_SUM,
    "matrix product (CUDA C++)": MATRIX,
    "scale (PTX)": PTX_SCALE,
    "with two errors (PTX)": PTX_WRONG,
    "with a fault (CUDA C++)": OUT_OF_BOUNDS,
}

INJECT = """\
extern "C" __global__ void combine(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float z;
    /* PTX_INJECT func
        in  f32 x = a[i]
        in  f32 y = b[i]
        out f32 z
    */
    c[i] = z;
}
"""

PROGRAM = "x x mul.rn.f32 y y mul.rn.f32 add.rn.f32 sqrt.rn.f32"
INPUTS, OUTPUTS = "x:f32 y:f32", "z:f32"
