#include "half.hpp"

#include <algorithm>
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
constexpr Format kE4m3{3, -6, 8};
constexpr Format kE5m2{2, -14, 15};
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
    const std::uint64_t sign = std::uint64_t{bits} >> 15 << 63;
    const std::uint64_t exponent = bits >> 10 & 31;
    const std::uint64_t fraction = bits & 1023;
    if (exponent == 0) {
        const double value = static_cast<double>(fraction) * 0x1p-24;
        return sign ? -value : value;
    }
    const std::uint64_t biased = exponent == 31 ? 2047 : exponent - 15 + 1023;
    return std::bit_cast<double>(sign | biased << 52 | fraction << 42);
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

double e4m3_to_double(std::uint8_t bits) {
    const int exponent = bits >> 3 & 15;
    const int fraction = bits & 7;
    double value;
    if ((bits & 0x7F) == 0x7F)
        value = std::bit_cast<double>(0x7FF8000000000000ull);
    else
        value = exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
    return bits & 0x80 ? -value : value;
}
double e5m2_to_double(std::uint8_t bits) {
    return half_to_double(static_cast<std::uint16_t>(bits << 8));
}

namespace {

// Rounds to a format whose largest number has the bits `largest`; a NaN is 0x7F.
std::uint8_t narrow_finite(double value, const Format &format, std::uint8_t largest) {
    if (std::isnan(value)) return 0x7F;
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
    if (std::isinf(value)) return sign | largest;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>(bits >> 52 & 0x7FF);
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    const std::uint64_t magnitude = biased ? fraction | 1ull << 52 : fraction;
    const int exponent = (biased ? biased : 1) - 1075;
    const std::uint64_t rounded = round_bits(magnitude, exponent, false, sign != 0, format, 0);
    return static_cast<std::uint8_t>(sign | std::min<std::uint64_t>(rounded, largest));
}

}  // namespace

std::uint8_t double_to_e4m3(double value) { return narrow_finite(value, kE4m3, 0x7E); }
std::uint8_t double_to_e5m2(double value) { return narrow_finite(value, kE5m2, 0x7B); }

double tiny_to_double(std::uint8_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    const int one = 1 << fraction_bits;
    const double value = exponent ? std::ldexp(one + fraction, exponent - bias - fraction_bits)
                                  : std::ldexp(fraction, 1 - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

std::uint8_t double_to_tiny(double value, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto largest = static_cast<std::uint8_t>((1 << (exponent_bits + fraction_bits)) - 1);
    if (std::isnan(value)) return largest;
    const bool negative = std::signbit(value);
    const auto sign = static_cast<std::uint8_t>(negative << (exponent_bits + fraction_bits));
    const double magnitude = std::fabs(value);
    // One exponent more than there is, so that rounding up past the largest number shows.
    const Format format{fraction_bits, 1 - bias, (1 << exponent_bits) - bias};
    if (magnitude > std::ldexp(2.0, format.maximum)) return sign | largest;
    int exponent = 0;
    const double fraction = std::frexp(magnitude, &exponent);
    const auto whole = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    const std::uint64_t rounded = round_bits(whole, exponent - 53, false, negative, format, 0);
    return static_cast<std::uint8_t>(sign | std::min<std::uint64_t>(rounded, largest));
}

double add_to_odd(double a, double b) {
    const double sum = a + b;
    if (!std::isfinite(sum)) return sum;
    // Knuth's two-sum: `lost` is exactly what the addition rounded away.
    const double part = sum - a;
    const double lost = (a - (sum - part)) + (b - part);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (lost == 0 || (bits & 1)) return sum;
    // An even last bit and an inexact sum: go to the odd neighbour on the side of the truth.
    bits += (lost > 0) == (sum > 0) ? 1ull : ~0ull;
    return std::bit_cast<double>(bits);
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
