//! archs: sm_90a sm_100a sm_103a sm_110a
// What only the accelerated targets have: multicast, register donation, tensor map edits, stmatrix.
#include <cuda/ptx>
#include <cuda.h>
namespace ptx = cuda::ptx;

__global__ void __cluster_dims__(4) producer_consumer(const __grid_constant__ CUtensorMap map, float* out, int steps)
{
    extern __shared__ __align__(1024) float ring[];
    __shared__ cuda::std::uint64_t full[4], empty[4];
    if (threadIdx.x < 4) {
        ptx::mbarrier_init(&full[threadIdx.x], 1);
        ptx::mbarrier_init(&empty[threadIdx.x], 128);
    }
    __syncthreads();
    if (threadIdx.x / 128 == 0) {
        ptx::setmaxnreg_dec(ptx::n32_t<40>());
        for (int i = 0; i < steps; ++i) {
            int slot = i % 4, where[2] = {i * 64, int(blockIdx.y)};
            while (!ptx::mbarrier_try_wait_parity(&empty[slot], (i / 4) & 1, 1000u)) {}
            if (threadIdx.x == 0) {
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[slot], 4096);
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring + slot * 1024, &map, where, &full[slot], cuda::std::uint16_t(0xf));
            }
        }
    } else {
        ptx::setmaxnreg_inc(ptx::n32_t<232>());
        float sum = 0;
        for (int i = 0; i < steps; ++i) {
            int slot = i % 4;
            while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[slot], (i / 4) & 1)) {}
            sum += ring[slot * 1024 + threadIdx.x];
            ptx::mbarrier_arrive(&empty[slot]);
        }
        out[threadIdx.x] = sum;
    }
}

__global__ void edit_map(CUtensorMap* map, const float* base)
{
    __shared__ __align__(128) CUtensorMap mine;
    if (threadIdx.x == 0) {
        mine = *map;
        ptx::tensormap_replace_global_address(ptx::space_shared, &mine, reinterpret_cast<cuda::std::uint64_t>(base));
        ptx::tensormap_replace_rank(ptx::space_shared, &mine, 1);
        ptx::tensormap_replace_global_dim(ptx::space_shared, &mine, ptx::n32_t<0>(), 256);
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, map, &mine, ptx::n32_t<128>());
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>());
    __shared__ short tile[64];
    const cuda::std::uint32_t two[2] = {threadIdx.x, 5};
    ptx::stmatrix_m8n8(tile + threadIdx.x, two);
}
