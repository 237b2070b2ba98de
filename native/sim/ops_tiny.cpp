// cvt to and from pairs in the formats of the Blackwell generation: e2m3, e3m2, e2m1, ue8m0, and
// bfloat16 to and from those of 8 bits. No GPU has been compared with these.
#include <cmath>

#include "convert.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// Inst::target: the source's format in the low byte, the result's in the next.
enum Tiny : unsigned { kSingle, kHalf, kBfloat, kE4m3, kE5m2, kE2m3, kE3m2, kE2m1, kUe8m0 };

constexpr unsigned kBits[] = {32, 16, 16, 8, 8, 8, 8, 4, 8};

// A power of two, or a NaN.
double ue8m0_to_double(std::uint8_t bits) {
    return bits == 255 ? canonical_nan<double>() : std::ldexp(1.0, bits - 127);
}

// The exponent of a magnitude; `up`: that of the next power of two.
std::uint8_t double_to_ue8m0(double value, bool up, bool finite) {
    if (std::isnan(value)) return 255;
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return finite ? 254 : 255;
    if (magnitude <= 0x1p-127) return 0;
    int exponent = 0;
    const double fraction = std::frexp(magnitude, &exponent);  // 0.5 to 1
    const int power = exponent - 1 + (up && fraction != 0.5);
    if (power < -127) return 0;
    if (power > 127) return finite ? 254 : 255;
    return static_cast<std::uint8_t>(power + 127);
}

double widen(std::uint32_t bits, unsigned format) {
    const auto byte = static_cast<std::uint8_t>(bits);
    switch (format) {
        case kSingle: return std::bit_cast<float>(bits);
        case kHalf: return half_to_double(static_cast<std::uint16_t>(bits));
        case kBfloat: return bfloat_to_double(static_cast<std::uint16_t>(bits));
        case kE4m3: return e4m3_to_double(byte);
        case kE5m2: return e5m2_to_double(byte);
        case kE2m3: return tiny_to_double(byte, 2, 3);
        case kE3m2: return tiny_to_double(byte, 3, 2);
        case kE2m1: return tiny_to_double(byte, 2, 1);
        default: return ue8m0_to_double(byte);
    }
}

std::uint32_t narrow(double value, unsigned format, const FloatMode &mode) {
    if (format == kUe8m0) return double_to_ue8m0(value, mode.rounding == 3, mode.finite);
    if (format == kHalf || format == kBfloat)
        return static_cast<std::uint32_t>(to_float(value, format == kHalf ? kF16 : kBf16, mode));
    if (mode.relu && std::signbit(value) && !std::isnan(value)) value = 0;
    switch (format) {
        case kE4m3: return double_to_e4m3(value);
        case kE5m2: return double_to_e5m2(value);
        case kE2m3: return double_to_tiny(value, 2, 3);
        case kE3m2: return double_to_tiny(value, 3, 2);
        default: return double_to_tiny(value, 2, 1);
    }
}

template <class T>
std::uint32_t read(const Machine &m, std::uint32_t slot, unsigned lane) {
    return m.source<T>(slot)[lane];
}

std::uint32_t read_register(const Machine &m, std::uint32_t slot, unsigned bytes, unsigned lane) {
    return bytes == 1   ? read<std::uint8_t>(m, slot, lane)
           : bytes == 2 ? read<std::uint16_t>(m, slot, lane)
                        : read<std::uint32_t>(m, slot, lane);
}

// Slots: d, a, b, scale; b is there for two single-precision numbers, a scale (a pair of powers of
// two) for some. `width`: bytes of d, `count`: bytes of a.
void convert_pairs(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    const unsigned from = i.target & 255, to = i.target >> 8 & 255;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint32_t result = 0;
        for (unsigned n = 0; n < 2; ++n) {
            std::uint32_t bits;
            if (from == kSingle)
                bits = read<std::uint32_t>(m, i.slots[n == 0 ? 2 : 1], l);
            else
                bits = read_register(m, i.slots[1], i.count, l) >> (n * kBits[from]) &
                       ((1u << kBits[from]) - 1);
            double value = widen(bits, from);
            if (i.slots[3] != kNoSlot)
                value *= ue8m0_to_double(
                    static_cast<std::uint8_t>(read<std::uint16_t>(m, i.slots[3], l) >> (8 * n)));
            result |= narrow(value, to, mode) << (n * kBits[to]);
        }
        switch (i.width) {
            case 1: m.destination<std::uint8_t>(i.slots[0])[l] = static_cast<std::uint8_t>(result); break;
            case 2: m.destination<std::uint16_t>(i.slots[0])[l] = static_cast<std::uint16_t>(result); break;
            default: m.destination<std::uint32_t>(i.slots[0])[l] = result; break;
        }
    }
}

}  // namespace

void add_tiny_operations(OperationList &list) { list.push_back({"cvt.pairs", convert_pairs}); }

}  // namespace ptxkit::sim
