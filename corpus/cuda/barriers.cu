// Barriers: named bar.sync, cuda::barrier, latch, semaphore, fences, mbarrier by hand.
//
// mbarrier instructions exist from sm_80; libcu++ falls back to atomics below.
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

__global__ void named(int* x)
{
    int t = threadIdx.x;
    if (t < 64) {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        x[t]++;
    } else {
        x[t]--;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
    int all, count;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; barrier.sync.aligned 2; barrier.red.and.pred q, 3, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(all) : "r"(x[t]));
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; bar.red.popc.u32 %0, 4, 32, p; }" : "=r"(count) : "r"(x[t]));
    __syncwarp();
    __syncwarp(0xff);
    x[t] = all + count;
}

__global__ void fences(volatile int* flag, int* data)
{
    data[0] = 1;
    __threadfence_block();
    data[1] = 2;
    __threadfence();
    data[2] = 3;
    __threadfence_system();
    *flag = 1;
    asm volatile("fence.acq_rel.gpu;\n\tfence.sc.cta;\n\tmembar.sys;" ::: "memory");
    asm volatile("fence.proxy.alias;" ::: "memory");
}

__global__ void objects(int* x, cuda::latch<cuda::thread_scope_device>* latch, cuda::counting_semaphore<cuda::thread_scope_device, 8>* s)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    auto token = bar.arrive();
    x[threadIdx.x] *= 3;
    bar.wait(static_cast<decltype(token)&&>(token));
    bar.arrive_and_wait();
    bar.arrive_and_drop();
    latch->arrive_and_wait();
    s->acquire();
    x[0] += x[1];
    s->release();
}
