// Comparisons, predicates.
#include <bit>
#include <cmath>
#include <type_traits>

#include "float_mode.hpp"
#include "half.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// setp: p and q from a comparison and, with a boolean operator, a further predicate.
// Slots: p, q, a, b, c. `immediate`: bits 0-1 the operator, bit 2 flush.
void set_predicates(Machine &m, const Inst &i, std::uint32_t p, std::uint32_t q) {
    const std::uint32_t c = i.slots[4] == kNoSlot ? 0 : m.predicate(i.slots[4]);
    switch (i.immediate & 3) {
        case 1: p &= c, q &= c; break;
        case 2: p |= c, q |= c; break;
        case 3: p ^= c, q ^= c; break;
        default: break;
    }
    put_predicate(m, i.slots[0], p);
    put_predicate(m, i.slots[1], q);
}

// The comparisons. The unordered ones hold for a NaN, the ordered ones do not; for integers
// there is no difference.
struct Equal { template <class T> static bool holds(T a, T b) { return a == b; } };
struct NotEqual { template <class T> static bool holds(T a, T b) { return a < b || a > b; } };
struct Less { template <class T> static bool holds(T a, T b) { return a < b; } };
struct LessEqual { template <class T> static bool holds(T a, T b) { return a <= b; } };
struct Greater { template <class T> static bool holds(T a, T b) { return a > b; } };
struct GreaterEqual { template <class T> static bool holds(T a, T b) { return a >= b; } };
template <class C>
struct Not { template <class T> static bool holds(T a, T b) { return !C::holds(a, b); } };
struct Ordered { template <class T> static bool holds(T a, T b) { return !std::isnan(a) && !std::isnan(b); } };

// How an element of a type is read from its register.
template <class T>
struct Plain {
    using Bits = T;
    static T read(T value, bool ftz) {
        if constexpr (std::is_floating_point_v<T>) return ftz ? flush(value) : value;
        else return value;
    }
};
struct HalfType {
    using Bits = std::uint16_t;
    static float read(Bits value, bool ftz) {
        if (ftz && !(value & 0x7C00)) value &= 0x8000;
        return static_cast<float>(half_to_double(value));
    }
};
struct BfloatType {
    using Bits = std::uint16_t;
    static float read(Bits value, bool) { return std::bit_cast<float>(std::uint32_t{value} << 16); }
};

template <class Type, class Comparison>
void compare(Machine &m, const Inst &i) {
    using Bits = typename Type::Bits;
    const bool ftz = i.immediate & 4;
    const std::uint32_t found =
        mask2(m.source<Bits>(i.slots[2]), m.source<Bits>(i.slots[3]), [&](Bits a, Bits b) {
            return Comparison::holds(Type::read(a, ftz), Type::read(b, ftz));
        });
    set_predicates(m, i, found, ~found);
}

// Pairs: p is for the lower halves, q for the upper ones.
template <class Type, class Comparison>
void compare_pairs(Machine &m, const Inst &i) {
    const bool ftz = i.immediate & 4;
    const std::uint16_t *a = m.source<std::uint16_t>(i.slots[2]);
    const std::uint16_t *b = m.source<std::uint16_t>(i.slots[3]);
    std::uint32_t found[2] = {0, 0};
    for (unsigned e = 0; e < 2 * kLanes; ++e) {
        const bool holds = Comparison::holds(Type::read(a[e], ftz), Type::read(b[e], ftz));
        found[e % 2] |= static_cast<std::uint32_t>(holds) << (e / 2);
    }
    set_predicates(m, i, found[0], found[1]);
}

template <class T>
void add_integer(OperationList &list, const std::string &type) {
    const auto add = [&](const std::string &name, Operation op) {
        list.push_back({"setp." + name + "." + type, op});
    };
    using P = Plain<T>;
    add("eq", compare<P, Equal>), add("ne", compare<P, NotEqual>);
    add("lt", compare<P, Less>), add("lo", compare<P, Less>);
    add("le", compare<P, LessEqual>), add("ls", compare<P, LessEqual>);
    add("gt", compare<P, Greater>), add("hi", compare<P, Greater>);
    add("ge", compare<P, GreaterEqual>), add("hs", compare<P, GreaterEqual>);
}

// One row for every comparison of floats; `kPairs` for two in a register.
template <class Type, bool kPairs = false>
void add_float(OperationList &list, const std::string &type) {
    const auto add = [&]<class C>(const char *name, C) {
        const Operation op = [] {
            if constexpr (kPairs) return compare_pairs<Type, C>;
            else return compare<Type, C>;
        }();
        list.push_back({std::string("setp.") + name + "." + type, op});
    };
    add("eq", Equal{}), add("ne", NotEqual{});
    add("lt", Less{}), add("le", LessEqual{});
    add("gt", Greater{}), add("ge", GreaterEqual{});
    add("equ", Not<NotEqual>{}), add("neu", Not<Equal>{});
    add("ltu", Not<GreaterEqual>{}), add("leu", Not<Greater>{});
    add("gtu", Not<LessEqual>{}), add("geu", Not<Less>{});
    add("num", Ordered{}), add("nan", Not<Ordered>{});
}

// slct by a float: a where c >= 0.
template <class T>
void select_by_sign(Machine &m, const Inst &i) {
    const bool ftz = i.immediate & 4;
    map3<T, T, T, float>(
        m, i, [&](T a, T b, float c) { return (ftz ? flush(c) : c) >= 0 ? a : b; });
}

template <class F>
void predicates(Machine &m, const Inst &i, F f) {
    const std::uint32_t a = m.predicate(i.slots[1]);
    const std::uint32_t b = i.slots[2] == kNoSlot ? 0 : m.predicate(i.slots[2]);
    put_predicate(m, i.slots[0], f(a, b));
}

}  // namespace

void add_compare_operations(OperationList &list) {
    using std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;
    add_integer<uint16_t>(list, "u16"), add_integer<int16_t>(list, "s16");
    add_integer<uint32_t>(list, "u32"), add_integer<int32_t>(list, "s32");
    add_integer<uint64_t>(list, "u64"), add_integer<int64_t>(list, "s64");
    add_integer<uint16_t>(list, "b16"), add_integer<uint32_t>(list, "b32");
    add_integer<uint64_t>(list, "b64");
    add_float<Plain<float>>(list, "f32"), add_float<Plain<double>>(list, "f64");
    add_float<HalfType>(list, "f16"), add_float<HalfType, true>(list, "f16x2");
    add_float<BfloatType>(list, "bf16"), add_float<BfloatType, true>(list, "bf16x2");
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("slct.b16.f32", select_by_sign<uint16_t>);
    add("slct.b32.f32", select_by_sign<uint32_t>);
    add("slct.b64.f32", select_by_sign<uint64_t>);
    add("and.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a & b; }); });
    add("or.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a | b; }); });
    add("xor.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a ^ b; }); });
    add("not.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t) { return ~a; }); });
    add("mov.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t) { return a; }); });
}

}  // namespace ptxkit::sim
