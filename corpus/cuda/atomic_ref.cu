// libcu++ atomics: every scope, every order, fences, wait and notify, 8 to 128 bits.
#include <cuda/atomic>

template <cuda::thread_scope Scope>
__device__ int every_order(int* p)
{
    cuda::atomic_ref<int, Scope> a(*p);
    int v = a.load(cuda::memory_order_relaxed) + a.load(cuda::memory_order_acquire) + a.load();
    a.store(v, cuda::memory_order_relaxed);
    a.store(v, cuda::memory_order_release);
    a.store(v);
    v += a.fetch_add(1, cuda::memory_order_relaxed) + a.fetch_sub(2, cuda::memory_order_acquire);
    v += a.fetch_and(3, cuda::memory_order_release) + a.fetch_or(4, cuda::memory_order_acq_rel);
    v += a.fetch_xor(5) + a.exchange(6) + a.fetch_min(7) + a.fetch_max(8, cuda::memory_order_relaxed);
    int expected = v;
    while (!a.compare_exchange_weak(expected, v + 1, cuda::memory_order_acq_rel)) {}
    a.compare_exchange_strong(expected, 9);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, Scope);
    return v;
}

__global__ void scopes(int* p)
{
    p[1] = every_order<cuda::thread_scope_thread>(p);
    p[2] = every_order<cuda::thread_scope_block>(p);
    p[3] = every_order<cuda::thread_scope_device>(p);
    p[4] = every_order<cuda::thread_scope_system>(p);
}

__global__ void widths(unsigned char* c, short* s, long long* l, float* f, double* d)
{
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device> a(*c);
    cuda::atomic_ref<short, cuda::thread_scope_block> b(*s);
    cuda::atomic_ref<long long> e(*l);
    cuda::atomic_ref<float, cuda::thread_scope_device> g(*f);
    cuda::atomic_ref<double, cuda::thread_scope_system> h(*d);
    a.fetch_add(1);
    b.fetch_or(2, cuda::memory_order_relaxed);
    e.fetch_max(3);
    g.fetch_add(1.5f);
    h.fetch_min(2.5);
    g.store(float(h.load()));
}

__global__ void hand_over(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data)
{
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> tickets;
    if (threadIdx.x == 0) tickets.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    unsigned mine = tickets.fetch_add(1, cuda::memory_order_relaxed);
    if (blockIdx.x == 0) {
        data[mine] = mine;
        flag->store(1, cuda::memory_order_release);
        flag->notify_all();
    } else {
        flag->wait(0, cuda::memory_order_acquire);
        data[mine + 64] = data[mine];
    }
}
