//! modes: rdc
// Separate compilation: functions and variables defined elsewhere, weak ones, and ones given away.

struct State { int a; double b; char tail[12]; };
typedef double (*Callback)(State, const float*, int);

extern __device__ float elsewhere(float x, int n);
extern __device__ State advance(State s, double by);
extern "C" __device__ int c_name(const char* text);
extern "C" __device__ void returns_nothing(void);
extern __device__ int outside_counter;
extern __constant__ float outside_table[64];
extern __device__ float outside_unsized[];
extern __shared__ int dynamic[];
__device__ Callback registered;
__device__ int exported = 3;
static __device__ int internal = 4;
__device__ __attribute__((weak)) int overridable(int x) { return x + 1; }
__device__ __noinline__ float helper(float x) { return x * outside_table[3] + outside_unsized[2]; }
template <typename T> __device__ __noinline__ T shared_template(T x) { return x + T(1); }

__global__ void caller(float* x, State* s)
{
    int i = threadIdx.x;
    dynamic[i] = i;
    x[i] = elsewhere(x[i], dynamic[i ^ 1]) + helper(x[i]) + shared_template(2.5f);
    s[i] = advance(s[i], 0.25);
    if (registered) s[i].b += registered(s[i], x, overridable(i));
    returns_nothing();
    atomicAdd(&outside_counter, c_name("text") + exported + internal);
}

__device__ float given_away(const State& s, float by) { return float(s.b) * by + s.tail[3]; }
