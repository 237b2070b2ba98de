//! since: sm_90
// Thread block clusters: distributed shared memory, cluster barriers, sizes fixed and free.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 2, 1) histogram(const int* in, int* bins, int n)
{
    __shared__ int mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = in[i] & 511;
        int* where = cluster.map_shared_rank(mine, bin / 64);
        atomicAdd(where + bin % 64, 1);
    }
    cluster.sync();
    if (threadIdx.x < 64) atomicAdd(bins + cluster.block_rank() * 64 + threadIdx.x, mine[threadIdx.x]);
}

__global__ void __launch_bounds__(256, 2, 8) ring(float* out, int steps)
{
    extern __shared__ float line[];
    cg::cluster_group cluster = cg::this_cluster();
    line[threadIdx.x] = threadIdx.x;
    auto token = cluster.barrier_arrive();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    const float* other = cluster.map_shared_rank(line, next);
    float sum = 0;
    for (int i = 0; i < steps; ++i) sum += other[(threadIdx.x + i) % blockDim.x];
    out[cluster.thread_rank()] = sum + cluster.query_shared_rank(other) + cluster.dim_blocks().x;
    cluster.sync();
}

__global__ void raw(unsigned* out)
{
    __shared__ unsigned cell;
    unsigned far, own = unsigned(__cvta_generic_to_shared(&cell)), rank, value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(own), "r"(1));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(far));
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(rank) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(far));
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "+r"(value) : "r"(far));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(out[1]));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(out[2]));
    out[0] = value;
}
