//! flags: -std=c++17
// CUB's block and warp primitives.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

template <typename T, int Threads, int Items>
__global__ void reduce_scan(const T* in, T* out, T* total)
{
    using Load = cub::BlockLoad<T, Threads, Items, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<T, Threads, Items, cub::BLOCK_STORE_VECTORIZE>;
    using Reduce = cub::BlockReduce<T, Threads>;
    using Scan = cub::BlockScan<T, Threads>;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Reduce::TempStorage reduce; typename Scan::TempStorage scan; } temp;
    T items[Items];
    Load(temp.load).Load(in + blockIdx.x * Threads * Items, items);
    __syncthreads();
    T sum = Reduce(temp.reduce).Sum(items);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(items, items);
    __syncthreads();
    Store(temp.store).Store(out + blockIdx.x * Threads * Items, items);
    if (threadIdx.x == 0) total[blockIdx.x] = sum;
}
template __global__ void reduce_scan<int, 128, 4>(const int*, int*, int*);
template __global__ void reduce_scan<double, 64, 2>(const double*, double*, double*);

__global__ void warps(const float* in, float* out, unsigned* bins)
{
    __shared__ cub::WarpReduce<float>::TempStorage reduce[4];
    __shared__ cub::WarpScan<float>::TempStorage scan[4];
    using Histogram = cub::BlockHistogram<unsigned char, 128, 2, 64>;
    __shared__ Histogram::TempStorage histogram;
    int w = threadIdx.x / 32;
    float v = in[threadIdx.x], s;
    float sum = cub::WarpReduce<float>(reduce[w]).Sum(v);
    cub::WarpScan<float>(scan[w]).InclusiveSum(v, s);
    unsigned char samples[2] = {(unsigned char)(int(v) & 63), (unsigned char)(int(s) & 63)};
    __shared__ unsigned counts[64];
    Histogram(histogram).Histogram(samples, counts);
    __syncthreads();
    if (threadIdx.x < 64) bins[threadIdx.x] = counts[threadIdx.x];
    out[threadIdx.x] = sum + s;
}
