//! since: sm_90
// Programmatic dependent launch, and multimem on multicast objects.
#include <cuda/ptx>
namespace ptx = cuda::ptx;

__global__ void primary(const float* in, float* out)
{
    out[threadIdx.x] = in[threadIdx.x] * 2;
    cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void secondary(const float* in, float* out)
{
    float scale = out[64];
    cudaGridDependencySynchronize();
    out[threadIdx.x] = in[threadIdx.x] * scale;
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}

__global__ void multicast(unsigned* many, float* f)
{
    unsigned sum = ptx::multimem_ld_reduce(ptx::sem_relaxed, ptx::scope_sys, ptx::op_add, many + threadIdx.x);
    ptx::multimem_st(ptx::sem_release, ptx::scope_gpu, many + threadIdx.x, sum);
    ptx::multimem_red(ptx::sem_relaxed, ptx::scope_cluster, ptx::op_max, many, sum);
    float a, b, c, d;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(f));
    asm volatile("multimem.st.weak.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(f + 4), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
