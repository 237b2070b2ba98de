// Rarer integer instructions: 24-bit products, masks, sign extension, the n-th set bit.
#include <algorithm>
#include <bit>

#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

using std::int32_t, std::int64_t, std::uint32_t, std::uint64_t;

// The 48-bit product of the low 24 bits of both.
template <class T>
int64_t product24(T a, T b) {
    const auto part = [](T value) {
        return static_cast<int64_t>(static_cast<T>(static_cast<uint32_t>(value) << 8) >> 8);
    };
    return part(a) * part(b);
}

template <class T>
void add_24(OperationList &list, const std::string &type) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("mul24.lo.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return static_cast<T>(product24(a, b)); });
    });
    add("mul24.hi.", [](Machine &m, const Inst &i) {
        map2<T, T, T>(m, i, [](T a, T b) { return static_cast<T>(product24(a, b) >> 16); });
    });
    add("mad24.lo.", [](Machine &m, const Inst &i) {
        map3<T, T, T, T>(m, i, [](T a, T b, T c) { return static_cast<T>(product24(a, b) + c); });
    });
    add("mad24.hi.", [](Machine &m, const Inst &i) {
        map3<T, T, T, T>(m, i, [](T a, T b, T c) {
            return static_cast<T>((product24(a, b) >> 16) + c);
        });
    });
}

uint32_t ones_below(uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

// bmsk: `b` ones from position `a` up.
uint32_t make_mask(uint32_t a, uint32_t b, bool wrap) {
    if (wrap) return ones_below(b & 31) << (a & 31);
    return a >= 32 ? 0 : ones_below(b) << a;
}

// szext: the low n bits, extended by zero or by their sign.
template <class T>
T extend_from(T a, uint32_t n, bool wrap) {
    if (wrap) n &= 31;
    if (n >= 32) return a;
    if (n == 0) return 0;
    return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (32 - n)) >> (32 - n));
}

// fns: the position of the n-th set bit from a base, upwards or downwards.
uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset) {
    constexpr uint32_t kNone = 0xFFFFFFFFu;
    if (offset == INT32_MIN) return 0;  // its negation overflows in the device's routine
    if (base > 31) return kNone;
    if (offset == 0) return mask >> base & 1 ? base : kNone;
    const int step = offset > 0 ? 1 : -1;
    int32_t left = offset > 0 ? offset : -offset;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
        if (mask >> at & 1)
            if (--left == 0) return static_cast<uint32_t>(at);
    return kNone;
}

}  // namespace

void add_bit_operations(OperationList &list) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add_24<uint32_t>(list, "u32");
    add_24<int32_t>(list, "s32");
    add("mad24.hi.sat.s32", [](Machine &m, const Inst &i) {
        map3<int32_t, int32_t, int32_t, int32_t>(m, i, [](int32_t a, int32_t b, int32_t c) {
            const int64_t sum = (product24(a, b) >> 16) + c;
            return static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
        });
    });
    add("bmsk.b32", [](Machine &m, const Inst &i) {
        const bool wrap = i.immediate & 1;
        map2<uint32_t, uint32_t, uint32_t>(
            m, i, [&](uint32_t a, uint32_t b) { return make_mask(a, b, wrap); });
    });
    add("szext.u32", [](Machine &m, const Inst &i) {
        const bool wrap = i.immediate & 1;
        map2<uint32_t, uint32_t, uint32_t>(
            m, i, [&](uint32_t a, uint32_t n) { return extend_from(a, n, wrap); });
    });
    add("szext.s32", [](Machine &m, const Inst &i) {
        const bool wrap = i.immediate & 1;
        map2<int32_t, int32_t, uint32_t>(
            m, i, [&](int32_t a, uint32_t n) { return extend_from(a, n, wrap); });
    });
    add("fns.b32", [](Machine &m, const Inst &i) {
        map3<uint32_t, uint32_t, uint32_t, int32_t>(m, i, find_nth);
    });
    // Slots: p, the result of lop3, q. p is whether the result is not 0, and (or or) q.
    add("lop3.pred", [](Machine &m, const Inst &i) {
        const uint32_t *value = m.source<uint32_t>(i.slots[1]);
        const uint32_t q = m.predicate(i.slots[2]);
        uint32_t set = 0;
        for (unsigned l = 0; l < kLanes; ++l) set |= static_cast<uint32_t>(value[l] != 0) << l;
        put_predicate(m, i.slots[0], i.immediate & 1 ? set & q : set | q);
    });
    // The arrivals still missing, as the state's 20 bits from bit 43 count them down.
    add("mbarrier.pending_count.b64", [](Machine &m, const Inst &i) {
        map1<uint32_t, uint64_t>(m, i, [](uint64_t state) {
            return 0x100000u - static_cast<uint32_t>(state >> 43 & 0xFFFFF);
        });
    });
}

}  // namespace ptxkit::sim
