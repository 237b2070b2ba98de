// What a kernel may say about its launch: bounds, registers, block size, spills, local memory.

__global__ void __launch_bounds__(128) at_most(int* x) { x[threadIdx.x] += blockDim.x; }
__global__ void __launch_bounds__(256, 4) at_most_and_blocks(int* x) { x[threadIdx.x] += warpSize; }
__global__ void __maxnreg__(24) few_registers(double* x)
{
    double a[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) a[i] = x[i] * x[i + 1];
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int i = 0; i < 16; ++i) a[i] = a[i] * a[(i + 5) % 16] + x[r];
    for (int i = 0; i < 16; ++i) x[i] = a[i];
}
#if __CUDA_ARCH__ >= 900
__global__ void __block_size__((64, 2, 1)) exact(int* x) { x[threadIdx.y * 64 + threadIdx.x] = 1; }
#endif

__global__ void local_array(const int* index, float* out)
{
    float local[100];
    for (int i = 0; i < 100; ++i) local[i] = i * 0.5f;
    local[index[0]] += 3;
    char bytes[33] = "text that starts in constant mem";
    bytes[index[1]] = '!';
    out[threadIdx.x] = local[index[threadIdx.x]] + bytes[index[2]];
}

__global__ void indices(int3* out, unsigned* u)
{
    out[0] = make_int3(threadIdx.x, threadIdx.y, threadIdx.z);
    out[1] = make_int3(blockIdx.x, blockIdx.y, blockIdx.z);
    out[2] = make_int3(blockDim.x, blockDim.y, blockDim.z);
    out[3] = make_int3(gridDim.x, gridDim.y, gridDim.z);
#define READ(i, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(u[i]))
    READ(0, "laneid");
    READ(1, "warpid");
    READ(2, "nwarpid");
    READ(3, "smid");
    READ(4, "nsmid");
    READ(5, "lanemask_eq");
    READ(6, "lanemask_lt");
    READ(7, "lanemask_le");
    READ(8, "lanemask_gt");
    READ(9, "lanemask_ge");
    READ(10, "clock");
    READ(11, "dynamic_smem_size");
    READ(12, "total_smem_size");
    READ(13, "envreg3");
    READ(14, "pm0");
    unsigned long long grid;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    u[15] = unsigned(grid);
}
