// Double precision: the libdevice slow paths, rounding modes, conversions, long loops.

__global__ void library(const double* x, double* y)
{
    int i = threadIdx.x, e, q;
    double v = x[i], w = x[i + 1], s, c;
    sincos(v, &s, &c);
    y[i] = sin(v) * cos(w) + tan(v) + s / c;
    y[i + 32] = exp(v) + log(w) + pow(v, w) + sqrt(v) + cbrt(w) + log1p(v) + expm1(w) + exp2(v);
    y[i + 64] = asin(v) + acos(w) + atan2(v, w) + sinh(v) + tanh(w) + acosh(v);
    y[i + 96] = erf(v) + erfc(w) + tgamma(v) + lgamma(w) + jn(3, v) + erfcinv(w) + norm3d(v, w, s);
    y[i + 128] = fmod(v, w) + remquo(v, w, &q) + frexp(v, &e) + ldexp(w, e + q) + fma(v, w, v);
    y[i + 160] = floor(v) + ceil(w) + rint(v) + trunc(w) + round(v) + fmin(v, w) + rsqrt(w);
}
__global__ void rounding(const double* x, double* y, long long* n)
{
    int i = threadIdx.x;
    double v = x[i], w = x[i + 1];
    y[i] = __dadd_rz(v, w) + __dmul_ru(v, w) + __fma_rd(v, w, v) + __ddiv_rn(v, w) + __dsqrt_rz(w) + __drcp_ru(v);
    n[i] = __double2ll_rn(v) + __double2ull_rd(w) + __double2uint_ru(v) + __double_as_longlong(w) + __double2hiint(v);
    y[i + 32] = __ll2double_rz(n[i]) + __ull2double_ru(n[i]) + __hiloint2double(i, 7) + __int2double_rn(i) + float(v);
    y[i + 64] = __double2float_rz(v) + __double2float_ru(w) + double(__double2loint(v));
}
__global__ void n_body(const double4* bodies, double3* force, int n)
{
    __shared__ double4 tile[128];
    double4 me = bodies[blockIdx.x * 128 + threadIdx.x];
    double3 sum = make_double3(0, 0, 0);
    for (int start = 0; start < n; start += 128) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; ++j) {
            double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            double r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-9);
            double f = tile[j].w * r * r * r;
            sum.x += f * dx;
            sum.y += f * dy;
            sum.z += f * dz;
        }
        __syncthreads();
    }
    force[blockIdx.x * 128 + threadIdx.x] = sum;
}
