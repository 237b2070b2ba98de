// Block reductions through shared memory: static, dynamic, unrolled by template.

template <typename T, int Threads>
__device__ T block_sum(T value)
{
    __shared__ T buffer[Threads];
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
#pragma unroll
    for (int half = Threads / 2; half > 0; half /= 2) {
        if (t < half) buffer[t] += buffer[t + half];
        __syncthreads();
    }
    return buffer[0];
}

template <typename T, int Threads>
__global__ void reduce(const T* in, T* out, int n)
{
    T sum = T();
    for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += Threads * gridDim.x) sum += in[i];
    sum = block_sum<T, Threads>(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template __global__ void reduce<float, 256>(const float*, float*, int);
template __global__ void reduce<double, 128>(const double*, double*, int);
template __global__ void reduce<unsigned long long, 512>(const unsigned long long*, unsigned long long*, int);
template __global__ void reduce<short, 64>(const short*, short*, int);

extern __shared__ char dynamic[];

__global__ void __launch_bounds__(1024, 1) reduce_dynamic(const int* in, int* out, int n)
{
    int* values = reinterpret_cast<int*>(dynamic);
    double* weights = reinterpret_cast<double*>(dynamic + blockDim.x * sizeof(int));
    int t = threadIdx.x;
    values[t] = t < n ? in[t] : 0;
    weights[t] = 1.0 / (t + 1);
    __syncthreads();
    for (unsigned half = blockDim.x >> 1; half; half >>= 1) {
        if (t < half) {
            values[t] = max(values[t], values[t + half]);
            weights[t] += weights[t + half];
        }
        __syncthreads();
    }
    int votes = __syncthreads_count(values[t] > 0);
    int any = __syncthreads_or(values[t] < 0);
    int all = __syncthreads_and(weights[t] > 0.0);
    if (t == 0) out[blockIdx.x] = values[0] + int(weights[0]) + votes + any + all;
}
