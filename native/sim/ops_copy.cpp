// Asynchronous copies, stores and reductions. They are done when the instruction runs: the
// earliest moment that the memory model allows, so that waiting for them is never in vain.
#include <algorithm>
#include <cstring>

#include "access.hpp"
#include "atomics.hpp"
#include "mbarrier.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

// Inst::target of what has two or three addresses: a space each.
struct Spaces {
    explicit Spaces(std::uint32_t bits)
        : to(static_cast<Space>(bits & 15)),
          from(static_cast<Space>(bits >> 4 & 15)),
          barrier(static_cast<Space>(bits >> 8 & 15)) {}
    Space to, from, barrier;
};

std::uint64_t at(const Machine &m, std::uint32_t slot, unsigned lane) {
    return m.source<std::uint64_t>(slot)[lane];
}

std::uint32_t word_at(const Machine &m, std::uint32_t slot, unsigned lane) {
    return m.source<std::uint32_t>(slot)[lane];
}

// cp.async. Slots: to, from, bytes to read, ignore (a predicate); the last two may be missing.
// `width`: bytes that are written.
void copy_small(Machine &m, const Inst &i) {
    const Spaces spaces(i.target);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint32_t read = i.slots[2] == kNoSlot ? i.width : word_at(m, i.slots[2], l);
        if (i.slots[3] != kNoSlot && (m.predicate(i.slots[3]) >> l & 1)) read = 0;
        if (read > i.width)
            m.fault("copy", "cp.async is to read " + std::to_string(read) + " bytes of " +
                                std::to_string(i.width), l);
        std::uint8_t *to = locate_range(m, spaces.to, at(m, i.slots[0], l), i.width, i.width, true, l);
        std::uint8_t bytes[16] = {};
        if (read != 0)
            std::memcpy(bytes, locate_range(m, spaces.from, at(m, i.slots[1], l), read, i.width, false, l),
                        read);
        std::memcpy(to, bytes, i.width);
    }
}

// What a bulk copy is of: the bytes of a lane, read and checked.
struct Bulk {
    const std::uint8_t *from;
    std::uint32_t size;
};

Bulk take_bulk(Machine &m, const Inst &i, const Spaces &spaces, unsigned lane, std::uint32_t skip = 0,
               std::uint32_t leave = 0) {
    const std::uint32_t size = word_at(m, i.slots[2], lane);
    if (size % 16 != 0)
        m.fault("misaligned", "a bulk copy of " + std::to_string(size) +
                                  " bytes, which is not a multiple of 16", lane);
    if (skip + leave > size)
        m.fault("copy", "a bulk copy ignores more bytes than it has", lane);
    const std::uint64_t address = at(m, i.slots[1], lane);
    if (address % 16 != 0) locate_range(m, spaces.from, address, size, 16, false, lane);
    const std::uint8_t *from =
        locate_range(m, spaces.from, address + skip, size - skip - leave, 1, false, lane);
    return {from, size};
}

// Slots: to, from, size, mbarrier, and either the ranks of a multicast, or a mask of bytes, or the
// bytes to ignore left and right. `immediate`: which of those, 'm', 'b' or 'i'.
void copy_bulk(Machine &m, const Inst &i) {
    const Spaces spaces(i.target);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const bool ignores = i.immediate == 'i';
        const std::uint32_t skip = ignores ? word_at(m, i.slots[4], l) : 0;
        const std::uint32_t leave = ignores ? word_at(m, i.slots[5], l) : 0;
        if (skip > 15 || leave > 15)
            m.fault("copy", ".ignore_oob ignores 15 bytes at most on each side", l);
        const Bulk bulk = take_bulk(m, i, spaces, l, skip, leave);
        const std::uint64_t to = at(m, i.slots[0], l);
        const auto barrier = i.slots[3] == kNoSlot ? 0 : at(m, i.slots[3], l);
        if (i.immediate == 'm') {
            const std::uint32_t ranks = m.source<std::uint16_t>(i.slots[4])[l];
            for (std::uint32_t rank = 0; rank < 16; ++rank) {
                if (!(ranks >> rank & 1)) continue;
                std::memmove(locate_range(m, spaces.to, in_block(to, rank), bulk.size, 16, true, l),
                             bulk.from, bulk.size);
                complete_bytes(m, spaces.barrier, in_block(barrier, rank), bulk.size, l);
            }
            continue;
        }
        std::uint8_t *place = locate_range(m, spaces.to, to, bulk.size, 16, true, l);
        if (i.immediate == 'b') {
            const std::uint32_t bytes = m.source<std::uint16_t>(i.slots[4])[l];
            for (std::uint32_t b = 0; b < bulk.size; ++b)
                if (bytes >> b % 16 & 1) place[b] = bulk.from[b];
        } else {
            std::memmove(place + skip, bulk.from, bulk.size - skip - leave);
        }
        if (i.slots[3] != kNoSlot) complete_bytes(m, spaces.barrier, barrier, bulk.size, l);
    }
}

// Slots: to, from, size, mbarrier. `count`: the kind of update; `width`: the type's number.
void reduce_bulk(Machine &m, const Inst &i) {
    const Spaces spaces(i.target);
    const ReductionType &type = reduction_type(i.width);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const Bulk bulk = take_bulk(m, i, spaces, l);
        std::uint8_t *to = locate_range(m, spaces.to, at(m, i.slots[0], l), bulk.size, 16, true, l);
        for (std::uint32_t b = 0; b < bulk.size; b += type.size)
            type.apply(to + b, bulk.from + b, i.count);
        if (i.slots[3] != kNoSlot)
            complete_bytes(m, spaces.barrier, at(m, i.slots[3], l), bulk.size, l);
    }
}

// st.async to a block of the cluster. Slots: to, mbarrier. `list`: the elements; `width`: bytes
// of each.
void store_async(Machine &m, const Inst &i) {
    const Spaces spaces(i.target);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    const std::uint32_t size = i.width * i.list_size;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint8_t *to = locate_range(m, spaces.to, at(m, i.slots[0], l), size, size, true, l);
        for (std::uint32_t n = 0; n < i.list_size; ++n)
            std::memcpy(to + std::size_t{n} * i.width,
                        m.source<std::uint8_t>(slots[n]) + std::size_t{l} * i.width, i.width);
        if (i.slots[1] != kNoSlot) complete_bytes(m, spaces.barrier, at(m, i.slots[1], l), size, l);
    }
}

// red.async. Slots: to, value, mbarrier. `count` and `width` as for reduce_bulk.
void reduce_async(Machine &m, const Inst &i) {
    const Spaces spaces(i.target);
    const ReductionType &type = reduction_type(i.width);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint8_t *to =
            locate_range(m, spaces.to, at(m, i.slots[0], l), type.size, type.size, true, l);
        type.apply(to, m.source<std::uint8_t>(i.slots[1]) + std::size_t{l} * type.size, i.count);
        if (i.slots[2] != kNoSlot)
            complete_bytes(m, spaces.barrier, at(m, i.slots[2], l), type.size, l);
    }
}

}  // namespace

void add_copy_operations(OperationList &list) {
    list.push_back({"cp.async", copy_small});
    list.push_back({"cp.async.bulk", copy_bulk});
    list.push_back({"cp.reduce.async.bulk", reduce_bulk});
    list.push_back({"st.async", store_async});
    list.push_back({"red.async", reduce_async});
}

}  // namespace ptxkit::sim
