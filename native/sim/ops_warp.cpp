// Operations between the lanes of a warp.
#include <algorithm>
#include <bit>
#include <cmath>

#include "control.hpp"
#include "lanes.hpp"
#include "float_mode.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// The member mask. Lanes that name another one, as the tiles of a warp do, come later.
std::uint32_t members(Machine &m, std::uint32_t slot) {
    if (slot == kNoSlot) return m.mask;
    const std::uint32_t *masks = m.source<std::uint32_t>(slot);
    const std::uint32_t first = masks[std::countr_zero(m.mask)];
    std::uint32_t same = 0;
    for (unsigned l = 0; l < kLanes; ++l)
        same |= static_cast<std::uint32_t>(masks[l] == first) << l;
    if ((m.mask & ~same) != 0) postpone_others(m, m.mask & same);
    return first;
}

// Slots: d, p, a, b, c, members. `immediate`: 0 up, 1 down, 2 bfly, 3 idx.
void shuffle(Machine &m, const Inst &i) {
    if (!converge(m, members(m, i.slots[5]))) return;
    const std::uint32_t *a = m.source<std::uint32_t>(i.slots[2]);
    const std::uint32_t *b = m.source<std::uint32_t>(i.slots[3]);
    const std::uint32_t *c = m.source<std::uint32_t>(i.slots[4]);
    std::uint32_t result[kLanes], inside = 0;
    for (int l = 0; l < static_cast<int>(kLanes); ++l) {
        const auto segment = static_cast<int>(c[l] >> 8 & 31);
        const auto clamp = static_cast<int>(c[l] & 31);
        const auto delta = static_cast<int>(b[l] & 31);
        const int limit = (l & segment) | (clamp & ~segment);
        const int least = l & segment;
        int j = 0;
        bool ok = false;
        switch (i.immediate) {
            case 0: j = l - delta, ok = j >= limit; break;
            case 1: j = l + delta, ok = j <= limit; break;
            case 2: j = l ^ delta, ok = j <= limit; break;
            default: j = least | (delta & ~segment), ok = j <= limit; break;
        }
        if (!ok) j = l;
        result[l] = a[j & 31];
        inside |= static_cast<std::uint32_t>(ok) << l;
    }
    if (i.slots[0] != kNoSlot) put(m, m.destination<std::uint32_t>(i.slots[0]), result);
    put_predicate(m, i.slots[1], inside);
}

// Slots: d, a (predicate), members. `immediate`: 0 all, 1 any, 2 uni, 3 ballot.
void vote(Machine &m, const Inst &i) {
    const std::uint32_t who = members(m, i.slots[2]);
    if (!converge(m, who)) return;
    const std::uint32_t voters = m.mask & who;
    const std::uint32_t votes = m.predicate(i.slots[1]) & voters;
    if (i.immediate == 3) {
        std::uint32_t result[kLanes];
        std::fill(std::begin(result), std::end(result), votes);
        put(m, m.destination<std::uint32_t>(i.slots[0]), result);
        return;
    }
    const bool all = votes == voters, any = votes != 0;
    const bool answer = i.immediate == 0 ? all : i.immediate == 1 ? any : all || !any;
    put_predicate(m, i.slots[0], answer ? kFullMask : 0);
}

// Slots: d, p, a, members. `immediate`: bit 0 all (else any).
template <class T>
void match_lanes(Machine &m, const Inst &i) {
    const std::uint32_t who = members(m, i.slots[3]);
    if (!converge(m, who)) return;
    const T *a = m.source<T>(i.slots[2]);
    std::uint32_t result[kLanes] = {};
    const std::uint32_t group = m.mask & who;
    bool equal = true;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(group >> l & 1)) continue;
        for (unsigned o = 0; o < kLanes; ++o)
            if (group >> o & 1) {
                if (a[o] == a[l]) result[l] |= 1u << o;
                else equal = false;
            }
    }
    if (i.immediate & 1) {
        for (std::uint32_t &r : result) r = equal ? group : 0;
        put_predicate(m, i.slots[1], equal ? kFullMask : 0);
    }
    put(m, m.destination<std::uint32_t>(i.slots[0]), result);
}

// Slots: d, a, members. `immediate`: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor.
template <class T>
void reduce_lanes(Machine &m, const Inst &i) {
    const std::uint32_t who = members(m, i.slots[2]);
    if (!converge(m, who)) return;
    const T *a = m.source<T>(i.slots[1]);
    const std::uint32_t group = m.mask & who;
    bool first = true;
    T total = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(group >> l & 1)) continue;
        if (first) total = a[l];
        else switch (i.immediate) {
                case 0: total = static_cast<T>(static_cast<std::uint32_t>(total) + static_cast<std::uint32_t>(a[l])); break;
                case 1: total = std::min(total, a[l]); break;
                case 2: total = std::max(total, a[l]); break;
                case 3: total = static_cast<T>(total & a[l]); break;
                case 4: total = static_cast<T>(total | a[l]); break;
                default: total = static_cast<T>(total ^ a[l]); break;
            }
        first = false;
    }
    T result[kLanes];
    std::fill(std::begin(result), std::end(result), total);
    put(m, m.destination<T>(i.slots[0]), result);
}

// redux of floats. Slots: d, a, members. `immediate`: 1 min, 2 max; `count`: bit 0 of magnitudes,
// bit 1 a NaN wins over numbers.
void reduce_floats(Machine &m, const Inst &i) {
    const std::uint32_t who = members(m, i.slots[2]);
    if (!converge(m, who)) return;
    const float *a = m.source<float>(i.slots[1]);
    const std::uint32_t group = m.mask & who;
    bool found = false, nan = false;
    float total = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(group >> l & 1)) continue;
        const float value = i.count & 1 ? std::fabs(a[l]) : a[l];
        if (std::isnan(value)) {
            nan = true;
            continue;
        }
        const bool less = value < total || (value == total && std::signbit(value));
        if (!found || less == (i.immediate == 1)) total = value;
        found = true;
    }
    if (!found || (nan && i.count & 2)) total = canonical_nan<float>();
    float result[kLanes];
    std::fill(std::begin(result), std::end(result), total);
    put(m, m.destination<float>(i.slots[0]), result);
}

}  // namespace

void add_warp_operations(OperationList &list) {
    using std::int32_t, std::int64_t, std::uint32_t, std::uint64_t;
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("shfl", shuffle);
    add("vote", vote);
    add("match.b32", match_lanes<uint32_t>);
    add("match.b64", match_lanes<uint64_t>);
    add("redux.u32", reduce_lanes<uint32_t>);
    add("redux.s32", reduce_lanes<int32_t>);
    add("redux.f32", reduce_floats);
    add("bar.warp", [](Machine &m, const Inst &i) { converge(m, members(m, i.slots[0])); });
    add("activemask", [](Machine &m, const Inst &i) {
        uint32_t result[kLanes];
        std::fill(std::begin(result), std::end(result), m.mask);
        put(m, m.destination<uint32_t>(i.slots[0]), result);
    });
    add("elect", [](Machine &m, const Inst &i) {
        const uint32_t who = members(m, i.slots[2]);
        if (!converge(m, who)) return;
        const auto leader = static_cast<uint32_t>(std::countr_zero(who));
        uint32_t result[kLanes];
        std::fill(std::begin(result), std::end(result), leader);
        if (i.slots[0] != kNoSlot) put(m, m.destination<uint32_t>(i.slots[0]), result);
        put_predicate(m, i.slots[1], 1u << leader);
    });
}

}  // namespace ptxkit::sim
