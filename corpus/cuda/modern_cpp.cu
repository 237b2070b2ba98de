//! flags: -std=c++20 --extended-lambda --expt-relaxed-constexpr
// C++20 on the device: concepts, folds, constexpr tables, cuda::std containers, lambdas, mdspan.
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

template <typename T> concept Number = cuda::std::is_arithmetic_v<T>;

template <Number... Ts> __device__ auto sum(Ts... xs) { return (xs + ... + 0); }

constexpr auto primes = [] {
    cuda::std::array<int, 16> found{};
    for (int n = 2, k = 0; k < 16; ++n) {
        bool prime = true;
        for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
        if (prime) found[k++] = n;
    }
    return found;
}();

struct Doubler { int operator()(int x) const { return 2 * x; } };

__device__ cuda::std::optional<float> safe_root(float x)
{
    if (x < 0) return cuda::std::nullopt;
    return sqrtf(x);
}

template <Number T> __global__ void generic(cuda::std::span<T> data, T by)
{
    auto scale = [by]<typename U>(U x) { return static_cast<U>(x * by); };
    for (T& x : data) x = scale(x);
    if constexpr (sizeof(T) == 8) data[0] = sum(data[1], 2, 3.5f, by);
}
template __global__ void generic<float>(cuda::std::span<float>, float);
template __global__ void generic<long long>(cuda::std::span<long long>, long long);

__global__ void library(float* out, int n)
{
    constexpr auto table = primes;
    auto [a, b] = cuda::std::make_tuple(out[0], n);
    out[1] = safe_root(a).value_or(-1) + table[b & 15];
    cuda::std::complex<float> z(a, b);
    for (int i = 0; i < n && norm(z) < 4; ++i) z = z * z + cuda::std::complex<float>(0.1f, 0.7f);
    out[2] = z.real() + abs(z);
    cuda::std::variant<int, float> v = n > 3 ? cuda::std::variant<int, float>(n) : cuda::std::variant<int, float>(a);
    out[3] = cuda::std::visit([](auto x) { return float(x) * 2; }, v);
    cuda::std::mdspan<float, cuda::std::extents<int, 4, cuda::std::dynamic_extent>> grid(out + 4, n);
    grid(threadIdx.x & 3, threadIdx.y) += 1;
}
