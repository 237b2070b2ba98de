// What tensor cores multiply: narrow floats as an exact value and the exponent they align by.
#pragma once

#include <bit>
#include <cstdint>

namespace ptxkit::sim {

// The types of multiplicands, numbered as in lowering/mma.py.
enum class Narrow : std::uint8_t { F16, Bf16, Tf32, E4m3, E5m2, E3m2, E2m3, E2m1, E2m1Nibble };

constexpr unsigned narrow_bits(Narrow type) {
    switch (type) {
        case Narrow::F16:
        case Narrow::Bf16: return 16;
        case Narrow::Tf32: return 32;
        case Narrow::E2m1Nibble: return 4;
        default: return 8;
    }
}

// So low that a zero never decides what a sum aligns to, even in a product.
constexpr std::int16_t kZeroExponent = -8192;

// A number, and the exponent of its leading bit had it been normal: subnormal numbers of a
// format share its least exponent.
struct Exact {
    double value;
    std::int16_t exponent;
};

inline Exact exact_of(std::uint32_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const std::uint32_t field = bits >> fraction_bits & ((1u << exponent_bits) - 1);
    const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    const std::uint64_t sign = std::uint64_t{bits >> (exponent_bits + fraction_bits) & 1} << 63;
    if (field == (1u << exponent_bits) - 1)
        return {std::bit_cast<double>(sign | 0x7FF0000000000000ull | (fraction ? 1ull << 51 : 0)), 0};
    if (field == 0 && fraction == 0) return {std::bit_cast<double>(sign), kZeroExponent};
    const int exponent = (field ? static_cast<int>(field) : 1) - bias;
    const std::uint32_t whole = field ? fraction | 1u << fraction_bits : fraction;
    const double scale = std::bit_cast<double>(
        static_cast<std::uint64_t>(exponent - fraction_bits + 1023) << 52 | sign);
    return {whole * scale, static_cast<std::int16_t>(exponent)};
}

// Any element; the bits above its width must be clear.
Exact decode_narrow(Narrow type, std::uint32_t bits);

// A scale of a block: 2 to the power of the byte less 127, or an unsigned e4m3.
Exact decode_scale(bool powers_of_two, std::uint8_t bits);

}  // namespace ptxkit::sim
