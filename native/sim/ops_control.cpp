// Branches, calls, barriers, special registers.
#include <algorithm>
#include <bit>

#include "barriers.hpp"
#include "control.hpp"
#include "lanes.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

void branch_table(Machine &m, const Inst &i) {
    const std::uint32_t *index = m.source<std::uint32_t>(i.slots[0]);
    const std::uint32_t *targets = m.function->lists.data() + i.list;
    const std::uint32_t all = m.mask;
    const std::uint32_t first = index[std::countr_zero(all)];
    std::uint32_t same = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(all >> l & 1)) continue;
        if (index[l] >= i.list_size)
            m.fault("branch", "brx.idx index " + std::to_string(index[l]) + " is past the table of " +
                                  std::to_string(i.list_size), l);
        same |= static_cast<std::uint32_t>(index[l] == first) << l;
    }
    if (same == all) return branch(m, targets[first]);
    // One group goes now; the others come back to this instruction.
    m.mask = same;
    const std::uint32_t here = m.next - 1;
    branch(m, targets[first]);
    m.part->pc = here;
}

void call_indirect(Machine &m, const Inst &i) {
    const std::uint64_t *target = m.source<std::uint64_t>(i.slots[0]);
    const std::uint32_t all = m.mask;
    const std::uint64_t first = target[std::countr_zero(all)];
    std::uint32_t same = 0;
    for (unsigned l = 0; l < kLanes; ++l)
        if (all >> l & 1) same |= static_cast<std::uint32_t>(target[l] == first) << l;
    const Program &program = m.engine.program;
    const auto found = program.addresses.find(first);
    if (found == program.addresses.end())
        m.fault("call", "the called address is no function that the kernel can reach",
                static_cast<unsigned>(std::countr_zero(all)), first);
    const std::uint32_t number = found->second;
    const Function &callee = program.functions[number];
    if (callee.results.size() + callee.parameters.size() != i.list_size)
        m.fault("call", "'" + callee.name + "' takes other arguments than the call gives");
    const std::uint32_t here = m.next - 1;
    const auto before = m.part - m.warp->parts.data();
    m.mask = same;
    call_function(m, i, number);
    // The others come back to this instruction.
    if (same != all) m.warp->parts[static_cast<std::size_t>(before)].pc = here;
}

// Special registers, in the order of run/lowering/special.py.
enum SpecialRegister : std::int64_t {
    kTidX, kTidY, kTidZ, kNtidX, kNtidY, kNtidZ, kCtaidX, kCtaidY, kCtaidZ, kNctaidX, kNctaidY,
    kNctaidZ, kLaneId, kWarpId, kNwarpId, kLanemaskEq, kLanemaskLt, kLanemaskLe, kLanemaskGt,
    kLanemaskGe, kClock, kDynamicShared, kTotalShared, kClusteridX, kClusteridY, kClusteridZ,
    kNclusteridX, kNclusteridY, kNclusteridZ, kClusterCtaidX, kClusterCtaidY, kClusterCtaidZ,
    kClusterNctaidX, kClusterNctaidY, kClusterNctaidZ, kClusterCtarank, kClusterNctarank, kClockHigh,
    kWorkspaceHigh, kWorkspaceLow,
};

// What differs between the lanes of a warp.
std::uint32_t of_lane(const Machine &m, std::int64_t which, unsigned l) {
    const Dim3 &shape = m.engine.options.block;
    const std::uint32_t linear = m.warp->index * kLanes + l;
    switch (which) {
        case kTidX: return linear % shape.x;
        case kTidY: return linear / shape.x % shape.y;
        case kTidZ: return linear / shape.x / shape.y;
        case kLaneId: return l;
        case kLanemaskEq: return 1u << l;
        case kLanemaskLt: return (1u << l) - 1;
        case kLanemaskLe: return (2u << l) - 1;
        case kLanemaskGt: return ~((2u << l) - 1);
        default: return ~((1u << l) - 1);
    }
}

std::uint64_t of_warp(const Machine &m, std::int64_t which) {
    const LaunchOptions &o = m.engine.options;
    const Block &block = m.block;
    switch (which) {
        case kNtidX: return o.block.x;
        case kNtidY: return o.block.y;
        case kNtidZ: return o.block.z;
        case kCtaidX: return block.id[0];
        case kCtaidY: return block.id[1];
        case kCtaidZ: return block.id[2];
        case kNctaidX: return o.grid.x;
        case kNctaidY: return o.grid.y;
        case kNctaidZ: return o.grid.z;
        case kWarpId: return m.warp->index;
        case kNwarpId: return block.warps.size();
        case kClock: return block.steps;  // warp instructions, at the beginning of the warp's turn
        case kClockHigh: return block.steps >> 32;
        case kDynamicShared: return o.dynamic_shared;
        case kTotalShared: return block.shared.size();
        case kClusteridX: return block.cluster->id[0];
        case kClusteridY: return block.cluster->id[1];
        case kClusteridZ: return block.cluster->id[2];
        case kNclusteridX: return o.grid.x / o.cluster.x;
        case kNclusteridY: return o.grid.y / o.cluster.y;
        case kNclusteridZ: return o.grid.z / o.cluster.z;
        case kClusterCtaidX: return block.rank % o.cluster.x;
        case kClusterCtaidY: return block.rank / o.cluster.x % o.cluster.y;
        case kClusterCtaidZ: return block.rank / o.cluster.x / o.cluster.y;
        case kClusterNctaidX: return o.cluster.x;
        case kClusterNctaidY: return o.cluster.y;
        case kClusterNctaidZ: return o.cluster.z;
        case kClusterCtarank: return block.rank;
        case kClusterNctarank: return o.cluster.count();
        case kWorkspaceHigh: return o.workspace >> 32;
        case kWorkspaceLow: return o.workspace & 0xFFFFFFFFu;
        default: return 0;
    }
}

template <class T>
void put_special(Machine &m, const Inst &i) {
    const bool lanes = i.immediate <= kTidZ || i.immediate == kLaneId ||
                       (i.immediate >= kLanemaskEq && i.immediate <= kLanemaskGe);
    T result[kLanes];
    if (lanes)
        for (unsigned l = 0; l < kLanes; ++l) result[l] = static_cast<T>(of_lane(m, i.immediate, l));
    else
        std::fill(std::begin(result), std::end(result), static_cast<T>(of_warp(m, i.immediate)));
    put(m, m.destination<T>(i.slots[0]), result);
}

// A special register: which one is in `immediate`.
void special(Machine &m, const Inst &i) {
    switch (i.width) {
        case 2: return put_special<std::uint16_t>(m, i);
        case 8: return put_special<std::uint64_t>(m, i);
        default: return put_special<std::uint32_t>(m, i);
    }
}

std::uint32_t uniform(const Machine &m, std::uint32_t slot, std::uint32_t otherwise) {
    if (slot == kNoSlot) return otherwise;
    return m.source<std::uint32_t>(slot)[std::countr_zero(m.mask)];
}

// Slots: d, barrier, count, predicate. `immediate`: 's' sync, 'a' arrive, or the reduction
// 'p' popc, 'n' and, 'o' or.
void block_barrier(Machine &m, const Inst &i) {
    const std::uint32_t number = uniform(m, i.slots[1], 0);
    const std::uint32_t count = uniform(m, i.slots[2], 0);
    const std::uint32_t votes = i.slots[3] == kNoSlot ? 0 : m.predicate(i.slots[3]);
    const char kind = static_cast<char>(i.immediate);
    const char reduction = kind == 'p' ? 'c' : kind == 'n' ? 'a' : kind == 'o' ? 'o' : '\0';
    barrier(m, i, number, count, kind != 'a', votes, reduction);
}

}  // namespace

void add_control_operations(OperationList &list) {
    const auto add = [&](const char *name, Operation op) { list.push_back({name, op}); };
    add("bra", [](Machine &m, const Inst &i) { branch(m, i.target); });
    add("brx.idx", branch_table);
    add("call", [](Machine &m, const Inst &i) { call_function(m, i, i.target); });
    add("call.indirect", call_indirect);
    add("ret", [](Machine &m, const Inst &) { return_lanes(m); });
    add("exit", [](Machine &m, const Inst &) { leave_lanes(m); });
    add("trap", [](Machine &m, const Inst &) {
        m.fault("trap", "the kernel executed 'trap'", static_cast<unsigned>(std::countr_zero(m.mask)));
    });
    add("special", special);
    add("special.pred", [](Machine &m, const Inst &i) {
        put_predicate(m, i.slots[0], m.engine.options.explicit_cluster ? kFullMask : 0);
    });
    add("bar", block_barrier);
    add("barrier.cluster.arrive", [](Machine &m, const Inst &) { arrive_at_cluster(m); });
    add("barrier.cluster.wait", [](Machine &m, const Inst &) { wait_for_cluster(m); });
    add("nanosleep", [](Machine &m, const Inst &) { yield(m); });
}

}  // namespace ptxkit::sim
