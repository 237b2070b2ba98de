// The device's system calls: printf, assert, malloc, free, trap, exit, clocks, nanosleep, noreturn.
#include <cassert>
#include <alloca.h>
#include <cstdio>

[[noreturn]] __device__ __noinline__ void fail(const char* why, int code)
{
    printf("failed: %s (%d)\n", why, code);
    __trap();
    __builtin_unreachable();
}
__device__ __noinline__ __attribute__((noreturn)) void leave() { asm volatile("exit;"); while (true) {} }

__global__ void talk(int n, float x, double d, long long l, const char* s)
{
    printf("no arguments\n");
    printf("%d %5.2f %e %lld %s %c %% %p %x\n", n, x, d, l, s, 'c', s, n);
    assert(n > 0 && "n must be positive");
    if (n > 1000) fail("too large", n);
    if (n == 999) leave();
}

__global__ void heap(int** out, int n)
{
    int* p = static_cast<int*>(malloc(n * sizeof(int)));
    if (!p) return;
    memset(p, 0xff, n * sizeof(int));
    memcpy(p, out[0], 64);
    for (int i = 0; i < n; ++i) p[i] += i;
    out[threadIdx.x] = p;
    free(out[threadIdx.x + 1]);
    double* d = new double[n];
    d[n - 1] = 1;
    delete[] d;
    char* local = static_cast<char*>(alloca(n));
    local[n / 2] = 1;
    out[2] = reinterpret_cast<int*>(size_t(local[n / 3]));
}

__global__ void timers(long long* out)
{
    long long start = clock64();
    clock_t short_start = clock();
    __nanosleep(100);
    out[0] = clock64() - start;
    out[1] = clock() - short_start;
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    out[2] = now;
    __prof_trigger(3);
    __brkpt();
}
