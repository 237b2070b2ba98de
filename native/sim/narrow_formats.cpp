#include "narrow_formats.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace ptxkit::sim {

namespace {

using Table = std::array<Exact, 256>;

// The hardware widens 8-bit floats to half precision first: their subnormal numbers, all but
// e5m2's, are normal there. These formats have no infinity: their top exponent is of numbers.
Exact widen(std::uint32_t bits, int exponent_bits, int fraction_bits, bool has_nan) {
    const std::uint32_t magnitude = bits & ((1u << (exponent_bits + fraction_bits)) - 1);
    const bool negative = bits >> (exponent_bits + fraction_bits) & 1;
    if (magnitude == 0) return {negative ? -0.0 : 0.0, kZeroExponent};
    if (has_nan && magnitude == (1u << (exponent_bits + fraction_bits)) - 1)
        return {std::numeric_limits<double>::quiet_NaN(), 0};
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto field = static_cast<int>(magnitude >> fraction_bits);
    const auto fraction = static_cast<int>(magnitude & ((1u << fraction_bits) - 1));
    const int whole = field ? fraction + (1 << fraction_bits) : fraction;
    const double value = std::ldexp(whole, (field ? field : 1) - bias - fraction_bits);
    return {negative ? -value : value, static_cast<std::int16_t>(std::ilogb(value))};
}

Table make_table(Narrow type) {
    Table table;
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        switch (type) {
            case Narrow::E4m3: table[bits] = widen(bits, 4, 3, true); break;
            case Narrow::E5m2: table[bits] = exact_of<5, 10>(bits << 8); break;
            case Narrow::E3m2: table[bits] = widen(bits & 63, 3, 2, false); break;
            case Narrow::E2m3: table[bits] = widen(bits & 63, 2, 3, false); break;
            case Narrow::E2m1: table[bits] = widen(bits >> 2 & 15, 2, 1, false); break;
            default: table[bits] = widen(bits & 15, 2, 1, false); break;
        }
    }
    return table;
}

}  // namespace

Exact decode_narrow(Narrow type, std::uint32_t bits) {
    static const Table e4m3 = make_table(Narrow::E4m3), e5m2 = make_table(Narrow::E5m2),
                       e3m2 = make_table(Narrow::E3m2), e2m3 = make_table(Narrow::E2m3),
                       e2m1 = make_table(Narrow::E2m1), nibble = make_table(Narrow::E2m1Nibble);
    switch (type) {
        case Narrow::F16: return exact_of<5, 10>(bits);
        case Narrow::Bf16: return exact_of<8, 7>(bits);
        case Narrow::Tf32: return exact_of<8, 10>(bits >> 13);
        case Narrow::E4m3: return e4m3[bits & 255];
        case Narrow::E5m2: return e5m2[bits & 255];
        case Narrow::E3m2: return e3m2[bits & 255];
        case Narrow::E2m3: return e2m3[bits & 255];
        case Narrow::E2m1: return e2m1[bits & 255];
        default: return nibble[bits & 15];
    }
}

Exact decode_scale(bool powers_of_two, std::uint8_t bits) {
    if (!powers_of_two) return decode_narrow(Narrow::E4m3, bits & 0x7F);
    if (bits == 0xFF) return {std::numeric_limits<double>::quiet_NaN(), 0};
    const int exponent = bits - 127;
    return {std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52),
            static_cast<std::int16_t>(exponent)};
}

}  // namespace ptxkit::sim
