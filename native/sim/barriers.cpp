#include "barriers.hpp"

#include <bit>

#include "control.hpp"

namespace ptxkit::sim {

namespace {

void try_release(Block &block, unsigned number) {
    Barrier &one = block.barriers[number];
    if (one.arrived == 0) return;
    const std::uint32_t expected = one.expected ? one.expected : block.live;
    if (one.arrived < expected) return;
    for (Warp &warp : block.warps) {
        bool woken = false;
        for (Part &part : warp.parts) {
            if (part.state != Part::State::AtBarrier || (part.wait_mask & 15u) != number) continue;
            part.state = Part::State::Ready;
            woken = true;
            const std::uint32_t slot = part.wait_mask >> 8;
            if (slot != 0xFFFFFFu) {
                auto *registers = aligned(warp.frames[part.frame].registers.get());
                const char kind = static_cast<char>(part.wait_mask >> 4 & 15u);
                auto *out = reinterpret_cast<std::uint32_t *>(registers + std::size_t{slot} * 4);
                if (kind == 1) {
                    for (unsigned lane = 0; lane < kLanes; ++lane)
                        if (part.mask >> lane & 1) out[lane] = one.reduction_count;
                } else {
                    const bool value = kind == 2 ? one.reduction_and != 0 : one.reduction_or != 0;
                    *out = (*out & ~part.mask) | (value ? part.mask : 0);
                }
            }
        }
        if (woken) merge_parts(warp);
    }
    one = Barrier{0, 0, 1, 0, 0, one.generation + 1};
}

void try_release(Cluster &cluster) {
    if (cluster.arrived == 0 || cluster.arrived < cluster.live) return;
    cluster.arrived = 0;
    for (const auto &block : cluster.blocks)
        for (Warp &warp : block->warps) {
            warp.at_cluster = 0;
            for (Part &part : warp.parts)
                if (part.state == Part::State::AtClusterBarrier) part.state = Part::State::Ready;
        }
}

}  // namespace

void release_barriers(Block &block) {
    for (unsigned number = 0; number < 16; ++number) try_release(block, number);
    try_release(*block.cluster);
}

void arrive_at_cluster(Machine &machine) {
    Cluster &cluster = *machine.block.cluster;
    if (machine.warp->at_cluster & machine.mask)
        machine.fault("barrier", "barrier.cluster.arrive again without a wait in between",
                      static_cast<unsigned>(
                          std::countr_zero(machine.warp->at_cluster & machine.mask)));
    machine.warp->at_cluster |= machine.mask;
    cluster.arrived += static_cast<std::uint32_t>(std::popcount(machine.mask));
    try_release(cluster);
}

void wait_for_cluster(Machine &machine) {
    // Who came to a phase that has ended since goes on.
    if (machine.warp->at_cluster & machine.mask)
        suspend(machine, Part::State::AtClusterBarrier);
}

void barrier(Machine &machine, const Inst &inst, std::uint32_t number, std::uint32_t count,
             bool wait, std::uint32_t votes, char reduction) {
    if (number > 15) machine.fault("barrier", "barrier numbers go from 0 to 15");
    if (count % kLanes != 0)
        machine.fault("barrier", "the thread count of a barrier must be a multiple of 32");
    Barrier &one = machine.block.barriers[number];
    one.arrived += static_cast<std::uint32_t>(std::popcount(machine.mask));
    one.expected = count;
    one.reduction_and &= (votes & machine.mask) == machine.mask;
    one.reduction_or |= (votes & machine.mask) != 0;
    one.reduction_count += static_cast<std::uint32_t>(std::popcount(votes & machine.mask));
    if (wait) {
        split_inactive(machine);
        const std::uint32_t kind = reduction == 'c' ? 1 : reduction == 'a' ? 2 : 3;
        const std::uint32_t slot = reduction ? inst.slots[0] / 4 : 0xFFFFFFu;
        machine.part->state = Part::State::AtBarrier;
        machine.part->wait_mask = number | kind << 4 | slot << 8;
        machine.part->pc = machine.next;
        machine.switched = true;
    }
    try_release(machine.block, number);
}

}  // namespace ptxkit::sim
