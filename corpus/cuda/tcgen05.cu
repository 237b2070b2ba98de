//! archs: sm_100a sm_103a
// Blackwell's tensor memory through cuda::ptx: alloc, mma, copies, loads, stores, commit.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
using cuda::std::uint32_t;
using cuda::std::uint64_t;

__global__ void __launch_bounds__(128) tile(uint64_t a, uint64_t b, uint32_t kind, float* out, int steps)
{
    __shared__ uint32_t base;
    __shared__ uint64_t bar;
    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &base, 128u);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x == 0) {
        ptx::tcgen05_cp_128x256b(ptx::cta_group_1, base + 64, a);
        ptx::tcgen05_cp_32x128b_warpx4(ptx::cta_group_1, base + 96, b);
        for (int k = 0; k < steps; ++k) ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, base, a + k, b + k, kind, k != 0, ptx::n32_t<4>());
        ptx::tcgen05_mma(ptx::kind_tf32, ptx::cta_group_1, base, a, b, kind, true, ptx::n32_t<0>());
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], [%1], %2, %3, p; }" ::"r"(base), "r"(base + 64), "l"(b), "r"(kind) : "memory");
        ptx::tcgen05_commit(ptx::cta_group_1, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    uint32_t d[32], e[4];
    ptx::tcgen05_ld_32x32b(d, base);
    ptx::tcgen05_ld_16x256b(e, base + 32);
    ptx::tcgen05_wait_ld();
    for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = __uint_as_float(d[i]) + e[i & 3];
    ptx::tcgen05_st_32x32b(base, d);
    ptx::tcgen05_st_16x64b(base + 16, e);
    ptx::tcgen05_wait_st();
    __syncthreads();
    if (threadIdx.x < 32) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 128u);
}

__global__ void __cluster_dims__(2) pair(uint32_t taddr, uint64_t a, uint64_t b, uint32_t kind, uint64_t* bar)
{
    uint32_t mask[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_2, taddr, a, b, kind, mask, true, ptx::n32_t<1>());
    ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_2, taddr, a, b, kind, taddr + 64, taddr + 80, true);
    ptx::tcgen05_shift_down(ptx::cta_group_2, taddr);
    ptx::tcgen05_commit_multicast(ptx::cta_group_2, bar, cuda::std::uint16_t(3));
}
