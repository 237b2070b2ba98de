// Warp intrinsics: shuffles of every type, votes, matches, reductions, masks.

__global__ void shuffles(int* i, float* f, double* d, long long* l, unsigned mask)
{
    int t = threadIdx.x;
    i[t] = __shfl_sync(0xffffffff, i[t], 5) + __shfl_up_sync(mask, i[t], 1, 16) + __shfl_down_sync(mask, i[t], t & 3);
    f[t] = __shfl_xor_sync(0xffffffff, f[t], 8) + __shfl_sync(mask, f[t], t, 8);
    d[t] = __shfl_down_sync(0xffffffff, d[t], 16);
    l[t] = __shfl_xor_sync(mask, l[t], 1, 4);
}

__global__ void votes(const int* x, unsigned* out)
{
    int v = x[threadIdx.x];
    unsigned active = __activemask();
    unsigned r = __ballot_sync(0xffffffff, v & 1);
    r += __all_sync(active, v > 0) + __any_sync(active, v < 0) * 2;
    r ^= __match_any_sync(0xffffffff, v);
    int same;
    r ^= __match_all_sync(0xffffffff, (long long)v << 20, &same);
    out[threadIdx.x] = r + same + __popc(r) + __ffs(r) + __fns(r, 0, 3);
}

__inline__ __device__ float warp_sum(float v)
{
    for (int offset = 16; offset; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

__global__ void row_norm(const float* x, float* out, int n)
{
    __shared__ float partial[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i] * x[blockIdx.x * n + i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) out[blockIdx.x] = rsqrtf(sum);
}

#if __CUDA_ARCH__ >= 800
__global__ void hardware(const int* x, int* out)
{
    int v = x[threadIdx.x];
    unsigned all = 0xffffffff;
    out[threadIdx.x] = __reduce_add_sync(all, v) + __reduce_min_sync(all, v) + __reduce_max_sync(all, unsigned(v))
                     + __reduce_and_sync(all, v) + __reduce_or_sync(all, v) + __reduce_xor_sync(all, v);
}
#endif
