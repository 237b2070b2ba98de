// cvt between integers and floats, and the moving of bits between widths.
#include <cmath>
#include <cstring>
#include <limits>

#include "convert.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"
#include "wide_integer.hpp"

namespace ptxkit::sim {

double to_double(std::uint64_t value, unsigned type) {
    switch (type) {
        case kF16: return half_to_double(static_cast<std::uint16_t>(value));
        case kBf16: return bfloat_to_double(static_cast<std::uint16_t>(value));
        case kF32: return std::bit_cast<float>(static_cast<std::uint32_t>(value));
        default: return std::bit_cast<double>(value);
    }
}

std::uint64_t to_float(double value, unsigned type, const FloatMode &mode) {
    if (std::isnan(value)) {
        if (mode.saturate) return 0;
        if (type == kF16 || type == kBf16) return 0x7FFF;
        return type == kF32 ? 0x7FFFFFFFu : std::bit_cast<std::uint64_t>(canonical_nan<double>());
    }
    if (mode.relu && std::signbit(value)) value = 0;
    if (mode.saturate) value = value > 1 ? 1.0 : value > 0 ? value : 0.0;
    if (type == kF16 || type == kBf16) {
        const bool half = type == kF16;
        const std::uint16_t bits = half ? double_to_half(value, mode.rounding)
                                        : double_to_bfloat(value, mode.rounding);
        const bool infinite = (bits & 0x7FFF) == (half ? 0x7C00 : 0x7F80);
        return mode.finite && infinite ? bits - 1u : bits;
    }
    if (type == kF32) {
        const Rounding rounding(mode.rounding);
        volatile double source = value;  // rounded here, under this mode
        auto narrow = static_cast<float>(source);
        if (mode.flush) narrow = flush(narrow);
        return std::bit_cast<std::uint32_t>(narrow);
    }
    return std::bit_cast<std::uint64_t>(value);
}

namespace {

unsigned size_of(unsigned type) {
    static constexpr unsigned kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return kSizes[type];
}
bool is_signed(unsigned type) { return type <= kS64 && (type & 1); }
bool is_float(unsigned type) { return type >= kF16; }
unsigned float_format(unsigned type) {  // as integer_to_float names them
    static constexpr unsigned kFormats[] = {16, 17, 32, 64};
    return kFormats[type - kF16];
}
bool is_narrow_flush(unsigned from, const FloatMode &mode) { return mode.flush && from == kF32; }

// The double that has the sign and, in its upper bits, the payload of a narrower NaN.
std::uint64_t widen_nan(std::uint64_t bits, unsigned from) {
    static constexpr unsigned kWidths[] = {16, 16, 32, 64};
    static constexpr unsigned kFractions[] = {10, 7, 23, 52};
    const unsigned width = kWidths[from - kF16], fraction = kFractions[from - kF16];
    const std::uint64_t sign = bits >> (width - 1) & 1;
    const std::uint64_t payload = bits & ((1ull << fraction) - 1);
    return sign << 63 | 0x7FF0000000000000ull | payload << (52 - fraction);
}

void read_lanes(const Machine &m, std::uint32_t slot, unsigned width, std::uint64_t *out) {
    for (unsigned l = 0; l < kLanes; ++l) switch (width) {
            case 1: out[l] = m.source<std::uint8_t>(slot)[l]; break;
            case 2: out[l] = m.source<std::uint16_t>(slot)[l]; break;
            case 4: out[l] = m.source<std::uint32_t>(slot)[l]; break;
            default: out[l] = m.source<std::uint64_t>(slot)[l]; break;
        }
}

void write_lanes(Machine &m, std::uint32_t slot, unsigned width, const std::uint64_t *values) {
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        switch (width) {
            case 1: m.destination<std::uint8_t>(slot)[l] = static_cast<std::uint8_t>(values[l]); break;
            case 2: m.destination<std::uint16_t>(slot)[l] = static_cast<std::uint16_t>(values[l]); break;
            case 4: m.destination<std::uint32_t>(slot)[l] = static_cast<std::uint32_t>(values[l]); break;
            default: m.destination<std::uint64_t>(slot)[l] = values[l]; break;
        }
    }
}

std::int64_t extend(std::uint64_t value, unsigned type) {
    const unsigned shift = 64 - 8 * size_of(type);
    if (shift == 0) return static_cast<std::int64_t>(value);
    return is_signed(type) ? static_cast<std::int64_t>(value << shift) >> shift
                           : static_cast<std::int64_t>(value << shift >> shift);
}

double limit_low(unsigned type) {
    return is_signed(type) ? -std::ldexp(1.0, static_cast<int>(8 * size_of(type)) - 1) : 0.0;
}
double limit_high(unsigned type) {  // one above the largest
    const int bits = static_cast<int>(8 * size_of(type)) - (is_signed(type) ? 1 : 0);
    return std::ldexp(1.0, bits);
}

double round_to_integer(double value, unsigned rounding) {
    switch (rounding) {
        case 1: return std::trunc(value);
        case 2: return std::floor(value);
        case 3: return std::ceil(value);
        default: return std::nearbyint(value);
    }
}

std::uint64_t float_to_integer(double value, unsigned from, unsigned type, unsigned rounding) {
    if (std::isnan(value))  // from or to 64 bits: only the top bit of the result; otherwise 0
        return size_of(type) == 8 || from == kF64 ? 1ull << (8 * size_of(type) - 1) : 0;
    const double whole = round_to_integer(value, rounding);
    const unsigned bits = 8 * size_of(type);
    const std::uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (whole >= limit_high(type)) return is_signed(type) ? ones >> 1 : ones;
    if (whole < limit_low(type)) return is_signed(type) ? (ones >> 1) + 1 : 0;
    return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                           : static_cast<std::uint64_t>(whole);
}

std::uint64_t saturate_integer(std::int64_t value, unsigned from, unsigned to) {
    const bool large = !is_signed(from) && value < 0;  // an unsigned 64-bit above the signed ones
    const unsigned bits = 8 * size_of(to);
    const std::uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const std::uint64_t top = is_signed(to) ? ones >> 1 : ones;
    if (large || (value > 0 && static_cast<std::uint64_t>(value) > top))
        return large && top == ~0ull ? static_cast<std::uint64_t>(value) : top;
    if (value < 0) {
        if (!is_signed(to)) return 0;
        const std::int64_t low = -static_cast<std::int64_t>(top) - 1;
        if (value < low) return static_cast<std::uint64_t>(low);
    }
    return static_cast<std::uint64_t>(value);
}

// Which bits a NaN becomes: double precision keeps its payload and makes it quiet, and takes
// part of that from and to the others; the rest have one NaN only.
std::uint64_t convert_nan(std::uint64_t bits, unsigned from, unsigned to, const FloatMode &mode) {
    if (mode.saturate) return 0;
    const double canonical = std::numeric_limits<double>::quiet_NaN();
    if ((from != kF64 && to != kF64) || is_narrow_flush(from, mode)) {
        const std::uint64_t narrow = to_float(canonical, to == kF64 ? kF32 : to, mode);
        return to == kF64 ? widen_nan(narrow, kF32) : narrow;
    }
    const std::uint64_t wide = widen_nan(bits, from) | 0x0008000000000000ull;
    const std::uint64_t sign = wide >> 63, payload = wide & 0x000FFFFFFFFFFFFFull;
    switch (to) {
        case kF16: return sign << 15 | 0x7C00 | payload >> 42;
        case kBf16: return sign << 15 | 0x7F80 | payload >> 45;
        case kF32: return sign << 31 | 0x7F800000u | payload >> 29;
        default: return wide;
    }
}

// These only move bits, so that even a signalling NaN comes through.
bool moves_bits(unsigned from, unsigned to, const FloatMode &mode) {
    const bool plain = !mode.to_whole && !mode.saturate && !mode.flush && !mode.relu;
    return plain && ((from == to && (to == kF32 || to == kF64)) || (from == kBf16 && to == kF32));
}

std::uint64_t convert_float(std::uint64_t bits, unsigned from, unsigned to, const FloatMode &mode) {
    if (moves_bits(from, to, mode)) return from == kBf16 ? bits << 16 & 0xFFFFFFFFu : bits;
    double number = to_double(bits, from);
    if (std::isnan(number)) return convert_nan(bits, from, to, mode);
    // .ftz has no effect where the result is a half: its subnormals are far above.
    if (mode.flush && from == kF32 && to != kF16) number = flush(static_cast<float>(number));
    if (mode.to_whole) number = round_to_integer(number, mode.rounding);
    return to_float(number, to, mode);
}

// Slots: d, a. `width`: bytes of d's register; `count`: bytes of a's register. `immediate`:
// the float mode; bit 8 set: round a float to a whole number first.
void convert(Machine &m, const Inst &i) {
    const unsigned from = i.target & 255, to = i.target >> 8 & 255;
    const FloatMode mode(i.immediate);
    std::uint64_t values[kLanes];
    read_lanes(m, i.slots[1], i.count, values);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint64_t value = values[l];
        if (is_float(from)) {
            if (is_float(to)) {
                value = convert_float(value, from, to, mode);
            } else {
                double number = to_double(value, from);
                if (mode.flush && from == kF32) number = flush(static_cast<float>(number));
                value = float_to_integer(number, from, to, mode.rounding);
            }
        } else {
            const std::int64_t number = extend(value, from);
            if (is_float(to)) {
                value = integer_to_float(number, !is_signed(from), float_format(to), mode.rounding);
                if (mode.saturate) value = to_float(to_double(value, to), to, mode);
            } else {
                value = mode.saturate ? saturate_integer(number, from, to)
                                      : static_cast<std::uint64_t>(number);
            }
        }
        // The register may be wider than the type: extend by the destination's sign.
        if (!is_float(to)) value = static_cast<std::uint64_t>(extend(value, to));
        values[l] = value;
    }
    write_lanes(m, i.slots[0], i.width, values);
}

// mov between a wide register and a list of narrow ones. `width`: bytes of a narrow one.
// Two registers of 64 bits as one of 128, or the other way; `kPack` to one.
template <bool kPack>
void move_wide(Machine &m, const Inst &i, const std::uint32_t *parts) {
    std::uint64_t wide[2 * kLanes];
    for (unsigned n = 0; n < 2; ++n)
        for (unsigned l = 0; l < kLanes; ++l)
            wide[2 * l + n] = kPack ? m.source<std::uint64_t>(parts[n])[l]
                                    : m.source<std::uint64_t>(i.slots[1])[2 * l + n];
    for (unsigned n = 0; n < 2; ++n)
        for (unsigned l = 0; l < kLanes; ++l) {
            if (!(m.mask >> l & 1) || (!kPack && parts[n] == kNoSlot)) continue;
            (kPack ? m.destination<std::uint64_t>(i.slots[0])[2 * l + n]
                   : m.destination<std::uint64_t>(parts[n])[l]) = wide[2 * l + n];
        }
}

void pack(Machine &m, const Inst &i) {
    const std::uint32_t *parts = m.function->lists.data() + i.list;
    if (i.count == 16) return move_wide<true>(m, i, parts);
    std::uint64_t values[kLanes] = {};
    for (unsigned n = 0; n < i.list_size; ++n) {
        std::uint64_t part[kLanes];
        read_lanes(m, parts[n], i.width, part);
        for (unsigned l = 0; l < kLanes; ++l) values[l] |= part[l] << (8 * i.width * n);
    }
    write_lanes(m, i.slots[0], i.count, values);
}

void unpack(Machine &m, const Inst &i) {
    const std::uint32_t *parts = m.function->lists.data() + i.list;
    if (i.count == 16) return move_wide<false>(m, i, parts);
    std::uint64_t values[kLanes], part[kLanes];
    read_lanes(m, i.slots[1], i.count, values);
    for (unsigned n = 0; n < i.list_size; ++n) {
        if (parts[n] == kNoSlot) continue;
        for (unsigned l = 0; l < kLanes; ++l) part[l] = values[l] >> (8 * i.width * n);
        write_lanes(m, parts[n], i.width, part);
    }
}

}  // namespace

void add_convert_operations(OperationList &list) {
    list.push_back({"cvt", convert});
    list.push_back({"mov.b128", [](Machine &m, const Inst &i) {
        map1<Uint128, Uint128>(m, i, [](Uint128 a) { return a; });
    }});
    list.push_back({"pack", pack});
    list.push_back({"unpack", unpack});
}

}  // namespace ptxkit::sim
