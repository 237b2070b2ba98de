// Matrix multiply as taught: naive, tiled in shared memory, register-blocked with vector loads.

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void tiled(const float* a, const float* b, float* c, int n)
{
    __shared__ float ta[16][16], tb[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[y][x] = a[(blockIdx.y * 16 + y) * n + t + x];
        tb[y][x] = b[(t + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}

__global__ void __launch_bounds__(256) blocked(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int k, float alpha, float beta)
{
    __shared__ float ta[2][8][128], tb[2][8][128];
    int t = threadIdx.x, row = t / 16 * 8, column = t % 16 * 8;
    float acc[8][8] = {};
    for (int step = 0, stage = 0; step < k; step += 8, stage ^= 1) {
        float4 u = *reinterpret_cast<const float4*>(a + (blockIdx.y * 128 + t / 2) * k + step + t % 2 * 4);
        float4 v = *reinterpret_cast<const float4*>(b + (step + t / 32) * n + blockIdx.x * 128 + t % 32 * 4);
        ta[stage][t % 2 * 4 + 0][t / 2] = u.x;
        ta[stage][t % 2 * 4 + 1][t / 2] = u.y;
        ta[stage][t % 2 * 4 + 2][t / 2] = u.z;
        ta[stage][t % 2 * 4 + 3][t / 2] = u.w;
        *reinterpret_cast<float4*>(&tb[stage][t / 32][t % 32 * 4]) = v;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
            for (int y = 0; y < 8; ++y)
#pragma unroll
                for (int x = 0; x < 8; ++x) acc[y][x] += ta[stage][i][row + y] * tb[stage][i][column + x];
    }
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; x += 4) {
            float4* to = reinterpret_cast<float4*>(c + (blockIdx.y * 128 + row + y) * n + blockIdx.x * 128 + column + x);
            float4 old = *to;
            *to = make_float4(alpha * acc[y][x] + beta * old.x, alpha * acc[y][x + 1] + beta * old.y, alpha * acc[y][x + 2] + beta * old.z, alpha * acc[y][x + 3] + beta * old.w);
        }
}
