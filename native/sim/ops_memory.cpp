// Loads, stores, addresses.
#include <cstring>

#include "access.hpp"
#include "control.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

template <class T, class R>
void load_lanes(Machine &m, std::uint8_t *const *places, std::size_t offset, std::uint32_t slot) {
    R result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        T value;
        std::memcpy(&value, places[l] + offset, sizeof(T));
        result[l] = static_cast<R>(value);
    }
    put(m, m.destination<R>(slot), result);
}

// The register may be wider than what is loaded; it is then extended by the type's sign.
template <class T>
void load_wide(Machine &m, std::uint8_t *const *places, std::size_t offset, std::uint32_t slot,
               unsigned width) {
    switch (width) {
        case 1: return load_lanes<T, std::uint8_t>(m, places, offset, slot);
        case 2: return load_lanes<T, std::uint16_t>(m, places, offset, slot);
        case 4: return load_lanes<T, std::uint32_t>(m, places, offset, slot);
        default: return load_lanes<T, std::uint64_t>(m, places, offset, slot);
    }
}

void load_element(Machine &m, std::uint8_t *const *places, std::size_t offset, std::uint32_t slot,
                  unsigned width, const AccessMode &mode) {
    switch (mode.size) {
        case 1:
            return mode.is_signed ? load_wide<std::int8_t>(m, places, offset, slot, width)
                                  : load_wide<std::uint8_t>(m, places, offset, slot, width);
        case 2:
            return mode.is_signed ? load_wide<std::int16_t>(m, places, offset, slot, width)
                                  : load_wide<std::uint16_t>(m, places, offset, slot, width);
        case 4:
            return mode.is_signed ? load_wide<std::int32_t>(m, places, offset, slot, width)
                                  : load_wide<std::uint32_t>(m, places, offset, slot, width);
        case 8: return load_wide<std::uint64_t>(m, places, offset, slot, width);
        default:
            for (unsigned l = 0; l < kLanes; ++l)
                if (m.mask >> l & 1)
                    std::memcpy(m.destination<std::uint8_t>(slot) + 16 * l, places[l] + offset, 16);
    }
}

// Slots: address. `list`: the destinations. `width`: bytes of their registers.
void load(Machine &m, const Inst &i) {
    const AccessMode mode(i.target);
    std::uint64_t addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    locate(m, mode.space, addresses, mode.size * i.list_size, false, places);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for (unsigned n = 0; n < i.list_size; ++n)
        if (slots[n] != kNoSlot)
            load_element(m, places, std::size_t{n} * mode.size, slots[n], i.width, mode);
}

// `stride`: bytes of the register; little endian, so that its low bytes come first.
template <unsigned kSize>
void store_lanes(const Machine &m, std::uint8_t *const *places, std::size_t offset,
                 const std::uint8_t *values, std::size_t stride) {
    if (m.mask == kFullMask) {
        for (unsigned l = 0; l < kLanes; ++l) std::memcpy(places[l] + offset, values + stride * l, kSize);
    } else {
        for (unsigned l = 0; l < kLanes; ++l)
            if (m.mask >> l & 1) std::memcpy(places[l] + offset, values + stride * l, kSize);
    }
}

void store(Machine &m, const Inst &i) {
    const AccessMode mode(i.target);
    std::uint64_t addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    locate(m, mode.space, addresses, mode.size * i.list_size, true, places);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for (unsigned n = 0; n < i.list_size; ++n) {
        if (slots[n] == kNoSlot) continue;
        const std::uint8_t *values = m.source<std::uint8_t>(slots[n]);
        const std::size_t offset = std::size_t{n} * mode.size;
        switch (mode.size) {
            case 1: store_lanes<1>(m, places, offset, values, i.width); break;
            case 2: store_lanes<2>(m, places, offset, values, i.width); break;
            case 4: store_lanes<4>(m, places, offset, values, i.width); break;
            case 8: store_lanes<8>(m, places, offset, values, i.width); break;
            default: store_lanes<16>(m, places, offset, values, i.width); break;
        }
    }
}

// The address of a variable of this function: its frame's place plus an offset.
void local_address(Machine &m, const Inst &i) {
    const std::uint64_t value = m.warp->frames[m.part->frame].local_base +
                                static_cast<std::uint64_t>(i.immediate);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        if (i.width == 8) m.destination<std::uint64_t>(i.slots[0])[l] = value;
        else m.destination<std::uint32_t>(i.slots[0])[l] = static_cast<std::uint32_t>(value);
    }
}

// cvta: `immediate` is added (to generic) or subtracted, modulo the register's width.
void convert_address(Machine &m, const Inst &i) {
    const auto base = static_cast<std::uint64_t>(i.immediate);
    if (i.width == 8) {
        map1<std::uint64_t, std::uint64_t>(m, i, [&](std::uint64_t a) { return a + base; });
    } else {
        map1<std::uint32_t, std::uint32_t>(m, i, [](std::uint32_t a) { return a; });
    }
}

// The address an operand means, as 64 bits. Slots: d, base.
void take_address(Machine &m, const Inst &i) {
    std::uint64_t addresses[kLanes];
    gather_addresses(m, i, AccessMode(i.target), i.slots[1], addresses);
    put(m, m.destination<std::uint64_t>(i.slots[0]), addresses);
}

// A load that others may be about to change: who polls lets them run now and then.
void load_strong(Machine &m, const Inst &i) {
    load(m, i);
    if (++m.warp->polls % 64 == 0) yield(m);
}

// Whether a shared address of the cluster lies in this very block.
bool is_own(const Machine &m, std::uint64_t offset) {
    const std::uint64_t rank = offset >> kRankShift;
    return rank == 0 || rank == m.block.rank + 1;
}

// isspacep: `immediate` is a window, 0 for global and constant memory; `count` 1 for shared::cta,
// 2 for global, 3 for constant memory.
void is_space(Machine &m, const Inst &i) {
    const auto window = static_cast<std::uint64_t>(i.immediate);
    std::uint32_t found = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint64_t a = i.width == 8 ? m.source<std::uint64_t>(i.slots[1])[l]
                                             : m.source<std::uint32_t>(i.slots[1])[l];
        bool inside = (a & kWindowMask) == window;
        if (inside && i.count == 1) inside = is_own(m, a & ~kWindowMask);
        if (inside && i.count >= 2) {
            const Buffer *buffer = m.engine.buffers.find(a);
            inside = (buffer != nullptr && buffer->constant) == (i.count == 3);
        }
        found |= static_cast<std::uint32_t>(inside) << l;
    }
    put_predicate(m, i.slots[0], found);
}

// mapa: slots d, a, rank. `width` bytes of d; a generic address keeps its window.
template <class T>
void map_address(Machine &m, const Inst &i) {
    const T *a = m.source<T>(i.slots[1]);
    const std::uint32_t *rank = m.source<std::uint32_t>(i.slots[2]);
    T result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint64_t size = m.block.cluster->blocks.size();
        if ((m.mask >> l & 1) && rank[l] >= size)
            m.fault("out-of-bounds",
                    "mapa of rank " + std::to_string(rank[l]) + " in a cluster of " +
                        std::to_string(size) + (size == 1 ? " block" : " blocks"), l);
        result[l] = static_cast<T>(in_block(a[l], rank[l]));
    }
    put(m, m.destination<T>(i.slots[0]), result);
}

// getctarank: slots d, a.
template <class T>
void get_rank(Machine &m, const Inst &i) {
    map1<std::uint32_t, T>(m, i, [&](T a) {
        const std::uint64_t rank = (a & ~kWindowMask) >> kRankShift;
        return rank == 0 ? m.block.rank : static_cast<std::uint32_t>(rank - 1);
    });
}

// st.bulk: slots address (64 bits), size (64 bits); zeros.
void store_zeros(Machine &m, const Inst &i) {
    const AccessMode mode(i.target);
    const std::uint64_t *address = m.source<std::uint64_t>(i.slots[0]);
    const std::uint64_t *size = m.source<std::uint64_t>(i.slots[1]);
    for (unsigned l = 0; l < kLanes; ++l)
        if (m.mask >> l & 1)
            std::memset(locate_range(m, mode.space, address[l], size[l], 8, true, l), 0, size[l]);
}

// alloca: slots d, size; `immediate` the alignment. A thread's stack goes down from the top.
template <class T>
void allocate_local(Machine &m, const Inst &i) {
    const T *size = m.source<T>(i.slots[1]);
    const Frame &frame = m.warp->frames[m.part->frame];
    const std::uint64_t floor = frame.local_base + m.function->local_bytes;
    const auto alignment = static_cast<std::uint64_t>(i.immediate);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint32_t &top = m.warp->stack_tops[l];
        if (size[l] > top || ((top - size[l]) & ~(alignment - 1)) < floor)
            m.fault("stack-overflow",
                    "alloca of " + std::to_string(size[l]) + " bytes: the stack of the thread is full", l);
        top = static_cast<std::uint32_t>((top - size[l]) & ~(alignment - 1));
        m.destination<T>(i.slots[0])[l] = static_cast<T>(top);
    }
}

template <class T>
void save_stack(Machine &m, const Inst &i) {
    for (unsigned l = 0; l < kLanes; ++l)
        if (m.mask >> l & 1) m.destination<T>(i.slots[0])[l] = static_cast<T>(m.warp->stack_tops[l]);
}

template <class T>
void restore_stack(Machine &m, const Inst &i) {
    const T *top = m.source<T>(i.slots[0]);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        if (top[l] > m.block.local_stride || top[l] < m.warp->stack_tops[l])
            m.fault("stack", "stackrestore of a value that no stacksave gave", l);
        m.warp->stack_tops[l] = static_cast<std::uint32_t>(top[l]);
    }
}

}  // namespace

void add_memory_operations(OperationList &list) {
    list.push_back({"ld", load});
    list.push_back({"st", store});
    list.push_back({"address.local", local_address});
    list.push_back({"cvta", convert_address});
    list.push_back({"address", take_address});
    list.push_back({"ld.strong", load_strong});
    list.push_back({"isspacep", is_space});
    list.push_back({"mapa.b32", map_address<std::uint32_t>});
    list.push_back({"mapa.b64", map_address<std::uint64_t>});
    list.push_back({"getctarank.b32", get_rank<std::uint32_t>});
    list.push_back({"getctarank.b64", get_rank<std::uint64_t>});
    list.push_back({"st.bulk", store_zeros});
    list.push_back({"alloca.b32", allocate_local<std::uint32_t>});
    list.push_back({"alloca.b64", allocate_local<std::uint64_t>});
    list.push_back({"stacksave.b32", save_stack<std::uint32_t>});
    list.push_back({"stacksave.b64", save_stack<std::uint64_t>});
    list.push_back({"stackrestore.b32", restore_stack<std::uint32_t>});
    list.push_back({"stackrestore.b64", restore_stack<std::uint64_t>});
    list.push_back({"nop", [](Machine &, const Inst &) {}});
}

}  // namespace ptxkit::sim
