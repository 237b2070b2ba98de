// The smallest useful kernels: restrict pointers, grid-stride loops, vector loads.

__global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void saxpy_strided(float a, const float* x, float* y, size_t n)
{
    size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = fmaf(a, x[i], y[i]);
}

__global__ void saxpy_float4(float a, const float4* __restrict__ x, float4* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 u = __ldg(x + i), v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}

extern "C" __global__ void axpy_double2(double a, const double2* x, double2* y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double2 u = x[i];
    y[i] = make_double2(a * u.x + y[i].x, a * u.y + y[i].y);
}
