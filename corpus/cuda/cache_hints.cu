//! since: sm_80
// Cache policy in all its spellings: load and store intrinsics, L2 policies, access properties, discard.
#include <cuda/annotated_ptr>
#include <cuda/discard_memory>

__global__ void intrinsics(const float4* in, float4* out, const double2* d, const char4* c)
{
    int i = threadIdx.x;
    float4 v = __ldca(in + i), w = __ldcg(in + i + 32), x = __ldcs(in + i + 64), y = __ldlu(in + i + 96), z = __ldcv(in + i + 128);
    double2 e = __ldg(d + i);
    char4 b = __ldg(c + i);
    __stwb(out + i, make_float4(v.x + w.x, x.y + y.y, z.z + e.x, b.w));
    __stcg(out + i + 32, v);
    __stcs(out + i + 64, w);
    __stwt(out + i + 96, x);
}

__global__ void policies(const float* in, float* out)
{
    unsigned long long policy, ranged;
    float v, w;
    asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("createpolicy.range.global.L2::evict_first.L2::evict_unchanged.b64 %0, [%1], 0x100000, 0x200000;" : "=l"(ranged) : "l"(in));
    asm volatile("ld.global.L2::cache_hint.L2::256B.f32 %0, [%1], %2;" : "=f"(v) : "l"(in), "l"(policy));
    asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(w) : "l"(in + 1), "l"(ranged));
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out), "f"(v + w), "l"(policy) : "memory");
    asm volatile("prefetch.global.L2::evict_last [%0];\n\tapplypriority.global.L2::evict_normal [%0], 128;\n\tdiscard.global.L2 [%0], 128;" ::"l"(in));
    asm volatile("red.global.add.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out), "f"(v), "l"(policy) : "memory");
}

__global__ void annotated(int* data, const int* in, int n)
{
    cuda::annotated_ptr<const int, cuda::access_property::streaming> stream{in};
    cuda::annotated_ptr<int, cuda::access_property::persisting> keep{data};
    for (int i = threadIdx.x; i < n; i += blockDim.x) keep[i] = stream[i] * 2;
    cuda::apply_access_property(data, 1024, cuda::access_property::persisting{});
    cuda::discard_memory(data + 4096, 1024);
}
