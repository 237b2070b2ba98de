// Loads, stores, addresses.
#include <cstring>

#include "access.hpp"
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

// isspacep: `immediate` is a window, 0 for global memory.
void is_space(Machine &m, const Inst &i) {
    const std::uint64_t *a = m.source<std::uint64_t>(i.slots[1]);
    std::uint32_t found = 0;
    for (unsigned l = 0; l < kLanes; ++l)
        found |= static_cast<std::uint32_t>((a[l] & kWindowMask) ==
                                            static_cast<std::uint64_t>(i.immediate)) << l;
    put_predicate(m, i.slots[0], found);
}

}  // namespace

void add_memory_operations(OperationList &list) {
    list.push_back({"ld", load});
    list.push_back({"st", store});
    list.push_back({"address.local", local_address});
    list.push_back({"cvta", convert_address});
    list.push_back({"isspacep", is_space});
    list.push_back({"nop", [](Machine &, const Inst &) {}});
}

}  // namespace ptxkit::sim
