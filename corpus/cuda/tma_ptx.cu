//! since: sm_90
// Tensor memory accelerator through cuda::ptx: tiles of 1 to 5 dimensions, multicast, reductions.
#include <cuda/ptx>
#include <cuda.h>
namespace ptx = cuda::ptx;
using cuda::std::int32_t;
using cuda::std::uint64_t;

__device__ void wait(uint64_t* bar, unsigned parity)
{
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {}
}

__global__ void double_tile(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int x, int y)
{
    __shared__ alignas(128) float tile[64][32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (threadIdx.x < 32 && ptx::elect_sync(~0u)) {
        const int32_t where[2] = {x, y};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, where, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
    }
    wait(&bar, 0);
    for (int row = 0; row < 64; ++row) tile[row][threadIdx.x % 32] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int32_t where[2] = {x, y};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, where, tile);
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, where, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

__global__ void __cluster_dims__(2) many_ranks(const __grid_constant__ CUtensorMap map, int* out)
{
    extern __shared__ __align__(128) char buffer[];
    __shared__ uint64_t bar, token;
    ptx::mbarrier_init(&bar, blockDim.x);
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    const int32_t one[1] = {1}, three[3] = {1, 2, 3}, four[4] = {1, 2, 3, 4}, five[5] = {1, 2, 3, 4, 5};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, buffer, &map, one, &bar);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, buffer, &map, three, &bar);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, buffer, &map, four, &bar);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, buffer, &map, five, &bar);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, buffer + 512, buffer, 256, &bar);
    token = ptx::mbarrier_arrive(&bar);
    while (!ptx::mbarrier_test_wait(&bar, token)) {}
    int value = 7;
    ptx::st_async(out, value, &bar);
    ptx::red_async(ptx::op_add, reinterpret_cast<unsigned*>(buffer), 3u, &bar);
    out[0] = ptx::get_sreg_cluster_ctarank() + ptx::get_sreg_laneid();
}
