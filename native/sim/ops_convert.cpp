// cvt between integers and floats, and the moving of bits between widths.
#include <cmath>
#include <cstring>
#include <limits>

#include "float_mode.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// The numbers of types in Inst::target: source in the low byte, destination in the next.
enum Type : unsigned { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBf16, kF32, kF64 };

unsigned size_of(unsigned type) {
    static constexpr unsigned kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return kSizes[type];
}
bool is_signed(unsigned type) { return type <= kS64 && (type & 1); }
bool is_float(unsigned type) { return type >= kF16; }

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

double to_double(std::uint64_t value, unsigned type) {
    switch (type) {
        case kF16: return half_to_double(static_cast<std::uint16_t>(value));
        case kBf16: return bfloat_to_double(static_cast<std::uint16_t>(value));
        case kF32: return std::bit_cast<float>(static_cast<std::uint32_t>(value));
        default: return std::bit_cast<double>(value);
    }
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

std::uint64_t float_to_integer(double value, unsigned type, unsigned rounding) {
    if (std::isnan(value))  // 64-bit results are the integer indefinite, others zero
        return size_of(type) == 8 ? 0x8000000000000000ull : 0;
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

// Round a double to a narrower float; `exact` sources need no care about double rounding.
std::uint64_t to_float(double value, unsigned type, const FloatMode &mode) {
    if (std::isnan(value)) {
        if (mode.saturate) return 0;
        if (type == kF16 || type == kBf16) return 0x7FFF;
        return type == kF32 ? 0x7FFFFFFFu : std::bit_cast<std::uint64_t>(canonical_nan<double>());
    }
    if (mode.relu && (value < 0 || (value == 0 && std::signbit(value)))) value = 0;
    if (mode.saturate) value = value > 1 ? 1.0 : value > 0 ? value : 0.0;
    if (type == kF16) return double_to_half(value, mode.rounding);
    if (type == kBf16) return double_to_bfloat(value, mode.rounding);
    if (type == kF32) {
        const Rounding rounding(mode.rounding);
        volatile double source = value;
        auto narrow = static_cast<float>(source);
        if (mode.flush) narrow = flush(narrow);
        return std::bit_cast<std::uint32_t>(narrow);
    }
    return std::bit_cast<std::uint64_t>(value);
}

// Slots: d, a. `width`: bytes of d's register; `count`: bytes of a's register. `immediate`:
// the float mode; bit 8 set: round a float to a whole number first.
void convert(Machine &m, const Inst &i) {
    const unsigned from = i.target & 255, to = i.target >> 8 & 255;
    const FloatMode mode(i.immediate);
    const bool to_whole = i.immediate & 256;
    std::uint64_t values[kLanes];
    read_lanes(m, i.slots[1], i.count, values);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint64_t value = values[l];
        if (is_float(from)) {
            double number = to_double(value, from);
            if (mode.flush && from == kF32) number = flush(static_cast<float>(number));
            if (is_float(to)) {
                if (to_whole && !std::isnan(number)) number = round_to_integer(number, mode.rounding);
                value = to_float(number, to, mode);
            } else {
                value = float_to_integer(number, to, mode.rounding);
            }
        } else {
            const std::int64_t number = extend(value, from);
            if (is_float(to)) {
                value = integer_to_float(number, !is_signed(from), to == kF64 ? 64 : to == kF32 ? 32 : to == kF16 ? 16 : 17, mode.rounding);
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
void pack(Machine &m, const Inst &i) {
    const std::uint32_t *parts = m.function->lists.data() + i.list;
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
    list.push_back({"pack", pack});
    list.push_back({"unpack", unpack});
}

}  // namespace ptxkit::sim
