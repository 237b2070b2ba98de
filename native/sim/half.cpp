#include "half.hpp"

#include <bit>
#include <cmath>

namespace ptxkit::sim {

namespace {

struct Format {
    int fraction;   // stored bits of the significand
    int minimum;    // exponent of the smallest normal number
    int maximum;    // exponent of the largest
};
constexpr Format kHalf{10, -14, 15};
constexpr Format kBfloat{7, -126, 127};
constexpr Format kSingle{23, -126, 127};
constexpr Format kDouble{52, -1022, 1023};

// Round magnitude * 2^exponent (magnitude < 2^64, with `sticky` for bits below) to a format.
// Gives the bits without the sign.
std::uint64_t round_bits(std::uint64_t magnitude, int exponent, bool sticky, bool negative,
                         const Format &format, unsigned rounding) {
    if (magnitude == 0 && !sticky) return 0;
    const int top = magnitude == 0 ? -1 : 63 - std::countl_zero(magnitude);
    int scale = exponent + top;  // exponent of the leading bit
    // The lowest bit that the format keeps.
    int lowest = std::max(scale, format.minimum) - format.fraction;
    std::uint64_t kept;
    bool half = false, rest = sticky;
    const int drop = lowest - exponent;
    if (drop <= 0) {
        kept = magnitude << -drop;
    } else if (drop > 64) {
        kept = 0;
        rest = rest || magnitude != 0;
    } else {
        kept = drop == 64 ? 0 : magnitude >> drop;
        half = magnitude >> (drop - 1) & 1;
        rest = rest || (magnitude & ((1ull << (drop - 1)) - 1)) != 0;
    }
    bool up = false;
    switch (rounding) {
        case 0: up = half && (rest || (kept & 1)); break;
        case 2: up = negative && (half || rest); break;
        case 3: up = !negative && (half || rest); break;
        default: break;
    }
    kept += up;
    if (kept >> (format.fraction + 1)) {
        kept >>= 1;
        ++scale;
    }
    const std::uint64_t infinity =
        static_cast<std::uint64_t>(format.maximum - format.minimum + 2) << format.fraction;
    if (kept >> format.fraction == 0) return kept;  // subnormal
    const int shown = std::max(scale, format.minimum);
    if (shown > format.maximum) {
        const bool to_infinity = rounding == 0 || (rounding == 2 && negative) || (rounding == 3 && !negative);
        return to_infinity ? infinity : infinity - 1;
    }
    const auto biased = static_cast<std::uint64_t>(shown - format.minimum + 1);
    return biased << format.fraction | (kept & ((1ull << format.fraction) - 1));
}

std::uint16_t narrow(double value, const Format &format, unsigned rounding) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const bool negative = bits >> 63;
    const auto sign = static_cast<std::uint16_t>(negative << 15);
    const int biased = static_cast<int>(bits >> 52 & 0x7FF);
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    if (biased == 0x7FF) {
        const auto infinity = static_cast<std::uint16_t>((format.maximum - format.minimum + 2)
                                                         << format.fraction);
        return fraction ? std::uint16_t{0x7FFF} : static_cast<std::uint16_t>(sign | infinity);
    }
    const std::uint64_t magnitude = biased ? fraction | 1ull << 52 : fraction;
    const int exponent = (biased ? biased : 1) - 1075;
    return static_cast<std::uint16_t>(
        sign | round_bits(magnitude, exponent, false, negative, format, rounding));
}

}  // namespace

double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? std::nan("") : INFINITY;
    else
        value = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

double bfloat_to_double(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t double_to_half(double value, unsigned rounding) {
    return narrow(value, kHalf, rounding);
}
std::uint16_t double_to_bfloat(double value, unsigned rounding) {
    return narrow(value, kBfloat, rounding);
}

std::uint64_t integer_to_float(std::int64_t value, bool is_unsigned, unsigned format,
                               unsigned rounding) {
    const bool negative = !is_unsigned && value < 0;
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(value)
                                    : static_cast<std::uint64_t>(value);
    const Format &shape =
        format == 16 ? kHalf : format == 17 ? kBfloat : format == 32 ? kSingle : kDouble;
    const unsigned width = format == 17 ? 16 : format;
    const std::uint64_t bits = round_bits(magnitude, 0, false, negative, shape, rounding);
    return bits | static_cast<std::uint64_t>(negative) << (width - 1);
}

}  // namespace ptxkit::sim
