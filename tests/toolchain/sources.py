"""Sources that several tests compile or assemble."""

SAXPY = """\
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""

PTX = """\
.version 8.0
.target sm_80
.address_size 64

.visible .entry first(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[128];

    ld.param.u64 %rd1, [p];
    mov.u32 %r1, tile;
    st.global.u32 [%rd1], %r1;
    bar.sync 0;
    ret;
}

.visible .entry second() { ret; }
"""

# Spills, a stack, called functions, static and dynamic shared memory, barriers.
HUNGRY = """\
__constant__ float table[64];
__device__ __noinline__ float helper(float x, float *p)
{
    float local[32];
    for (int i = 0; i < 32; i++) local[i] = p[i] * x;
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += local[(int)p[i] & 31];
    return sum;
}
extern "C" __global__ void __launch_bounds__(1024, 1) hungry(float *p, const float *q)
{
    extern __shared__ float dynamic[];
    __shared__ float tile[100];
    float a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = p[i * 32 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < 64; i++) s = fmaf(a[i], q[i * 64 + j], s) * table[i & 7];
        a[j] = s + a[(j * 7) & 63];
    }
    tile[threadIdx.x % 100] = a[3];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; i++) p[i * 32 + threadIdx.x] = a[i] + tile[i] + dynamic[i];
    p[0] += helper(p[1], p);
}
extern "C" __global__ void modest(float *x)
{
    x[threadIdx.x] = 1;
    asm volatile("bar.sync 5;");
}
"""
