// Single-precision library: slow paths, fast intrinsics, rounding modes, classification.

__global__ void trigonometry(const float* x, float* y)
{
    int i = threadIdx.x;
    float v = x[i], s, c;
    sincosf(v, &s, &c);
    y[i] = sinf(v) + cosf(v) * tanf(v) + s - c + sinpif(v) + cospif(v);
    y[i + 32] = asinf(v) + acosf(v) + atanf(v) + atan2f(v, s) + sinhf(v) + coshf(v) + tanhf(v);
    y[i + 64] = asinhf(v) + acoshf(v) + atanhf(v);
}
__global__ void exponentials(const float* x, float* y)
{
    int i = threadIdx.x;
    float v = x[i], w = x[i + 1];
    y[i] = expf(v) + exp2f(v) + exp10f(v) + expm1f(v) + logf(v) + log2f(v) + log10f(v) + log1pf(v);
    y[i + 32] = powf(v, w) + cbrtf(v) + hypotf(v, w) + rsqrtf(v) + sqrtf(v) + rhypotf(v, w) + v / w;
}
__global__ void special(const float* x, float* y)
{
    int i = threadIdx.x, e;
    float v = x[i], w = x[i + 1], part;
    y[i] = erff(v) + erfcf(v) + erfinvf(v) + tgammaf(v) + lgammaf(v) + j0f(v) + y1f(v) + normcdff(v);
    y[i + 32] = fmodf(v, w) + remainderf(v, w) + frexpf(v, &e) + ldexpf(w, e) + modff(v, &part) + part;
    y[i + 64] = floorf(v) + ceilf(w) + truncf(v) + rintf(w) + roundf(v) + nearbyintf(w) + copysignf(v, w);
    y[i + 96] = fminf(v, w) + fmaxf(v, w) + fdimf(v, w) + nextafterf(v, w) + logbf(v) + fabsf(w) + ilogbf(v);
    if (isnan(v) || isinf(w) || signbit(v) || !isfinite(w)) y[i + 128] = nanf("");
}
__global__ void intrinsics(const float* x, float* y, int* n)
{
    int i = threadIdx.x;
    float v = x[i], w = x[i + 1];
    y[i] = __sinf(v) + __cosf(v) + __expf(v) + __logf(v) + __powf(v, w) + __fdividef(v, w) + __tanf(w) + __exp10f(v);
    y[i + 32] = __fadd_rn(v, w) + __fsub_rz(v, w) + __fmul_ru(v, w) + __fmaf_rd(v, w, v) + __fdiv_rz(v, w);
    y[i + 64] = __frcp_ru(v) + __fsqrt_rd(w) + __frsqrt_rn(v) + __saturatef(w);
    n[i] = __float2int_rn(v) + __float2int_ru(w) + __float2uint_rd(v) + __float_as_int(w) + int(v);
    n[i + 32] = __float2ll_rz(v) + __float2ull_rn(w) + __double2int_rz(double(v) * w);
    y[i + 96] = __int2float_rd(n[i]) + __uint2float_ru(n[i]) + __ll2float_rz((long long)n[i] << 9) + __int_as_float(n[i]);
}
