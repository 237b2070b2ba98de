// Half precision and bfloat16, alone and in pairs. Every result is computed exactly, or
// rounded to odd, in double precision and rounded once to 16 bits.
#include <cmath>

#include "float_mode.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

using std::uint16_t, std::uint32_t;

constexpr uint16_t kNan = 0x7FFF;         // what every operation gives for a NaN
constexpr uint16_t kOutOfBounds = 0x7FF7; // the NaN, of either sign, that .oob takes for "none"

struct Half {
    static constexpr const char *kName = "f16";
    static constexpr uint16_t kExponent = 0x7C00;
    static constexpr double kLargest = 65504;
    static double widen(uint16_t bits) { return half_to_double(bits); }
    static uint16_t narrow(double value, unsigned rounding) { return double_to_half(value, rounding); }
};

struct Bfloat {
    static constexpr const char *kName = "bf16";
    static constexpr uint16_t kExponent = 0x7F80;
    static constexpr double kLargest = 0x1.FEp127;
    static double widen(uint16_t bits) { return bfloat_to_double(bits); }
    static uint16_t narrow(double value, unsigned rounding) { return double_to_bfloat(value, rounding); }
};

template <class T>
bool is_nan(uint16_t bits) { return (bits & 0x7FFF) > T::kExponent; }

template <class T>
uint16_t flush_bits(uint16_t bits) {
    return bits & T::kExponent ? bits : static_cast<uint16_t>(bits & 0x8000);
}

// d = f(elements of the sources): a pair is two neighbours, so a warp has 32 or 64 elements.
template <unsigned kPack, unsigned kSources, class F>
void map_elements(Machine &m, const Inst &i, F f) {
    const uint16_t *sources[kSources];
    for (unsigned n = 0; n < kSources; ++n) sources[n] = m.source<uint16_t>(i.slots[n + 1]);
    uint16_t *out = m.destination<uint16_t>(i.slots[0]);
    for (unsigned e = 0; e < kLanes * kPack; ++e) {
        if (!(m.mask >> (e / kPack) & 1)) continue;
        if constexpr (kSources == 1) out[e] = f(sources[0][e]);
        else if constexpr (kSources == 2) out[e] = f(sources[0][e], sources[1][e]);
        else out[e] = f(sources[0][e], sources[1][e], sources[2][e]);
    }
}

template <class T>
uint16_t finish(double value, const FloatMode &mode) {
    if (std::isnan(value)) return mode.saturate ? uint16_t{0} : kNan;
    if (mode.saturate) value = value > 1 ? 1.0 : value > 0 ? value : 0.0;
    uint16_t bits = T::narrow(value, mode.rounding);
    if (mode.flush) bits = flush_bits<T>(bits);
    return mode.relu && (bits & 0x8000) ? uint16_t{0} : bits;
}

template <class T>
double read(uint16_t bits, const FloatMode &mode) {
    return T::widen(mode.flush ? flush_bits<T>(bits) : bits);
}

// The function unit's results are of single precision, and cut, not rounded, to 16 bits.
template <class T, unsigned kPack, class F>
void truncated(Machine &m, const Inst &i, F f) {
    FloatMode mode(i.immediate);
    mode.rounding = 1;
    map_elements<kPack, 1>(m, i, [&](uint16_t a) {
        const auto value = static_cast<float>(f(read<T>(a, mode)));
        const bool too_large = value > static_cast<float>(T::kLargest);
        return too_large ? T::kExponent : finish<T>(value, mode);
    });
}

template <class T, unsigned kPack, class F>
void binary(Machine &m, const Inst &i, F f) {
    const FloatMode mode(i.immediate);
    map_elements<kPack, 2>(m, i, [&](uint16_t a, uint16_t b) {
        return finish<T>(f(read<T>(a, mode), read<T>(b, mode)), mode);
    });
}

bool is_missing(uint16_t a, uint16_t b) {
    return (a & 0x7FFF) == kOutOfBounds || (b & 0x7FFF) == kOutOfBounds;
}

// The product of two 11-bit significands is exact in a double; the sum rounds to odd.
template <class T, unsigned kPack>
void fused(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map_elements<kPack, 3>(m, i, [&](uint16_t a, uint16_t b, uint16_t c) {
        if (mode.out_of_bounds && is_missing(a, b)) return uint16_t{0};
        const double product = read<T>(a, mode) * read<T>(b, mode);
        return finish<T>(add_to_odd(product, read<T>(c, mode)), mode);
    });
}

// A number's place in the order of numbers, -0 before +0.
inline int order(uint16_t bits) { return bits & 0x8000 ? 0x7FFF - bits : bits; }

template <class T, unsigned kPack, bool kMaximum>
void extremum(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map_elements<kPack, 2>(m, i, [&](uint16_t a, uint16_t b) {
        if (mode.flush) a = flush_bits<T>(a), b = flush_bits<T>(b);
        const auto sign = static_cast<uint16_t>(mode.xor_sign ? (a ^ b) & 0x8000 : 0);
        if (mode.xor_sign) a &= 0x7FFF, b &= 0x7FFF;
        if (is_nan<T>(a) || is_nan<T>(b)) {
            if (mode.propagate_nan || (is_nan<T>(a) && is_nan<T>(b))) return kNan;
            return static_cast<uint16_t>((is_nan<T>(a) ? b : a) | sign);
        }
        return static_cast<uint16_t>(((order(a) < order(b)) == kMaximum ? b : a) | sign);
    });
}

// neg and abs: only the sign changes, but a NaN becomes the one NaN.
template <class T, unsigned kPack, bool kNegate>
void change_sign(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map_elements<kPack, 1>(m, i, [&](uint16_t a) {
        if (is_nan<T>(a)) return kNan;
        if (mode.flush) a = flush_bits<T>(a);
        return static_cast<uint16_t>(kNegate ? a ^ 0x8000 : a & 0x7FFF);
    });
}

template <class T, unsigned kPack>
void add_type(OperationList &list) {
    const std::string type = std::string(".") + T::kName + (kPack == 2 ? "x2" : "");
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("add", [](Machine &m, const Inst &i) {
        binary<T, kPack>(m, i, [](double a, double b) { return add_to_odd(a, b); });
    });
    add("sub", [](Machine &m, const Inst &i) {
        binary<T, kPack>(m, i, [](double a, double b) { return add_to_odd(a, -b); });
    });
    add("mul", [](Machine &m, const Inst &i) {
        binary<T, kPack>(m, i, [](double a, double b) { return a * b; });
    });
    add("fma", fused<T, kPack>);
    add("min", extremum<T, kPack, false>);
    add("max", extremum<T, kPack, true>);
    add("neg", change_sign<T, kPack, true>);
    add("abs", change_sign<T, kPack, false>);
    add("ex2", [](Machine &m, const Inst &i) {
        truncated<T, kPack>(m, i, [](double a) { return std::exp2(a); });
    });
    add("tanh", [](Machine &m, const Inst &i) {
        truncated<T, kPack>(m, i, [](double a) { return std::tanh(a); });
    });
}

}  // namespace

void add_half_operations(OperationList &list) {
    add_type<Half, 1>(list), add_type<Half, 2>(list);
    add_type<Bfloat, 1>(list), add_type<Bfloat, 2>(list);
}

}  // namespace ptxkit::sim
