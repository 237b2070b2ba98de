//! archs: sm_90a
// Hopper's warpgroup matrix multiply, by inline asm.

__device__ unsigned long long descriptor(const void* p)
{
    unsigned long long a = __cvta_generic_to_shared(p);
    return ((a & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

__global__ void __launch_bounds__(128) half_tile(const uint4* in, float* out, int steps)
{
    extern __shared__ __align__(1024) uint4 tile[];
    float d[8] = {};
    tile[threadIdx.x] = in[threadIdx.x];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < steps; ++k)
        asm volatile(
            "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\t"
            "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, -1, 0, 1;\n\t}"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
            : "l"(descriptor(tile + k)), "l"(descriptor(tile + 64 + k)), "r"(k));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = d[i];
}

__global__ void other_types(const unsigned* a, int* out, float* f)
{
    __shared__ __align__(1024) unsigned tile[2048];
    int d[4] = {1, 2, 3, 4};
    float e[4] = {};
    unsigned long long b = descriptor(tile);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%0, %1, %2, %3}, %4, %5, 1;"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(b), "l"(b + 4));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1;"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]) : "l"(b), "l"(b + 8), "r"(a[4]));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
    f[threadIdx.x] = e[0] + e[1] + e[2] + e[3];
}
