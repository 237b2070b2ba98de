// Softmax of rows of 128 elements, a warp for each.
extern "C" __global__ void softmax(const float *x, float *out, int rows)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float4 v = reinterpret_cast<const float4 *>(x)[row * 32 + lane];
    float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (int step = 16; step; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    v.x = exp2f((v.x - most) * 1.44269504f);
    v.y = exp2f((v.y - most) * 1.44269504f);
    v.z = exp2f((v.z - most) * 1.44269504f);
    v.w = exp2f((v.w - most) * 1.44269504f);
    float total = v.x + v.y + v.z + v.w;
    for (int step = 16; step; step /= 2)
        total += __shfl_xor_sync(0xffffffff, total, step);
    float share = 1 / total;
    reinterpret_cast<float4 *>(out)[row * 32 + lane] =
        make_float4(v.x * share, v.y * share, v.z * share, v.w * share);
}
