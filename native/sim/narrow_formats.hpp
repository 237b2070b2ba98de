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

// A float of at most 16 exponent and fraction bits, given by its bits below the sign, without
// branches, so that loops over it become vector code.
template <int kExponentBits, int kFractionBits>
inline Exact exact_of(std::uint32_t bits) {
    constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
    constexpr std::uint32_t kInfinity = ((1u << kExponentBits) - 1) << kFractionBits;
    const std::uint32_t magnitude = bits & (kInfinity | ((1u << kFractionBits) - 1));
    const std::uint32_t sign = bits >> (kExponentBits + kFractionBits) << 31;
    const std::uint32_t field = magnitude >> kFractionBits;
    const std::uint32_t shifted = magnitude << (23 - kFractionBits);
    std::uint32_t number = shifted;  // of eight exponent bits: the bits of a float already
    if constexpr (kExponentBits < 8) {
        constexpr float kLeast =
            std::bit_cast<float>(static_cast<std::uint32_t>(128 - kBias - kFractionBits) << 23);
        const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * kLeast;
        number = field == 0 ? std::bit_cast<std::uint32_t>(subnormal)
                            : shifted + (static_cast<std::uint32_t>(127 - kBias) << 23);
        number = magnitude >= kInfinity ? shifted | 0x7F800000u : number;
    }
    const auto exponent = static_cast<std::int16_t>(static_cast<int>(field + (field == 0)) - kBias);
    return {static_cast<double>(std::bit_cast<float>(number | sign)),
            magnitude == 0 ? kZeroExponent : exponent};
}

// Any element; the bits above its width must be clear.
Exact decode_narrow(Narrow type, std::uint32_t bits);

// A scale of a block: 2 to the power of the byte less 127, or an unsigned e4m3.
Exact decode_scale(bool powers_of_two, std::uint8_t bits);

}  // namespace ptxkit::sim
