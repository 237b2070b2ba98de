// The approximations. They are computed in double precision and rounded once, which is closer
// to the true value than the hardware's tables; what the hardware does with special values,
// with subnormal ones and with ranges is done as it does it. docs/simulator.md has the errors.
#include <cmath>
#include <limits>

#include "float_mode.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float finish(double value, bool ftz) {
    if (std::isnan(value)) return canonical_nan<float>();
    const auto narrow = static_cast<float>(value);
    return ftz ? flush(narrow) : narrow;
}

template <class F>
void approximate(Machine &m, const Inst &i, F f) {
    const bool ftz = FloatMode(i.immediate).flush;
    map1<float, float>(m, i, [&](float a) {
        return finish(f(static_cast<double>(ftz ? flush(a) : a)), ftz);
    });
}

// sin and cos see the angle in turns, multiplied by 1 / 2 pi in single precision first.
float turns(float angle, bool ftz) {
    constexpr float kTurn = 0.15915493667125701904f;
    if (ftz) angle = flush(angle);
    const double exact = static_cast<double>(angle) * static_cast<double>(kTurn);
    auto product = static_cast<float>(exact);
    // Rounded to zero, as the multiplication in front of the table is.
    if (std::fabs(static_cast<double>(product)) > std::fabs(exact)) product = std::nextafter(product, 0.0f);
    return ftz ? flush(product) : product;
}

template <class F>
void trigonometric(Machine &m, const Inst &i, F f) {
    const bool ftz = FloatMode(i.immediate).flush;
    map1<float, float>(m, i, [&](float a) {
        const float turn = turns(a, ftz);
        if (!std::isfinite(turn)) return canonical_nan<float>();
        constexpr double kCircle = 6.283185307179586477;
        const double part = static_cast<double>(turn) - std::floor(static_cast<double>(turn));
        return finish(f(part * kCircle), ftz);
    });
}

// div.approx multiplies by the reciprocal. With .ftz a reciprocal that is subnormal counts as
// 0, so that a large divisor gives 0; without, both are scaled first.
float divide_by_reciprocal(float a, float b, bool ftz) {
    if (!ftz) return finish(static_cast<double>(a) / static_cast<double>(b), false);
    const float reciprocal = flush(1.0f / flush(b));
    return finish(static_cast<double>(flush(a)) * static_cast<double>(reciprocal), true);
}

float divide_full(float a, float b, bool ftz) {
    if (ftz) a = flush(a), b = flush(b);
    return finish(static_cast<double>(a) / static_cast<double>(b), ftz);
}

template <class F>
void divide(Machine &m, const Inst &i, F f) {
    const bool ftz = FloatMode(i.immediate).flush;
    map2<float, float, float>(m, i, [&](float a, float b) { return f(a, b, ftz); });
}

double reciprocal_root(double a) {
    if (a == 0) return std::copysign(std::numeric_limits<double>::infinity(), a);
    return 1.0 / std::sqrt(a);
}

// The .ftz forms in double precision work on the upper halves of the registers alone.
template <class F>
void upper_half(Machine &m, const Inst &i, F f) {
    map1<double, double>(m, i, [&](double a) {
        auto bits = std::bit_cast<std::uint64_t>(a) & 0xFFFFFFFF00000000ull;
        if ((bits & 0x7FF0000000000000ull) == 0) bits &= 0x8000000000000000ull;
        const double value = f(std::bit_cast<double>(bits));
        if (std::isnan(value)) return std::bit_cast<double>(0x7FFFFFFF00000000ull);
        auto result = std::bit_cast<std::uint64_t>(value);
        if ((result & 0x7FF0000000000000ull) == 0) result &= 0x8000000000000000ull;
        return std::bit_cast<double>(result & 0xFFFFFFFF00000000ull);
    });
}

}  // namespace

void add_approximate_operations(OperationList &list) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("rcp.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, [](double a) { return 1.0 / a; }); });
    add("sqrt.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, [](double a) { return std::sqrt(a); }); });
    add("rsqrt.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, reciprocal_root); });
    add("lg2.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, [](double a) { return std::log2(a); }); });
    add("ex2.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, [](double a) { return std::exp2(a); }); });
    add("tanh.approx.f32", [](Machine &m, const Inst &i) { approximate(m, i, [](double a) { return std::tanh(a); }); });
    add("sin.approx.f32", [](Machine &m, const Inst &i) { trigonometric(m, i, [](double a) { return std::sin(a); }); });
    add("cos.approx.f32", [](Machine &m, const Inst &i) { trigonometric(m, i, [](double a) { return std::cos(a); }); });
    add("div.approx.f32", [](Machine &m, const Inst &i) { divide(m, i, divide_by_reciprocal); });
    add("div.full.f32", [](Machine &m, const Inst &i) { divide(m, i, divide_full); });
    add("rcp.approx.f64", [](Machine &m, const Inst &i) { upper_half(m, i, [](double a) { return 1.0 / a; }); });
    add("rsqrt.approx.ftz.f64", [](Machine &m, const Inst &i) { upper_half(m, i, reciprocal_root); });
}

}  // namespace ptxkit::sim
