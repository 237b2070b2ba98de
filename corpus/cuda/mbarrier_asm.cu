//! since: sm_90
// mbarrier by inline asm: init, expect_tx, try_wait loops with labels, bulk copies, elect.

__device__ unsigned address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ void wait(unsigned bar, unsigned phase)
{
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again_%=:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@done bra.uni out_%=;\n\t"
        "bra again_%=;\n"
        "out_%=:\n\t}" ::"r"(bar), "r"(phase) : "memory");
}

__global__ void load_and_store(const float* in, float* out, int bytes)
{
    __shared__ __align__(128) float buffer[1024];
    __shared__ __align__(8) unsigned long long bar[2];
    unsigned b = address(&bar[0]);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned leader;
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader));
        if (leader) {
            unsigned long long state;
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(b), "r"(bytes));
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(address(buffer)), "l"(in), "r"(bytes), "r"(b) : "memory");
        }
    }
    wait(b, 0);
    buffer[threadIdx.x] *= 2;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(address(buffer)), "r"(bytes) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(out), "r"(address(buffer)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b));
    }
}
