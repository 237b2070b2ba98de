//! modes: rdc
// Kernels that launch kernels: streams, tail launches, device-side events and errors.

__global__ void child(int* data, int depth) { data[threadIdx.x] += depth; }

__global__ void parent(int* data, int depth)
{
    if (threadIdx.x == 0 && depth > 0) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        child<<<2, 64, 128, stream>>>(data, depth);
        child<<<dim3(1, 2, 3), dim3(4, 5, 6), 0, cudaStreamTailLaunch>>>(data, -depth);
        parent<<<1, 32, 0, cudaStreamFireAndForget>>>(data + 32, depth - 1);
        if (cudaGetLastError() != cudaSuccess) data[0] = -1;
        cudaStreamDestroy(stream);
        int device, limit;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&limit, cudaDevAttrMaxThreadsPerBlock, device);
        data[1] = limit;
    }
}
