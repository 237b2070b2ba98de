//! flags: -std=c++17
// CUB's block radix sort, merge sort, exchange and run-length discontinuities.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>

__global__ void __launch_bounds__(128) radix(const unsigned* keys, const int* values, unsigned* out, int* flags)
{
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    using Heads = cub::BlockDiscontinuity<unsigned, 128>;
    __shared__ union { Sort::TempStorage sort; Heads::TempStorage heads; } temp;
    unsigned k[4];
    int v[4], head[4];
    for (int i = 0; i < 4; ++i) {
        k[i] = keys[threadIdx.x * 4 + i];
        v[i] = values[threadIdx.x * 4 + i];
    }
    Sort(temp.sort).Sort(k, v, 0, 16);
    __syncthreads();
    Heads(temp.heads).FlagHeads(head, k, [](unsigned a, unsigned b) { return a != b; });
    for (int i = 0; i < 4; ++i) {
        out[threadIdx.x * 4 + i] = k[i] + v[i];
        flags[threadIdx.x * 4 + i] = head[i];
    }
}

struct Descending { __device__ bool operator()(double a, double b) const { return a > b; } };

__global__ void merge(double* data)
{
    using Sort = cub::BlockMergeSort<double, 64, 3>;
    using Exchange = cub::BlockExchange<double, 64, 3>;
    __shared__ union { Sort::TempStorage sort; Exchange::TempStorage exchange; } temp;
    double items[3];
    for (int i = 0; i < 3; ++i) items[i] = data[i * 64 + threadIdx.x];
    Exchange(temp.exchange).StripedToBlocked(items, items);
    __syncthreads();
    Sort(temp.sort).Sort(items, Descending());
    for (int i = 0; i < 3; ++i) data[threadIdx.x * 3 + i] = items[i];
}
