// Atomics: every type as the bits of its cell and what an update makes of them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "access.hpp"
#include "atomics.hpp"
#include "control.hpp"
#include "float_mode.hpp"
#include "half.hpp"
#include "operations.hpp"
#include "wide_integer.hpp"

namespace ptxkit::sim {

namespace {

template <class T>
struct Whole {
    using Bits = std::make_unsigned_t<T>;
    static Bits update(Bits seen, Bits with, Bits other, int kind) {
        const auto old = static_cast<T>(seen), b = static_cast<T>(with);
        switch (kind) {
            case kAnd: return static_cast<Bits>(seen & with);
            case kOr: return static_cast<Bits>(seen | with);
            case kXor: return static_cast<Bits>(seen ^ with);
            case kAdd: return static_cast<Bits>(seen + with);
            case kIncrement: return seen >= with ? Bits{0} : static_cast<Bits>(seen + 1);
            case kDecrement: return seen == 0 || seen > with ? with : static_cast<Bits>(seen - 1);
            case kMinimum: return static_cast<Bits>(std::min(old, b));
            case kMaximum: return static_cast<Bits>(std::max(old, b));
            case kCompareSwap: return seen == with ? other : seen;
            default: return with;
        }
    }
};

// Floats only add (and, halves in vectors, take the smaller or larger one). Global memory has a
// unit of its own for it, with its own ways of subnormal numbers and NaNs; in shared memory the
// addition is an instruction.
template <bool kFlush>
struct Single {
    using Bits = std::uint32_t;
    static Bits update(Bits seen, Bits with, Bits, int kind) {
        if (kind != kAdd) return with;
        float old = std::bit_cast<float>(seen), b = std::bit_cast<float>(with);
        if constexpr (kFlush) old = flush(old), b = flush(b);
        float sum = old + b;
        if constexpr (kFlush) sum = flush(sum);
        return std::bit_cast<Bits>(std::isnan(sum) ? canonical_nan<float>() : sum);
    }
};

template <bool kShared>
struct Double {
    using Bits = std::uint64_t;
    static Bits update(Bits seen, Bits with, Bits, int kind) {
        if (kind != kAdd) return with;
        const double old = std::bit_cast<double>(seen), b = std::bit_cast<double>(with);
        const double sum = old + b;
        if (!std::isnan(sum)) return std::bit_cast<Bits>(sum);
        constexpr Bits kQuiet = Bits{1} << 51;
        if constexpr (kShared) {
            if (std::isnan(old)) return seen | kQuiet;
            if (std::isnan(b)) return with | kQuiet;
        } else {
            if (std::isnan(b)) return with;
            if (std::isnan(old)) return seen;
        }
        return std::bit_cast<Bits>(canonical_nan<double>());
    }
};

struct HalfFormat {
    static double widen(std::uint16_t bits) { return half_to_double(bits); }
    static std::uint16_t narrow(double value) { return double_to_half(value, 0); }
};
struct BfloatFormat {
    static double widen(std::uint16_t bits) { return bfloat_to_double(bits); }
    static std::uint16_t narrow(double value) { return double_to_bfloat(value, 0); }
};

template <class F>
struct Narrow {
    using Bits = std::uint16_t;
    static Bits update(Bits seen, Bits with, Bits, int kind) {
        constexpr Bits kNan = 0x7FFF;
        const double old = F::widen(seen), b = F::widen(with);
        if (kind == kAdd) {
            const double sum = add_to_odd(old, b);
            return std::isnan(sum) ? kNan : F::narrow(sum);
        }
        if (kind != kMinimum && kind != kMaximum) return with;
        if (std::isnan(old)) return std::isnan(b) ? kNan : with;
        if (std::isnan(b)) return seen;
        // -0 is less than +0.
        const bool less = old < b || (old == b && std::signbit(old));
        return less == (kind == kMinimum) ? seen : with;
    }
};

template <class E>
struct Pair {
    using Bits = std::uint32_t;
    static Bits update(Bits seen, Bits with, Bits, int kind) {
        const auto low = E::update(static_cast<std::uint16_t>(seen), static_cast<std::uint16_t>(with), 0, kind);
        const auto high = E::update(static_cast<std::uint16_t>(seen >> 16),
                                    static_cast<std::uint16_t>(with >> 16), 0, kind);
        return low | static_cast<Bits>(high) << 16;
    }
};

template <class E>
typename E::Bits swap_in(std::uint8_t *place, typename E::Bits b, typename E::Bits c, int kind) {
    using Bits = typename E::Bits;
    std::atomic_ref<Bits> cell(*reinterpret_cast<Bits *>(place));
    Bits seen = cell.load();
    while (!cell.compare_exchange_weak(seen, E::update(seen, b, c, kind))) {
    }
    return seen;
}

bool is_shared(Space space, std::uint64_t address) {
    return space == Space::Shared || space == Space::SharedCluster ||
           (space == Space::Generic && (address & kWindowMask) == kSharedWindow);
}

// Who spins on a lock lets others run now and then.
void note_poll(Machine &m, int kind) {
    if ((kind == kCompareSwap || kind == kExchange) && ++m.warp->polls % 64 == 0) yield(m);
}

// Slots: address, d, b, c. `count`: the kind of update. `S`: the type where it lies in shared memory.
template <class E, class S = E>
void atomic(Machine &m, const Inst &i) {
    using Bits = typename E::Bits;
    const AccessMode mode(i.target);
    std::uint64_t addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    locate(m, mode.space, addresses, sizeof(Bits), true, places);
    const Bits *b = m.source<Bits>(i.slots[2]);
    const Bits *c = i.slots[3] == kNoSlot ? b : m.source<Bits>(i.slots[3]);
    Bits old[kLanes] = {};
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        if constexpr (!std::is_same_v<E, S>) {
            if (is_shared(mode.space, addresses[l])) {
                old[l] = swap_in<S>(places[l], b[l], c[l], i.count);
                continue;
            }
        }
        old[l] = swap_in<E>(places[l], b[l], c[l], i.count);
    }
    if (i.slots[1] != kNoSlot) put(m, m.destination<Bits>(i.slots[1]), old);
    note_poll(m, i.count);
}

// Vectors: every element by itself. Slots: address. `list`: the elements of b, then those of d;
// `list_size` counts both.
template <class E>
void atomic_vector(Machine &m, const Inst &i) {
    using Bits = typename E::Bits;
    const AccessMode mode(i.target);
    const unsigned count = i.list_size / 2;
    std::uint64_t addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    locate(m, mode.space, addresses, static_cast<unsigned>(sizeof(Bits)) * count, true, places);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    // All sources before any destination: the registers may be the same.
    Bits values[8][kLanes], old[8][kLanes] = {};
    for (unsigned n = 0; n < count; ++n)
        std::copy_n(m.source<Bits>(slots[n]), kLanes, values[n]);
    for (unsigned n = 0; n < count; ++n) {
        for (unsigned l = 0; l < kLanes; ++l)
            if (m.mask >> l & 1)
                old[n][l] = swap_in<E>(places[l] + n * sizeof(Bits), values[n][l], 0, i.count);
        if (slots[count + n] != kNoSlot) put(m, m.destination<Bits>(slots[count + n]), old[n]);
    }
}

// 128 bits: exch and cas, one at a time under a lock.
void atomic_wide(Machine &m, const Inst &i) {
    const AccessMode mode(i.target);
    std::uint64_t addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    locate(m, mode.space, addresses, 16, true, places);
    const Uint128 *b = m.source<Uint128>(i.slots[2]);
    const Uint128 *c = i.slots[3] == kNoSlot ? b : m.source<Uint128>(i.slots[3]);
    Uint128 old[kLanes] = {};
    {
        const std::lock_guard<std::mutex> guard(m.engine.memory_lock);
        for (unsigned l = 0; l < kLanes; ++l) {
            if (!(m.mask >> l & 1)) continue;
            std::memcpy(&old[l], places[l], 16);
            const Uint128 next = i.count != kCompareSwap ? b[l] : old[l] == b[l] ? c[l] : old[l];
            std::memcpy(places[l], &next, 16);
        }
    }
    if (i.slots[1] != kNoSlot) put(m, m.destination<Uint128>(i.slots[1]), old);
    note_poll(m, i.count);
}

template <class E>
void apply(std::uint8_t *place, const std::uint8_t *value, int kind) {
    typename E::Bits b;
    std::memcpy(&b, value, sizeof(b));
    swap_in<E>(place, b, 0, kind);
}

template <class E>
constexpr ReductionType reduction(const char *name) {
    return {name, sizeof(typename E::Bits), apply<E>};
}

}  // namespace

const ReductionType &reduction_type(unsigned number) {
    static constexpr ReductionType kTypes[] = {
        reduction<Whole<std::uint32_t>>("u32"), reduction<Whole<std::int32_t>>("s32"),
        reduction<Whole<std::uint64_t>>("u64"), reduction<Whole<std::int64_t>>("s64"),
        reduction<Single<false>>("f32"),        reduction<Double<false>>("f64"),
        reduction<Narrow<HalfFormat>>("f16"),   reduction<Narrow<BfloatFormat>>("bf16"),
    };
    return kTypes[number < std::size(kTypes) ? number : 0];
}

void add_atomic_operations(OperationList &list) {
    const auto add = [&]<class E>(const std::string &name, E) {
        list.push_back({"atom." + name, atomic<E>});
        list.push_back({"atom.vector." + name, atomic_vector<E>});
    };
    add("u16", Whole<std::uint16_t>{});
    add("u32", Whole<std::uint32_t>{}), add("s32", Whole<std::int32_t>{});
    add("u64", Whole<std::uint64_t>{}), add("s64", Whole<std::int64_t>{});
    add("noftz.f32", Single<false>{});
    list.push_back({"atom.f32", atomic<Single<true>, Single<false>>});
    list.push_back({"atom.vector.f32", atomic_vector<Single<true>>});
    list.push_back({"atom.f64", atomic<Double<false>, Double<true>>});
    add("f16", Narrow<HalfFormat>{}), add("f16x2", Pair<Narrow<HalfFormat>>{});
    add("bf16", Narrow<BfloatFormat>{}), add("bf16x2", Pair<Narrow<BfloatFormat>>{});
    list.push_back({"atom.u128", atomic_wide});
}

}  // namespace ptxkit::sim
