// cvt to and from the formats that come in pairs (f16x2, bf16x2, e4m3x2, e5m2x2), and tf32.
#include <cmath>

#include "convert.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

using std::uint16_t, std::uint32_t, std::uint8_t;

double positive_part(double value, const FloatMode &mode) {
    return mode.relu && std::signbit(value) && !std::isnan(value) ? 0.0 : value;
}

struct E4m3 {
    static double widen(uint8_t bits) { return e4m3_to_double(bits); }
    static uint8_t narrow(double value) { return double_to_e4m3(value); }
};
struct E5m2 {
    static double widen(uint8_t bits) { return e5m2_to_double(bits); }
    static uint8_t narrow(double value) { return double_to_e5m2(value); }
};

// d = {a, b}: two single-precision numbers, a in the upper half.
template <unsigned kType>
void halves_of_singles(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map2<uint32_t, float, float>(m, i, [&](float a, float b) {
        return static_cast<uint32_t>(to_float(a, kType, mode) << 16 | to_float(b, kType, mode));
    });
}

template <class T>
void bytes_of_singles(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map2<uint16_t, float, float>(m, i, [&](float a, float b) {
        const unsigned high = T::narrow(positive_part(a, mode));
        return static_cast<uint16_t>(high << 8 | T::narrow(positive_part(b, mode)));
    });
}

template <class T>
void bytes_of_halves(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    const auto one = [&](uint32_t bits) {
        const double value = half_to_double(static_cast<uint16_t>(bits));
        return unsigned{T::narrow(positive_part(value, mode))};
    };
    map1<uint16_t, uint32_t>(m, i, [&](uint32_t a) {
        return static_cast<uint16_t>(one(a >> 16) << 8 | one(a & 0xFFFF));
    });
}

template <class T>
void halves_of_bytes(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    const auto one = [&](unsigned bits) {
        return static_cast<uint32_t>(to_float(T::widen(static_cast<uint8_t>(bits)), kF16, mode));
    };
    map1<uint32_t, uint16_t>(m, i, [&](uint16_t a) { return one(a >> 8u) << 16 | one(a & 255u); });
}

// tf32 keeps 10 bits of the fraction. .rna treats every bit pattern alike, so
// that a NaN is rounded, and made "finite", like a number.
uint32_t round_away(uint32_t bits, const FloatMode &mode) {
    constexpr uint32_t kStep = 0x2000, kInfinity = 0x7F800000;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t rounded = magnitude > kInfinity ? magnitude & ~(kStep - 1)
                                             : (magnitude + kStep / 2) & ~(kStep - 1);
    if (mode.finite && rounded >= kInfinity) rounded -= kStep;
    return (bits & 0x80000000u) | rounded;
}

uint32_t round_tf32(uint32_t bits, const FloatMode &mode) {
    constexpr uint32_t kStep = 0x2000;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return 0x7FFFE000u;
    if (mode.relu && bits >> 31) return 0;
    const uint32_t even = magnitude / kStep & 1;
    const uint32_t moved = mode.rounding == 0 ? magnitude + kStep / 2 - 1 + even : magnitude;
    uint32_t rounded = moved & ~(kStep - 1);
    if (mode.finite && rounded >= 0x7F800000u) rounded = 0x7F800000u - kStep;
    return (bits & 0x80000000u) | rounded;
}

}  // namespace

void add_narrow_operations(OperationList &list) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("cvt.f16x2.f32", halves_of_singles<kF16>);
    add("cvt.bf16x2.f32", halves_of_singles<kBf16>);
    add("cvt.e4m3x2.f32", bytes_of_singles<E4m3>);
    add("cvt.e5m2x2.f32", bytes_of_singles<E5m2>);
    add("cvt.e4m3x2.f16x2", bytes_of_halves<E4m3>);
    add("cvt.e5m2x2.f16x2", bytes_of_halves<E5m2>);
    add("cvt.f16x2.e4m3x2", halves_of_bytes<E4m3>);
    add("cvt.f16x2.e5m2x2", halves_of_bytes<E5m2>);
    add("cvt.rna.tf32.f32", [](Machine &m, const Inst &i) {
        const FloatMode mode(i.immediate);
        map1<uint32_t, uint32_t>(m, i, [&](uint32_t a) { return round_away(a, mode); });
    });
    add("cvt.tf32.f32", [](Machine &m, const Inst &i) {
        const FloatMode mode(i.immediate);
        map1<uint32_t, uint32_t>(m, i, [&](uint32_t a) { return round_tf32(a, mode); });
    });
}

}  // namespace ptxkit::sim
