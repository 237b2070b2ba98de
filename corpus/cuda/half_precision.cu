// __half and __nv_bfloat16: arithmetic, vectors, math, comparisons, conversions, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const __half* a, __half* b, __half2* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i];
    __half z = __hfma(x, y, __hadd(x, __float2half(1.5f))) / (y - x);
    if (__hgt(x, y) || __hisnan(z)) z = hsqrt(__habs(z)) + hexp(x) * hlog(y) + hsin(x) + hrcp(y);
    b[i] = __hmax(z, __hmin(x, y)) + htanh(x) + hfloor(y) + __hadd_sat(x, y);
    __half2 p = c[i], q = __floats2half2_rn(i, 2.0f);
    p = __hfma2_relu(p, q, h2exp2(q));
    p = __hmul2(p, __lowhigh2highlow(q)) + __hcmadd(p, q, p);
    unsigned mask = __hle2_mask(p, q);
    if (__hbeq2(p, q)) p = h2rsqrt(p);
    c[i] = __halves2half2(__low2half(p), __ushort_as_half(mask & 0xffff));
    atomicAdd(c, p);
    atomicAdd(b, z);
}

__global__ void brains(const __nv_bfloat16* a, __nv_bfloat16* b, __nv_bfloat162* c, float* f)
{
    int i = threadIdx.x;
    __nv_bfloat16 x = a[i], y = b[i];
    b[i] = __hfma(x, y, x) + hexp2(x) - __hmax_nan(x, y) * __hneg(y);
    c[i] = __hfma2(c[i], __bfloat162bfloat162(x), __float22bfloat162_rn(make_float2(1, f[i])));
    f[i] = __bfloat162float(__hmin(x, y)) + float(__low2bfloat16(c[i])) + __bfloat162int_rz(y);
    atomicAdd(c, c[i + 1]);
}

__global__ void conversions(__half h, __nv_bfloat16 b, long long* out)
{
    out[0] = __half2ll_rn(h) + __half2uint_ru(h) + __half2short_rd(h) + __half2uchar_rz(h);
    out[1] = __bfloat162ll_rn(b) + __bfloat162uint_ru(b) + __bfloat162short_rd(b);
    __half k = __int2half_rz(out[2]) + __ull2half_rn(out[3]) + __double2half(out[4] * 0.5);
    __nv_bfloat16 m = __int2bfloat16_rd(out[5]) + __double2bfloat16(out[6]);
    out[7] = __half_as_short(k) + __bfloat16_as_short(m);
}
