// Module-scope variables: constant, managed, device; initialised, aligned, pointing at each other.

struct Node { int value; const Node* next; };

__constant__ float coefficients[5] = {1.0f, -0.5f, 0.25f, -0.125f, 0.0625f};
__constant__ unsigned char table[256] = {1, 2, 3, 0xff};
__constant__ double pi = 3.14159265358979323846;
__managed__ int shared_with_host = 42;
__managed__ double grid_total[16];
__device__ int counter;
__device__ long long big_counter = 1LL << 40;
__device__ __align__(128) float4 aligned[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ const char* message = "device strings live in global memory\n\"quoted\" \\ \t\x01";
__device__ Node last = {3, nullptr};
__device__ Node middle = {2, &last};
__device__ Node first = {1, &middle};
__device__ float* into_array = &aligned[2].y;
static __device__ int hidden[3] = {7, 8, 9};
__device__ volatile int spin;
__device__ bool flags[3] = {true, false, true};
__device__ short shorts[7] = {-1, 2, -3};
namespace deep { namespace er { __device__ int nested = 5; } }
template <typename T> __device__ T typed_zero = T(3);

__global__ void polynomial(const float* x, float* y)
{
    float v = x[threadIdx.x], sum = 0;
    for (int i = 4; i >= 0; --i) sum = sum * v + coefficients[i];
    y[threadIdx.x] = sum + table[threadIdx.x & 255] + float(pi);
}

__global__ void walk(int* out)
{
    int sum = 0;
    for (const Node* n = &first; n; n = n->next) sum += n->value;
    for (const char* c = message; *c; ++c) sum += *c;
    out[0] = sum + shared_with_host + hidden[threadIdx.x % 3] + deep::er::nested;
    out[1] = int(typed_zero<float>) + typed_zero<int> + flags[threadIdx.x % 3] + shorts[2];
    *into_array += 1.0f;
    grid_total[blockIdx.x] += sum;
    atomicAdd(&counter, sum);
    atomicAdd((unsigned long long*)&big_counter, 1ull);
    while (spin == 0) {}
}
