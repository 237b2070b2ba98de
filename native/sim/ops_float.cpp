// Single and double precision. Compiled without contraction and with dynamic rounding.
#include <bit>
#include <cfenv>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "float_mode.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

template <class T>
T finish(T value, const FloatMode &mode) {
    if (std::isnan(value)) return mode.saturate ? T{0} : canonical_nan<T>();
    if (mode.flush) value = flush(value);
    if (mode.saturate) value = value > T{1} ? T{1} : value > T{0} ? value : T{0};
    return value;
}

// What a NaN result is: single precision has one NaN; double precision makes an operand's
// quiet, the first of `operands` that is one, or gives the default.
template <class T>
T nan_of(std::initializer_list<T> operands) {
    if constexpr (sizeof(T) == 8)
        for (const T value : operands)
            if (std::isnan(value))
                return std::bit_cast<T>(std::bit_cast<std::uint64_t>(value) | 0x0008000000000000ull);
    return canonical_nan<T>();
}

template <class T>
T finish(T value, const FloatMode &mode, std::initializer_list<T> operands) {
    if constexpr (sizeof(T) == 8)
        return std::isnan(value) ? nan_of(operands) : value;
    else
        return finish(value, mode);
}

template <class T, class F>
void unary(Machine &m, const Inst &i, F f) {
    const FloatMode mode(i.immediate);
    const Rounding rounding(mode.rounding);
    map1<T, T>(m, i, [&](T a) { return finish<T>(f(mode.flush ? flush(a) : a), mode, {a}); });
}

// `kFirst`: of two NaNs the first operand's is the result; sums and products take the second.
template <class T, bool kFirst = false, class F>
void binary(Machine &m, const Inst &i, F f) {
    const FloatMode mode(i.immediate);
    const Rounding rounding(mode.rounding);
    map2<T, T, T>(m, i, [&](T a, T b) {
        if (mode.flush) a = flush(a), b = flush(b);
        return kFirst ? finish<T>(f(a, b), mode, {a, b}) : finish<T>(f(a, b), mode, {b, a});
    });
}

template <class T>
void fma_portable(const T *a, const T *b, const T *c, T *d) {
    for (unsigned l = 0; l < kLanes; ++l) d[l] = std::fma(a[l], b[l], c[l]);
}

// The one loop that matters most: where the processor has an fma of its own, it is used.
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
__attribute__((target("avx2,fma"))) void fma_native(const T *a, const T *b, const T *c, T *d) {
    for (unsigned l = 0; l < kLanes; ++l) {
        if constexpr (sizeof(T) == 4) d[l] = __builtin_fmaf(a[l], b[l], c[l]);
        else d[l] = __builtin_fma(a[l], b[l], c[l]);
    }
}

template <class T>
void fma_lanes(const T *a, const T *b, const T *c, T *d) {
    static const bool native = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
    (native ? fma_native<T> : fma_portable<T>)(a, b, c, d);
}
#else
template <class T>
void fma_lanes(const T *a, const T *b, const T *c, T *d) { fma_portable(a, b, c, d); }
#endif

template <class T>
void fused(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    const Rounding rounding(mode.rounding);
    const T *a = m.source<T>(i.slots[1]);
    const T *b = m.source<T>(i.slots[2]);
    const T *c = m.source<T>(i.slots[3]);
    T result[kLanes];
    if (mode.flush) {
        T x[kLanes], y[kLanes], z[kLanes];
        for (unsigned l = 0; l < kLanes; ++l)
            x[l] = flush(a[l]), y[l] = flush(b[l]), z[l] = flush(c[l]);
        fma_lanes(x, y, z, result);
    } else {
        fma_lanes(a, b, c, result);
    }
    for (unsigned l = 0; l < kLanes; ++l)
        result[l] = finish<T>(result[l], mode, {b[l], c[l], a[l]});
    put(m, m.destination<T>(i.slots[0]), result);
}

// min and max: -0 is below +0; a NaN loses, unless .NaN says that it wins.
template <class T, bool kMaximum>
void extremum(Machine &m, const Inst &i) {
    const FloatMode mode(i.immediate);
    map2<T, T, T>(m, i, [&](T a, T b) {
        if (mode.flush) a = flush(a), b = flush(b);
        const bool sign = mode.xor_sign && (std::signbit(a) != std::signbit(b));
        if (mode.xor_sign) a = std::fabs(a), b = std::fabs(b);
        T value;
        if (std::isnan(a) || std::isnan(b)) {
            if (mode.propagate_nan || (std::isnan(a) && std::isnan(b))) return nan_of({b, a});
            value = std::isnan(a) ? b : a;
        } else if (a == b) {
            value = std::signbit(a) == kMaximum ? b : a;
        } else {
            value = (a < b) == kMaximum ? b : a;
        }
        return mode.xor_sign ? std::copysign(value, sign ? T{-1} : T{1}) : value;
    });
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
void add_type(OperationList &list, const std::string &type) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("add.", [](Machine &m, const Inst &i) { binary<T>(m, i, [](T a, T b) { return a + b; }); });
    add("sub.", [](Machine &m, const Inst &i) { binary<T>(m, i, [](T a, T b) { return a - b; }); });
    add("mul.", [](Machine &m, const Inst &i) { binary<T>(m, i, [](T a, T b) { return a * b; }); });
    add("div.", [](Machine &m, const Inst &i) { binary<T, true>(m, i, [](T a, T b) { return a / b; }); });
    add("fma.", fused<T>);
    add("min.", extremum<T, false>);
    add("max.", extremum<T, true>);
    add("rcp.", [](Machine &m, const Inst &i) { unary<T>(m, i, [](T a) { return T{1} / a; }); });
    add("sqrt.", [](Machine &m, const Inst &i) {
        unary<T>(m, i, [](T a) { return std::sqrt(a); });
    });
    add("rsqrt.", [](Machine &m, const Inst &i) {
        unary<T>(m, i, [](T a) {
            if (a == 0) return std::copysign(std::numeric_limits<T>::infinity(), a);
            return T{1} / std::sqrt(a);
        });
    });
    // These are additions of zero on the device: a NaN is made quiet, its sign stays.
    add("abs.", [](Machine &m, const Inst &i) {
        const FloatMode mode(i.immediate);
        map1<T, T>(m, i, [&](T a) {
            return std::isnan(a) ? nan_of({a}) : std::fabs(mode.flush ? flush(a) : a);
        });
    });
    add("neg.", [](Machine &m, const Inst &i) {
        const FloatMode mode(i.immediate);
        map1<T, T>(m, i, [&](T a) { return std::isnan(a) ? nan_of({a}) : -(mode.flush ? flush(a) : a); });
    });
    add("copysign.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) {
            constexpr auto sign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
            const auto x = std::bit_cast<BitsOf<T>>(a), y = std::bit_cast<BitsOf<T>>(b);
            return std::bit_cast<T>((x & sign) | (y & ~sign));
        });
    });
}

// testp: which of finite, infinite, number, notanumber, normal, subnormal.
template <class T>
void test_property(Machine &m, const Inst &i) {
    const T *a = m.source<T>(i.slots[1]);
    std::uint32_t found = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        const int kind = std::fpclassify(a[l]);
        const bool answers[] = {kind != FP_NAN && kind != FP_INFINITE, kind == FP_INFINITE,
                                kind != FP_NAN, kind == FP_NAN,
                                kind == FP_NORMAL || kind == FP_ZERO, kind == FP_SUBNORMAL};
        found |= static_cast<std::uint32_t>(answers[i.immediate]) << l;
    }
    put_predicate(m, i.slots[0], found);
}

}  // namespace

void add_float_operations(OperationList &list) {
    add_type<float>(list, "f32");
    add_type<double>(list, "f64");
    list.push_back({"testp.f32", test_property<float>});
    list.push_back({"testp.f64", test_property<double>});
}

}  // namespace ptxkit::sim
