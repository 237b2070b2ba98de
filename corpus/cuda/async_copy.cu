//! since: sm_80
// cp.async by inline asm, by the pipeline intrinsics and by cuda::pipeline.
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>

__global__ void by_asm(const float* in, float* out, int bytes)
{
    __shared__ __align__(16) float tile[3][256];
    unsigned to = unsigned(__cvta_generic_to_shared(&tile[0][threadIdx.x * 4]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(in + 4));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(in + 8), "r"(bytes));
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;\n\tcp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = tile[1][255 - threadIdx.x];
}

__global__ void by_intrinsics(const int4* in, int4* out, int n)
{
    extern __shared__ int4 buffer[];
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(buffer + i * blockDim.x + threadIdx.x, in + i * blockDim.x + threadIdx.x, 16, i);
        __pipeline_commit();
    }
    for (int i = 2; i < n; ++i) {
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * blockDim.x] = buffer[((i & 1) + 1) * blockDim.x - threadIdx.x - 1];
        __syncthreads();
        __pipeline_memcpy_async(buffer + (i & 1) * blockDim.x + threadIdx.x, in + i * blockDim.x + threadIdx.x, 16);
        __pipeline_commit();
    }
}

__global__ void by_pipeline(const float* in, float* out, int batches)
{
    namespace cg = cooperative_groups;
    constexpr int stages = 3;
    extern __shared__ float stage[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int size = block.size(), fetched = 0;
    for (int done = 0; done < batches; ++done) {
        for (; fetched < batches && fetched < done + stages; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage + (fetched % stages) * size, in + fetched * size, sizeof(float) * size, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[done * size + threadIdx.x] = 2 * stage[(done % stages) * size + threadIdx.x];
        pipe.consumer_release();
    }
}
