//! archs: sm_100f sm_103a sm_110a
// Tensor memory where only the family features exist: alloc, copy, load, store, plain mma by asm.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
using cuda::std::uint32_t;

__global__ void round_trip(const uint32_t* in, uint32_t* out, unsigned long long a, unsigned long long b, uint32_t kind)
{
    __shared__ uint32_t base;
    __shared__ cuda::std::uint64_t bar;
    if (threadIdx.x < 32) ptx::tcgen05_alloc(ptx::cta_group_1, &base, 64u);
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    uint32_t x[16], y[64];
    for (int i = 0; i < 16; ++i) x[i] = in[threadIdx.x * 16 + i];
    ptx::tcgen05_st_32x32b(base, x);
    ptx::tcgen05_st_16x128b(base + 8, x);
    ptx::tcgen05_wait_st();
    if (threadIdx.x == 0) {
        ptx::tcgen05_cp_64x128b_warpx2_02_13(ptx::cta_group_1, base, a);
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(base), "l"(a), "l"(b), "r"(kind) : "memory");
        ptx::tcgen05_commit(ptx::cta_group_1, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    ptx::tcgen05_ld_32x32b(y, base);
    ptx::tcgen05_ld_16x64b_pack_16b(x, base);
    ptx::tcgen05_wait_ld();
    for (int i = 0; i < 64; ++i) out[threadIdx.x * 64 + i] = y[i] + x[i & 15];
    __syncthreads();
    if (threadIdx.x < 32) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 64u);
}
