#include <cstring>

#include "control.hpp"
#include "mbarrier.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

// The layout, as a GPU shows it: counts of arrivals are kept as what is missing to 2^20, the
// pending ones from bit 43, the expected ones from bit 1; the parity is the top bit.
Mbarrier::Mbarrier(std::uint64_t word)
    : expected(((1u << 20) - static_cast<std::uint32_t>(word >> 1 & 0xFFFFF)) & 0xFFFFF),
      pending(((1u << 20) - static_cast<std::uint32_t>(word >> 43 & 0xFFFFF)) & 0xFFFFF),
      bytes(static_cast<std::int32_t>(word >> 22 & 0x1FFFFF) - ((word >> 42 & 1) ? 1 << 21 : 0)),
      phase(word >> 63 & 1) {}

std::uint64_t Mbarrier::word() const {
    return std::uint64_t{phase} << 63 | std::uint64_t{((1u << 20) - pending) & 0xFFFFF} << 43 |
           std::uint64_t{static_cast<std::uint32_t>(bytes) & 0x1FFFFF} << 22 |
           std::uint64_t{((1u << 20) - expected) & 0xFFFFF} << 1;
}

namespace {

struct Cell {
    Block *block;
    std::uint8_t *memory;
};

Cell find(Machine &m, Space space, std::uint64_t address, unsigned lane) {
    if (space == Space::Generic) {
        if ((address & kWindowMask) != kSharedWindow)
            m.fault("mbarrier", "an mbarrier must lie in shared memory", lane, address);
        address -= kSharedWindow;
        space = Space::SharedCluster;
    }
    std::uint8_t *memory = locate_range(m, space, address, 8, 8, true, lane);
    return {space == Space::Shared ? &m.block : find_shared(m, address, lane).block, memory};
}

std::uint64_t read(const Cell &place) {
    std::uint64_t word;
    std::memcpy(&word, place.memory, 8);
    return word;
}

Mbarrier load(Machine &m, const Cell &place, unsigned lane) {
    const std::uint64_t word = read(place);
    if (word == 0) m.fault("mbarrier", "the mbarrier has not been initialised", lane);
    return Mbarrier(word);
}

// Keep a changed barrier; where nothing is missing any more, its next phase begins.
void keep(Machine &m, const Cell &place, Mbarrier barrier, unsigned lane) {
    if (barrier.bytes > Mbarrier::kMostBytes || barrier.bytes < -Mbarrier::kMostBytes)
        m.fault("mbarrier", "the mbarrier expects more bytes than it can count (1048575)", lane);
    if (barrier.pending == 0 && barrier.bytes == 0) {
        barrier.phase = !barrier.phase;
        barrier.pending = barrier.expected;
        m.block.cluster->idle_rounds = 0;
        for (Warp &warp : place.block->warps)
            for (Part &part : warp.parts)
                if (part.state == Part::State::AtMbarrier) part.state = Part::State::Ready;
    }
    const std::uint64_t word = barrier.word();
    std::memcpy(place.memory, &word, 8);
}

template <class F>
void for_each(Machine &m, const Inst &i, std::uint32_t slot, F f) {
    const AccessMode mode(i.target);
    const std::uint64_t *addresses = m.source<std::uint64_t>(slot);
    for (unsigned l = 0; l < kLanes; ++l)
        if (m.mask >> l & 1) f(find(m, mode.space, addresses[l], l), l);
}

// Slots: address, count.
void init(Machine &m, const Inst &i) {
    const std::uint32_t *count = m.source<std::uint32_t>(i.slots[1]);
    for_each(m, i, i.slots[0], [&](const Cell &place, unsigned l) {
        if (count[l] == 0 || count[l] > Mbarrier::kMostArrivals)
            m.fault("mbarrier", "an mbarrier expects 1 to 1048575 arrivals, not " +
                                    std::to_string(count[l]), l);
        Mbarrier barrier(0);
        barrier.expected = barrier.pending = count[l];
        const std::uint64_t word = barrier.word();
        std::memcpy(place.memory, &word, 8);
    });
}

void invalidate(Machine &m, const Inst &i) {
    for_each(m, i, i.slots[0], [](const Cell &place, unsigned) { std::memset(place.memory, 0, 8); });
}

// Slots: address, bytes. `immediate`: 1 expect, -1 complete.
void transfer(Machine &m, const Inst &i) {
    const std::uint32_t *bytes = m.source<std::uint32_t>(i.slots[1]);
    for_each(m, i, i.slots[0], [&](const Cell &place, unsigned l) {
        Mbarrier barrier = load(m, place, l);
        barrier.bytes += static_cast<std::int32_t>(i.immediate) * static_cast<std::int32_t>(bytes[l] & 0x1FFFFF);
        keep(m, place, barrier, l);
    });
}

// Slots: address, state, count, bytes to expect; the last three may be missing. `immediate`: bit 0
// drop, bit 1 must not complete the phase.
void arrive(Machine &m, const Inst &i) {
    const bool drop = i.immediate & 1, incomplete = i.immediate & 2;
    std::uint64_t states[kLanes] = {};
    for_each(m, i, i.slots[0], [&](const Cell &place, unsigned l) {
        Mbarrier barrier = load(m, place, l);
        const std::uint32_t count =
            i.slots[2] == kNoSlot ? 1 : m.source<std::uint32_t>(i.slots[2])[l];
        if (i.slots[3] != kNoSlot)
            barrier.bytes += static_cast<std::int32_t>(m.source<std::uint32_t>(i.slots[3])[l] & 0x1FFFFF);
        if (count == 0 || count > barrier.pending || (incomplete && count == barrier.pending))
            m.fault("mbarrier",
                    std::to_string(count) + " arrivals at an mbarrier that waits for " +
                        std::to_string(barrier.pending) +
                        (incomplete ? ", which .noComplete says it does not complete" : ""), l);
        states[l] = barrier.word();
        barrier.pending -= count;
        if (drop) barrier.expected -= std::min(count, barrier.expected);
        keep(m, place, barrier, l);
    });
    if (i.slots[1] != kNoSlot) put(m, m.destination<std::uint64_t>(i.slots[1]), states);
}

// Slots: p, address, state, parity (one of the two). `immediate`: 1 waits for a while.
void wait(Machine &m, const Inst &i) {
    std::uint32_t passed = 0;
    for_each(m, i, i.slots[1], [&](const Cell &place, unsigned l) {
        const bool now = load(m, place, l).phase;
        const bool awaited = i.slots[2] != kNoSlot
                                 ? m.source<std::uint64_t>(i.slots[2])[l] >> 63 & 1
                                 : m.source<std::uint32_t>(i.slots[3])[l] & 1;
        passed |= static_cast<std::uint32_t>(now != awaited) << l;
    });
    if (passed == 0 && i.immediate == 1 && !m.part->timed_out)
        return suspend(m, Part::State::AtMbarrier);
    m.part->timed_out = false;
    put_predicate(m, i.slots[0], passed);
    if (passed == 0) yield(m);  // whoever asks without waiting asks again
}

// cp.async.mbarrier.arrive: the copies are done already. With .noinc the arrival was counted when
// the barrier was made; without, it is counted now, and nothing changes.
void arrive_after_copies(Machine &m, const Inst &i) {
    if (i.immediate == 0) return;
    for_each(m, i, i.slots[0], [&](const Cell &place, unsigned l) {
        Mbarrier barrier = load(m, place, l);
        barrier.pending -= 1;
        keep(m, place, barrier, l);
    });
}

}  // namespace

void complete_bytes(Machine &m, Space space, std::uint64_t address, std::uint32_t bytes,
                    unsigned lane) {
    const Cell place = find(m, space, address, lane);
    Mbarrier barrier = load(m, place, lane);
    barrier.bytes -= static_cast<std::int32_t>(bytes & 0x1FFFFF);
    keep(m, place, barrier, lane);
}

void add_mbarrier_operations(OperationList &list) {
    list.push_back({"mbarrier.init", init});
    list.push_back({"mbarrier.inval", invalidate});
    list.push_back({"mbarrier.transfer", transfer});
    list.push_back({"mbarrier.arrive", arrive});
    list.push_back({"mbarrier.wait", wait});
    list.push_back({"cp.async.mbarrier.arrive", arrive_after_copies});
}

}  // namespace ptxkit::sim
