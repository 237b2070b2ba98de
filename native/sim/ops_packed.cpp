// Two or four integers in a register, and cvt.pack.
#include <algorithm>
#include <limits>

#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

using std::int16_t, std::int32_t, std::uint16_t, std::uint32_t;

// d = f(a, b) on the elements of every lane: two or four neighbours.
template <class T, class F>
void map_elements(Machine &m, const Inst &i, F f) {
    constexpr unsigned kPack = 4 / sizeof(T);
    const T *a = m.source<T>(i.slots[1]);
    const T *b = m.source<T>(i.slots[2]);
    T *out = m.destination<T>(i.slots[0]);
    for (unsigned e = 0; e < kPack * kLanes; ++e)
        if (m.mask >> (e / kPack) & 1) out[e] = f(a[e], b[e]);
}

template <class T>
T saturated(int32_t value) {
    return static_cast<T>(std::clamp<int32_t>(value, std::numeric_limits<T>::min(),
                                              std::numeric_limits<T>::max()));
}

template <class T>
void add_type(OperationList &list, const std::string &type) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name + type, op}); };
    add("add.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return static_cast<T>(a + b); });
    });
    add("sub.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return static_cast<T>(a - b); });
    });
    add("add.sat.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return saturated<T>(a + b); });
    });
    add("sub.sat.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return saturated<T>(a - b); });
    });
    add("min.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return std::min(a, b); });
    });
    add("max.", [](Machine &m, const Inst &i) {
        map_elements<T>(m, i, [](T a, T b) { return std::max(a, b); });
    });
    if constexpr (std::is_signed_v<T>) {
        add("min.relu.", [](Machine &m, const Inst &i) {
            map_elements<T>(m, i, [](T a, T b) { return std::max<T>(std::min(a, b), 0); });
        });
        add("max.relu.", [](Machine &m, const Inst &i) {
            map_elements<T>(m, i, [](T a, T b) { return std::max<T>(std::max(a, b), 0); });
        });
    }
}

// cvt.pack: a and b saturated to `width` bits, b lowest; what is above is c moved up.
// `immediate` bit 0: signed results.
void pack_saturated(Machine &m, const Inst &i) {
    const unsigned width = i.width;
    const bool is_signed = i.immediate & 1;
    const int32_t high = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
    const int32_t low = is_signed ? -high - 1 : 0;
    const uint32_t ones = (1u << width) - 1;
    map3<uint32_t, int32_t, int32_t, uint32_t>(m, i, [&](int32_t a, int32_t b, uint32_t c) {
        const uint32_t x = static_cast<uint32_t>(std::clamp(a, low, high)) & ones;
        const uint32_t y = static_cast<uint32_t>(std::clamp(b, low, high)) & ones;
        const uint32_t rest = width == 16 ? 0 : c << (2 * width);
        return rest | x << width | y;
    });
}

// set on pairs: a half is `immediate` where its predicate holds. Slots: d, low, high.
void select_halves(Machine &m, const Inst &i) {
    const uint32_t low = m.predicate(i.slots[1]), high = m.predicate(i.slots[2]);
    const auto value = static_cast<uint32_t>(i.immediate) & 0xFFFFu;
    uint32_t result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l)
        result[l] = (low >> l & 1 ? value : 0) | (high >> l & 1 ? value << 16 : 0);
    put(m, m.destination<uint32_t>(i.slots[0]), result);
}

}  // namespace

void add_packed_operations(OperationList &list) {
    add_type<uint16_t>(list, "u16x2");
    add_type<int16_t>(list, "s16x2");
    add_type<std::uint8_t>(list, "u8x4");
    add_type<std::int8_t>(list, "s8x4");
    list.push_back({"add.sat.u32", [](Machine &m, const Inst &i) {
        map2<uint32_t, uint32_t, uint32_t>(
            m, i, [](uint32_t a, uint32_t b) { return a + b < a ? ~0u : a + b; });
    }});
    list.push_back({"cvt.pack", pack_saturated});
    list.push_back({"select.halves", select_halves});
}

}  // namespace ptxkit::sim
