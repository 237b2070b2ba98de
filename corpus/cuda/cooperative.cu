// Cooperative groups: tiles, coalesced, grid, reduce, scan, memcpy_async, labeled partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* out)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(warp);
    int v = in[block.thread_rank()];
    int sum = cg::reduce(warp, v, cg::plus<int>());
    int top = cg::reduce(four, v, cg::greater<int>());
    int bits = cg::reduce(warp, v, cg::bit_xor<int>());
    float f = cg::reduce(four, float(v), cg::less<float>());
    int before = cg::exclusive_scan(warp, v);
    int upto = cg::inclusive_scan(four, v, cg::plus<int>());
    v += warp.shfl_down(v, 3) + four.shfl_xor(v, 1) + warp.ballot(v > 0) + warp.any(v) + four.all(v);
    block.sync();
    out[block.thread_rank()] = sum + top + bits + int(f) + before + upto + v + block.group_index().y;
}

__global__ void branches(int* out, int n)
{
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int start = 0;
        if (active.thread_rank() == 0) start = atomicAdd(out, active.size());
        start = active.shfl(start, 0);
        out[1 + start + active.thread_rank()] = n;
        auto same = cg::labeled_partition(active, n & 3);
        out[0] += cg::reduce(same, n, cg::plus<int>());
    }
}

__global__ void whole_grid(float* x, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < n; ++step) {
        for (auto i = grid.thread_rank(); i < n; i += grid.size()) x[i] = 0.5f * (x[i] + x[i ^ 1]);
        grid.sync();
    }
}

__global__ void staged(const float4* in, float4* out)
{
    extern __shared__ float4 tile[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in + blockIdx.x * blockDim.x, sizeof(float4) * blockDim.x);
    cg::wait(block);
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
