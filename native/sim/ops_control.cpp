// Branches, calls, barriers, special registers.
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
    const std::uint64_t number = first - 0x4000000000000000ull;
    if (number >= m.engine.program.functions.size())
        m.fault("call", "the called address is no function", static_cast<unsigned>(std::countr_zero(all)), first);
    const Function &callee = m.engine.program.functions[number];
    if (callee.results.size() + callee.parameters.size() != i.list_size)
        m.fault("call", "'" + callee.name + "' takes other arguments than the call gives");
    const std::uint32_t here = m.next - 1;
    const bool some = same != m.part->mask && same != all;
    m.mask = same;
    Part *before = m.part;
    call_function(m, i, static_cast<std::uint32_t>(number));
    if (some) before->pc = here;
}

// A special register: which one is in `immediate`, see run/lowering.
void special(Machine &m, const Inst &i) {
    const LaunchOptions &o = m.engine.options;
    const Dim3 shape = o.block;
    std::uint32_t result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint32_t linear = m.warp->index * kLanes + l;
        std::uint32_t v = 0;
        switch (i.immediate) {
            case 0: v = linear % shape.x; break;
            case 1: v = linear / shape.x % shape.y; break;
            case 2: v = linear / shape.x / shape.y; break;
            case 3: v = shape.x; break;
            case 4: v = shape.y; break;
            case 5: v = shape.z; break;
            case 6: v = m.block.id[0]; break;
            case 7: v = m.block.id[1]; break;
            case 8: v = m.block.id[2]; break;
            case 9: v = o.grid.x; break;
            case 10: v = o.grid.y; break;
            case 11: v = o.grid.z; break;
            case 12: v = l; break;
            case 13: v = m.warp->index; break;
            case 14: v = static_cast<std::uint32_t>(m.block.warps.size()); break;
            case 15: v = 1u << l; break;
            case 16: v = (1u << l) - 1; break;
            case 17: v = (2u << l) - 1; break;
            case 18: v = ~((2u << l) - 1); break;
            case 19: v = ~((1u << l) - 1); break;
            case 20: v = static_cast<std::uint32_t>(m.block.steps); break;      // a clock
            case 21: v = o.dynamic_shared; break;
            case 22: v = static_cast<std::uint32_t>(m.block.shared.size()); break;
            default: v = 0; break;
        }
        result[l] = v;
    }
    if (i.width == 8) {
        std::uint64_t wide[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) wide[l] = result[l];
        put(m, m.destination<std::uint64_t>(i.slots[0]), wide);
    } else if (i.width == 2) {
        std::uint16_t low[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) low[l] = static_cast<std::uint16_t>(result[l]);
        put(m, m.destination<std::uint16_t>(i.slots[0]), low);
    } else {
        put(m, m.destination<std::uint32_t>(i.slots[0]), result);
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
    add("bar", block_barrier);
}

}  // namespace ptxkit::sim
