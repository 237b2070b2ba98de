//! archs: sm_100 sm_100a sm_100f sm_103 sm_103a sm_110 sm_110a sm_120 sm_120a sm_121
// New with sm_100: packed f32x2, 256-bit loads, three-input min, cluster launch control, bulk stores.
#include <cuda/ptx>
namespace ptx = cuda::ptx;

__global__ void packed(const float2* x, float2* y, const float4* wide)
{
    int i = threadIdx.x;
    float2 a = x[i], b = x[i + 1];
    y[i] = __ffma2_rn(a, b, __fadd2_rn(a, __fmul2_rn(b, b)));
    float v[8];
    asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7]) : "l"(wide + i * 2));
    float three;
    asm("min.f32 %0, %1, %2, %3;" : "=f"(three) : "f"(v[0]), "f"(v[1]), "f"(v[2]));
    unsigned long long q[4] = {1, 2, 3, 4};
    asm volatile("st.global.L2::evict_first.v4.b64 [%0], {%1,%2,%3,%4};" ::"l"(y + 64), "l"(q[0]), "l"(q[1]), "l"(q[2]), "l"(q[3]) : "memory");
    y[i + 32] = make_float2(three, v[3] + v[7]);
}

__global__ void steal_work(int* out, int n)
{
    __shared__ uint4 answer;
    __shared__ cuda::std::uint64_t bar;
    __shared__ char scratch[1024];
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    ptx::st_bulk(scratch, cuda::std::uint64_t(1024));
    __syncthreads();
    int block = blockIdx.x;
    for (unsigned phase = 0; block < n; phase ^= 1) {
        if (threadIdx.x == 0) {
            ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, sizeof answer);
        }
        out[block * blockDim.x + threadIdx.x] = block;
        while (!ptx::mbarrier_try_wait_parity(&bar, phase)) {}
        if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(answer)) break;
        block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(answer);
        __syncthreads();
    }
}
