// Comparisons, predicates.
#include <cmath>

#include "float_mode.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// setp: p and q from a comparison and, with a boolean operator, a further predicate.
// Slots: p, q, a, b, c. `immediate`: bits 0-1 the operator, bit 2 flush.
void set_predicates(Machine &m, const Inst &i, std::uint32_t compared) {
    std::uint32_t p = compared, q = ~compared;
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

template <class T, class F>
void compare(Machine &m, const Inst &i, F f) {
    set_predicates(m, i, mask2(m.source<T>(i.slots[2]), m.source<T>(i.slots[3]), f));
}

template <class T, class F>
void compare_float(Machine &m, const Inst &i, F f) {
    const bool ftz = i.immediate & 4;
    compare<T>(m, i, [&](T a, T b) { return ftz ? f(flush(a), flush(b)) : f(a, b); });
}

template <class T>
void add_integer(OperationList &list, const std::string &type) {
    const auto add = [&](const std::string &name, Operation op) {
        list.push_back({"setp." + name + "." + type, op});
    };
    const Operation eq = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a == b; }); };
    const Operation ne = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a != b; }); };
    const Operation lt = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a < b; }); };
    const Operation le = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a <= b; }); };
    const Operation gt = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a > b; }); };
    const Operation ge = [](Machine &m, const Inst &i) { compare<T>(m, i, [](T a, T b) { return a >= b; }); };
    add("eq", eq), add("ne", ne), add("lt", lt), add("le", le), add("gt", gt), add("ge", ge);
    add("lo", lt), add("ls", le), add("hi", gt), add("hs", ge);
}

template <class T>
void add_float(OperationList &list, const std::string &type) {
    const auto add = [&](const std::string &name, Operation op) {
        list.push_back({"setp." + name + "." + type, op});
    };
    add("eq", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a == b; }); });
    add("ne", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a < b || a > b; }); });
    add("lt", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a < b; }); });
    add("le", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a <= b; }); });
    add("gt", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a > b; }); });
    add("ge", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return a >= b; }); });
    add("equ", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a < b || a > b); }); });
    add("neu", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a == b); }); });
    add("ltu", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a >= b); }); });
    add("leu", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a > b); }); });
    add("gtu", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a <= b); }); });
    add("geu", [](Machine &m, const Inst &i) { compare_float<T>(m, i, [](T a, T b) { return !(a < b); }); });
    add("num", [](Machine &m, const Inst &i) {
        compare_float<T>(m, i, [](T a, T b) { return !std::isnan(a) && !std::isnan(b); });
    });
    add("nan", [](Machine &m, const Inst &i) {
        compare_float<T>(m, i, [](T a, T b) { return std::isnan(a) || std::isnan(b); });
    });
    // slct by a float: a where c >= 0
    list.push_back({"slct.b32." + type, [](Machine &m, const Inst &i) {
        const bool ftz = i.immediate & 4;
        map3<std::uint32_t, std::uint32_t, std::uint32_t, T>(
            m, i, [&](std::uint32_t a, std::uint32_t b, T c) { return (ftz ? flush(c) : c) >= 0 ? a : b; });
    }});
    list.push_back({"slct.b64." + type, [](Machine &m, const Inst &i) {
        const bool ftz = i.immediate & 4;
        map3<std::uint64_t, std::uint64_t, std::uint64_t, T>(
            m, i, [&](std::uint64_t a, std::uint64_t b, T c) { return (ftz ? flush(c) : c) >= 0 ? a : b; });
    }});
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
    add_float<float>(list, "f32"), add_float<double>(list, "f64");
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("and.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a & b; }); });
    add("or.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a | b; }); });
    add("xor.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t b) { return a ^ b; }); });
    add("not.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t) { return ~a; }); });
    add("mov.pred", [](Machine &m, const Inst &i) { predicates(m, i, [](uint32_t a, uint32_t) { return a; }); });
}

}  // namespace ptxkit::sim
