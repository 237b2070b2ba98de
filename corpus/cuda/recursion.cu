// Recursion, direct and mutual, with a stack that ptxas cannot bound; variadic device templates.

__device__ __noinline__ unsigned long long fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n == 0 ? false : even(n - 1); }

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ void quicksort(int* a, int low, int high)
{
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) ++i;
        while (a[j] > pivot) --j;
        if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}

template <typename T> __device__ T total(T x) { return x; }
template <typename T, typename... Rest> __device__ T total(T x, Rest... rest) { return x + total<T>(rest...); }

__global__ void recurse(unsigned long long* out, int* a, int n)
{
    out[0] = fibonacci(n) + even(n) + ackermann(2, n);
    quicksort(a, 0, n - 1);
    out[1] = total(1.5f, 2, 'c', n, 4.25);
}
