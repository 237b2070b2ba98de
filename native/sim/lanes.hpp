// Loops over the 32 lanes, written so that the compiler makes vector code of them.
#pragma once

#include "machine.hpp"

namespace ptxkit::sim {

template <class T>
inline void put(Machine &m, T *out, const T *values) {
    if (m.mask == kFullMask) {
        for (unsigned l = 0; l < kLanes; ++l) out[l] = values[l];
    } else {
        for (unsigned l = 0; l < kLanes; ++l) out[l] = m.mask >> l & 1 ? values[l] : out[l];
    }
}

// d = f(a)
template <class D, class A, class F>
inline void map1(Machine &m, const Inst &i, F f) {
    D result[kLanes];
    const A *a = m.source<A>(i.slots[1]);
    for (unsigned l = 0; l < kLanes; ++l) result[l] = f(a[l]);
    put(m, m.destination<D>(i.slots[0]), result);
}

// d = f(a, b)
template <class D, class A, class B, class F>
inline void map2(Machine &m, const Inst &i, F f) {
    D result[kLanes];
    const A *a = m.source<A>(i.slots[1]);
    const B *b = m.source<B>(i.slots[2]);
    for (unsigned l = 0; l < kLanes; ++l) result[l] = f(a[l], b[l]);
    put(m, m.destination<D>(i.slots[0]), result);
}

// d = f(a, b, c)
template <class D, class A, class B, class C, class F>
inline void map3(Machine &m, const Inst &i, F f) {
    D result[kLanes];
    const A *a = m.source<A>(i.slots[1]);
    const B *b = m.source<B>(i.slots[2]);
    const C *c = m.source<C>(i.slots[3]);
    for (unsigned l = 0; l < kLanes; ++l) result[l] = f(a[l], b[l], c[l]);
    put(m, m.destination<D>(i.slots[0]), result);
}

// p = mask of f(a, b)
template <class A, class F>
inline std::uint32_t mask2(const A *a, const A *b, F f) {
    std::uint32_t found = 0;
    for (unsigned l = 0; l < kLanes; ++l) found |= static_cast<std::uint32_t>(f(a[l], b[l])) << l;
    return found;
}

inline void put_predicate(Machine &m, std::uint32_t slot, std::uint32_t value) {
    if (slot == kNoSlot) return;
    std::uint32_t *out = m.destination<std::uint32_t>(slot);
    *out = (*out & ~m.mask) | (value & m.mask);
}

}  // namespace ptxkit::sim
