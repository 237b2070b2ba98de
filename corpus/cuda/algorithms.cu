// Textbook kernels: scan, histogram, bitonic sort, stencil, sparse rows, random walks, fractals, hashing.

__global__ void scan(const int* in, int* out, int n)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, from = 0, to = 1;
    buffer[t] = t > 0 ? in[t - 1] : 0;
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        from = to;
        to = 1 - from;
        buffer[to * n + t] = buffer[from * n + t] + (t >= step ? buffer[from * n + t - step] : 0);
        __syncthreads();
    }
    out[t] = buffer[to * n + t];
}
__global__ void histogram(const uchar4* in, unsigned* bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 c = in[i];
        atomicAdd(&local[c.x], 1u);
        atomicAdd(&local[c.y], 1u);
        atomicAdd(&local[c.z], 1u);
        atomicAdd(&local[c.w], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
__global__ void bitonic(float* keys, int n)
{
    extern __shared__ float values[];
    int t = threadIdx.x;
    values[t] = keys[t];
    for (int size = 2; size <= n; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            int partner = t ^ stride;
            if (partner > t && (values[t] > values[partner]) == ((t & size) == 0)) {
                float swap = values[t];
                values[t] = values[partner];
                values[partner] = swap;
            }
        }
    __syncthreads();
    keys[t] = values[t];
}
__global__ void heat(const double* in, double* out, int3 size, double rate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= size.x - 1 || y >= size.y - 1) return;
    for (int z = 1; z < size.z - 1; ++z) {
        long i = (long(z) * size.y + y) * size.x + x, row = size.x, plane = row * size.y;
        out[i] = in[i] + rate * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row] + in[i - plane] + in[i + plane] - 6 * in[i]);
    }
}
__global__ void sparse_rows(const int* start, const int* column, const double* value, const double* x, double* y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += value[i] * __ldg(x + column[i]);
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane == 0) y[row] = sum;
}
__global__ void mandelbrot(unsigned char* image, int width, float x0, float y0, float step)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
    while (x * x + y * y < 4 && n < 255) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++n;
    }
    image[py * width + px] = n;
}
__global__ void walks(unsigned long long seed, float* out, int steps)
{
    unsigned long long s = seed + 0x9e3779b97f4a7c15ull * (blockIdx.x * blockDim.x + threadIdx.x);
    float position = 0;
    for (int i = 0; i < steps; ++i) {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        unsigned bits = (s * 0x2545f4914f6cdd1dull) >> 40;
        position += sqrtf(-2 * logf((bits + 1) * (1.0f / 16777217))) * cospif(bits * (2.0f / 16777216));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = position;
}
__global__ void insert(unsigned* table, const unsigned* keys, unsigned mask, int* full)
{
    unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x], slot = key * 2654435761u & mask;
    for (unsigned probe = 0; probe <= mask; ++probe, slot = (slot + 1) & mask) {
        unsigned old = atomicCAS(table + slot, 0xffffffffu, key);
        if (old == 0xffffffffu || old == key) return;
    }
    *full = 1;
}
