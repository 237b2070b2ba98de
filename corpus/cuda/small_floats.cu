//! since: sm_75
// fp8, fp6, fp4 and their vectors: storage types and conversions, in hardware where it exists.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__global__ void eights(const float* in, __nv_fp8_e4m3* a, __nv_fp8_e5m2* b, __nv_fp8x4_e4m3* v, float* out)
{
    int i = threadIdx.x;
    a[i] = __nv_fp8_e4m3(in[i]);
    b[i] = __nv_fp8_e5m2(in[i] * 2);
    v[i] = __nv_fp8x4_e4m3(make_float4(in[i], in[i + 1], in[i + 2], in[i + 3]));
    float4 q = float4(v[i + 1]);
    out[i] = float(a[i + 1]) + float(b[i + 1]) + q.x * q.w;
    out[i + 32] = float(__half(a[i])) + double(b[i]);
}

__global__ void tensors(const __half2* h, __nv_fp8x2_storage_t* out, float2 f, unsigned char* scale)
{
    int i = threadIdx.x;
    out[i] = __nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E4M3);
    out[i + 1] = __nv_cvt_float2_to_fp8x2(f, __NV_NOSAT, __NV_E5M2);
    __half2_raw back = __nv_cvt_fp8x2_to_halfraw2(out[i + 2], __NV_E5M2);
    out[i + 3] = back.x;
    scale[i] = __nv_cvt_float_to_e8m0(f.x, __NV_SATFINITE, cudaRoundPosInf);
}

__global__ void sixes_and_fours(__nv_fp6x2_e2m3* six, __nv_fp6_e3m2* other, __nv_fp4x2_e2m1* four, float2* f)
{
    int i = threadIdx.x;
    six[i] = __nv_fp6x2_e2m3(f[i]);
    other[i] = __nv_fp6_e3m2(f[i].x);
    four[i] = __nv_fp4x2_e2m1(f[i]);
    float2 a = float2(six[i + 1]), b = float2(four[i + 1]);
    f[i + 64] = make_float2(a.x + b.y + float(other[i + 1]), a.y * b.x);
}
