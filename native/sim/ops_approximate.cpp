// The approximations. Each is the sequence that ptxas makes: the operand scaled away from what
// the hardware's function unit cannot take, the unit, and the result scaled back. The unit
// itself interpolates in tables; here its functions are rounded correctly instead, which is
// nearer to the true value. docs/simulator.md lists what that makes of an error.
#include <cmath>
#include <limits>

#include "float_mode.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

constexpr float kSmallest = 0x1p-126f;  // normal
constexpr double kCircle = 6.283185307179586477;

// The function unit: subnormal operands and results are zeros of their sign.
template <class F>
float unit(float a, F f) {
    const double value = f(static_cast<double>(flush(a)));
    return std::isnan(value) ? canonical_nan<float>() : flush(static_cast<float>(value));
}

float unit_reciprocal(float a) { return unit(a, [](double x) { return 1.0 / x; }); }
float unit_root(float a) { return unit(a, [](double x) { return std::sqrt(x); }); }
double reciprocal_root(double a) {
    if (a == 0) return std::copysign(std::numeric_limits<double>::infinity(), a);
    return 1.0 / std::sqrt(a);
}
float unit_reciprocal_root(float a) { return unit(a, reciprocal_root); }
float unit_logarithm(float a) { return unit(a, [](double x) { return std::log2(x); }); }
float unit_power(float a) { return unit(a, [](double x) { return std::exp2(x); }); }

bool is_small(float a) { return std::fabs(a) < kSmallest; }

float multiply(float a, float b, bool ftz) {
    const float product = ftz ? flush(flush(a) * flush(b)) : a * b;
    return std::isnan(product) ? canonical_nan<float>() : product;
}

float reciprocal(float a, bool ftz) {
    if (ftz) return unit_reciprocal(a);
    const float scale = is_small(a) ? 0x1p24f : std::fabs(a) > 0x1p126f ? 0.25f : 1.0f;
    return multiply(scale, unit_reciprocal(a * scale), false);
}

float root(float a, bool ftz) {
    if (ftz || !is_small(a)) return unit_root(a);
    return multiply(unit_root(a * 0x1p24f), 0x1p-12f, false);
}

float inverse_root(float a, bool ftz) {
    if (ftz || !is_small(a)) return unit_reciprocal_root(a);
    return multiply(unit_reciprocal_root(a * 0x1p24f), 0x1p12f, false);
}

float logarithm(float a, bool ftz) {
    if (ftz || !is_small(a)) return unit_logarithm(a);
    const float value = unit_logarithm(a * 0x1p24f) - 24.0f;
    return std::isnan(value) ? canonical_nan<float>() : value;
}

float power(float a, bool ftz) {
    if (ftz || !(a < -126.0f)) return unit_power(a);
    const float half = unit_power(a * 0.5f);
    return multiply(half, half, false);
}

float hyperbolic_tangent(float a, bool) {
    if (is_small(a)) return a;  // exact where the others flush
    return unit(a, [](double x) { return std::tanh(x); });
}

// sin and cos see the angle in turns: the product with 1 / 2 pi, rounded to zero.
float turns(float angle) {
    constexpr float kTurn = 0.15915493667125701904f;
    const double exact = static_cast<double>(angle) * static_cast<double>(kTurn);
    const auto product = static_cast<float>(exact);
    const bool away = std::fabs(static_cast<double>(product)) > std::fabs(exact);
    return flush(away ? std::nextafter(product, 0.0f) : product);
}

// The unit cuts the turns to 25 bits after the point and works within a quarter: `quarter` 0
// is a sine, 1 a cosine, 2 and 3 their negatives.
float unit_wave(float turn, unsigned quarter) {
    if (!std::isfinite(turn)) return canonical_nan<float>();
    const double whole = std::trunc(std::fabs(static_cast<double>(turn)) * 0x1p25);
    const double part = std::fmod(whole * 0x1p-25, 1.0) * 4;
    quarter += static_cast<unsigned>(part);
    const double angle = (part - std::floor(part)) * (kCircle / 4);
    const double value = quarter & 1 ? std::cos(angle) : std::sin(angle);
    return static_cast<float>(quarter & 2 ? -value : value);
}

float sine(float a, bool) {
    const float turn = turns(a);
    const float value = unit_wave(turn, 0);
    return std::signbit(turn) && !std::isnan(value) ? -value : value;
}

float cosine(float a, bool) { return unit_wave(turns(a), 1); }

// A divisor past 2^126 has a subnormal reciprocal, which is 0: div.approx gives 0 for it, and
// div.full scales first.
float divide_approximately(float a, float b, bool ftz) {
    if (!ftz && is_small(b)) a *= 0x1p24f, b *= 0x1p24f;
    return multiply(unit_reciprocal(b), a, ftz);
}

float divide_full(float a, float b, bool ftz) {
    if (std::fabs(b) > 0x1p126f) a = multiply(a, 0.25f, ftz), b *= 0.25f;
    return divide_approximately(a, b, ftz);
}

template <float (*kFunction)(float, bool)>
void unary(Machine &m, const Inst &i) {
    const bool ftz = FloatMode(i.immediate).flush;
    map1<float, float>(m, i, [&](float a) { return kFunction(a, ftz); });
}

template <float (*kFunction)(float, float, bool)>
void binary(Machine &m, const Inst &i) {
    const bool ftz = FloatMode(i.immediate).flush;
    map2<float, float, float>(m, i, [&](float a, float b) { return kFunction(a, b, ftz); });
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
    add("rcp.approx.f32", unary<reciprocal>);
    add("sqrt.approx.f32", unary<root>);
    add("rsqrt.approx.f32", unary<inverse_root>);
    add("lg2.approx.f32", unary<logarithm>);
    add("ex2.approx.f32", unary<power>);
    add("tanh.approx.f32", unary<hyperbolic_tangent>);
    add("sin.approx.f32", unary<sine>);
    add("cos.approx.f32", unary<cosine>);
    add("div.approx.f32", binary<divide_approximately>);
    add("div.full.f32", binary<divide_full>);
    add("rcp.approx.f64", [](Machine &m, const Inst &i) {
        upper_half(m, i, [](double a) { return 1.0 / a; });
    });
    add("rsqrt.approx.ftz.f64", [](Machine &m, const Inst &i) { upper_half(m, i, reciprocal_root); });
}

}  // namespace ptxkit::sim
