#include "philox.hpp"

#include <algorithm>

namespace ptxkit::synth {

namespace {

constexpr std::uint64_t kFactors[2] = {0xD2E7470EE14C6C93u, 0xCA5A826395121157u};
constexpr std::uint64_t kWeyl[2] = {0x9E3779B97F4A7C15u, 0xBB67AE8584CAA73Bu};
constexpr unsigned kRounds = 10;
constexpr std::size_t kWords = 4;

// The upper half of a product.
std::uint64_t high(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low_a = a & 0xFFFFFFFFu, high_a = a >> 32;
    const std::uint64_t low_b = b & 0xFFFFFFFFu, high_b = b >> 32;
    const std::uint64_t middle = high_a * low_b + (low_a * low_b >> 32);
    return high_a * high_b + (middle >> 32) + ((low_a * high_b + (middle & 0xFFFFFFFFu)) >> 32);
}

}  // namespace

std::vector<std::uint64_t> philox(std::uint64_t key, std::size_t count) {
    std::vector<std::uint64_t> words((count + kWords - 1) / kWords * kWords);
    for (std::size_t block = 0; block < words.size() / kWords; ++block) {
        std::uint64_t x[kWords] = {block + 1, 0, 0, 0};  // numpy counts before it draws
        std::uint64_t keys[2] = {key, 0};
        for (unsigned round = 0; round < kRounds; ++round) {
            const std::uint64_t first = high(kFactors[0], x[0]), second = high(kFactors[1], x[2]);
            const std::uint64_t low_first = kFactors[0] * x[0], low_second = kFactors[1] * x[2];
            x[0] = second ^ x[1] ^ keys[0];
            x[2] = first ^ x[3] ^ keys[1];
            x[1] = low_second;
            x[3] = low_first;
            keys[0] += kWeyl[0];
            keys[1] += kWeyl[1];
        }
        std::copy_n(x, kWords, words.begin() + static_cast<std::ptrdiff_t>(kWords * block));
    }
    words.resize(count);
    return words;
}

}  // namespace ptxkit::synth
