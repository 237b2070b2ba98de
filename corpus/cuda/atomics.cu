// Every atomic intrinsic, in device, block and system scope, on global and shared memory.

__global__ void all_integer(int* i, unsigned* u, unsigned long long* l, long long* s)
{
    __shared__ int cell;
    int v = threadIdx.x;
    if (v == 0) cell = 0;
    __syncthreads();
    atomicAdd(&cell, v);
    atomicMax(&cell, v);
    atomicCAS(&cell, v, v + 1);
    i[1] = atomicAdd(i, v) + atomicSub(i, v) + atomicExch(i, v) + atomicMin(i, v) + atomicMax(i, v);
    i[2] = atomicAnd(i, v) | atomicOr(i, v) ^ atomicXor(i, v);
    u[1] = atomicInc(u, 77u) + atomicDec(u, 99u) + atomicCAS(u, 1u, 2u);
    l[1] = atomicAdd(l, 5ull) + atomicExch(l, 6ull) + atomicCAS(l, 7ull, 8ull) + atomicMin(l, 9ull);
    l[2] = atomicAnd(l, 1ull) + atomicOr(l, 2ull) + atomicXor(l, 3ull) + atomicMax(s, 4ll);
    unsigned short* h = reinterpret_cast<unsigned short*>(u + 8);
    h[1] = atomicCAS(h, (unsigned short)1, (unsigned short)2);
    i[3] = cell;
}

__global__ void scopes(int* i, float* f, double* d, unsigned long long* l)
{
    atomicAdd_block(i, 1);
    atomicAdd_system(i, 2);
    atomicMin_block(i, 3);
    atomicXor_system(i, 4);
    atomicCAS_block(l, 5ull, 6ull);
    atomicExch_system(l, 7ull);
    atomicAdd(f, 1.5f);
    atomicAdd(d, 2.5);
    f[1] = atomicAdd_block(f, 0.5f) + atomicExch(f, 1.0f);
    d[1] = atomicAdd_system(d, 0.5);
}

__device__ double atomic_multiply(double* address, double by)
{
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(__longlong_as_double(seen) * by));
    } while (seen != old);
    return __longlong_as_double(old);
}
__global__ void product(const double* x, double* out) { atomic_multiply(out, x[threadIdx.x]); }

#if __CUDA_ARCH__ >= 900
__global__ void vectors(float2* f2, float4* f4)
{
    float2 a = atomicAdd(f2, make_float2(1, 2));
    float4 b = atomicAdd(f4, make_float4(1, 2, 3, 4));
    f4[1] = make_float4(a.x, a.y, b.x, b.w);
}
#endif
