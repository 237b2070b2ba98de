#include "scheduler.hpp"

#include <algorithm>
#include <bit>

#include "control.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kSlice = 1u << 14;   // warp instructions before others get a turn
constexpr std::uint32_t kTurn = 1u << 11;    // instructions before divergent lanes take turns

Part *choose(Warp &warp, std::uint32_t turn) {
    Part *best = nullptr;
    std::uint32_t ready = 0;
    for (Part &part : warp.parts) ready += part.state == Part::State::Ready;
    // Every few turns another part runs, so that one that spins cannot starve the rest.
    std::uint32_t skip = ready > 1 && turn % 4 == 3 ? (turn / 4) % ready : 0;
    for (Part &part : warp.parts) {
        if (part.state != Part::State::Ready) continue;
        if (ready > 1 && turn % 4 == 3) {
            if (skip-- == 0) return &part;
            continue;
        }
        if (best == nullptr || part.depth > best->depth ||
            (part.depth == best->depth && part.pc < best->pc))
            best = &part;
    }
    return best;
}

// At a place where paths join: unite with others that are here, or let those behind go
// first. True when the current part stops running.
bool meet(Warp &warp, Part &part) {
    const std::uint32_t pc = part.pc;
    const std::uint32_t frame = part.frame;
    bool behind = false;
    bool here = false;
    for (const Part &other : warp.parts) {
        if (&other == &part || other.frame != frame || other.state != Part::State::Ready)
            continue;
        here = here || other.pc == pc;
        behind = behind || other.pc < pc;
    }
    if (here) merge_parts(warp);
    return here || behind;
}

// Lanes that wait at bar.warp.sync in different places may meet all the same.
bool wake_warp_barriers(Block &block) {
    bool woken = false;
    for (Warp &warp : block.warps) {
        std::uint32_t here = 0;
        for (const Part &part : warp.parts)
            if (part.state == Part::State::AtWarpSync) here |= part.mask;
        for (Part &part : warp.parts) {
            const std::uint32_t wanted = part.wait_mask & ~warp.exited;
            if (part.state == Part::State::AtWarpSync && (wanted & ~part.mask) == 0) {
                part.state = Part::State::Ready;
                woken = true;
            }
        }
    }
    return woken;
}

}  // namespace

Worker::Worker(Engine &engine) : engine_(engine) {
    if (engine.options.count)
        for (const Function &function : engine.program.functions)
            counts.emplace_back(function.code.size());
}

bool Worker::run(Block &block, std::uint32_t budget) {
    Machine machine(engine_, block);
    machine.constants = engine_.program.constants.data();
    for (;;) {
        bool progressed = false;
        bool all_done = true;
        for (Warp &warp : block.warps) {
            if (warp.done()) continue;
            all_done = false;
            const std::uint32_t steps = run_warp(machine, warp);
            progressed = progressed || steps != 0;
            block.steps += steps;
            executed += steps;
            budget -= std::min(budget, steps);
        }
        if (all_done) return true;
        if (!progressed && !wake_warp_barriers(block)) report_deadlock(machine);
        if (engine_.options.step_limit && block.steps > engine_.options.step_limit) {
            place(machine);
            machine.fault("step-limit", "the block ran past the step limit");
        }
        if (budget == 0 || engine_.stopping()) return false;
    }
}

std::uint32_t Worker::run_warp(Machine &machine, Warp &warp) {
    std::uint32_t steps = 0;
    machine.warp = &warp;
    while (steps < kSlice) {
        Part *part = choose(warp, turn_);
        if (part == nullptr) break;
        const std::uint32_t before = steps;
        run_part(machine, warp, *part, steps);
        if (steps - before >= kTurn) ++turn_;
        if (engine_.stopping()) break;
    }
    return steps;
}

void Worker::run_part(Machine &machine, Warp &warp, Part &start, std::uint32_t &steps) {
    Frame &frame = warp.frames[start.frame];
    machine.part = &start;
    machine.registers = aligned(frame.registers.get());
    machine.function = &engine_.program.functions[frame.function];
    machine.switched = false;
    const Inst *code = machine.function->code.data();
    std::uint64_t *counted =
        engine_.options.count ? counts[frame.function].data() : nullptr;
    std::uint32_t pc = start.pc;
    const std::uint32_t limit = steps + kTurn;
    for (;;) {
        const Inst &inst = code[pc];
        if (inst.leader && warp.parts.size() > 1) {
            machine.part->pc = pc;
            if (meet(warp, *machine.part)) return;
        }
        std::uint32_t mask = machine.part->mask;
        if (inst.guard != kNoSlot) {
            const std::uint32_t guard = machine.predicate(inst.guard);
            mask &= inst.negated ? ~guard : guard;
        }
        machine.next = pc + 1;
        ++steps;
        if (counted != nullptr)
            counted[pc] += static_cast<std::uint64_t>(std::popcount(mask));
        if (mask != 0) {
            machine.mask = mask;
            inst.operation(machine, inst);
            if (machine.switched) return;
        }
        pc = machine.next;
        if (steps >= limit) {
            machine.part->pc = pc;
            return;
        }
    }
}

void Worker::place(Machine &machine) {
    for (Warp &warp : machine.block.warps)
        if (!warp.parts.empty()) {
            const Part &part = warp.parts.front();
            machine.warp = &warp;
            machine.function = &engine_.program.functions[warp.frames[part.frame].function];
            machine.next = part.pc + 1;
            return;
        }
}

void Worker::report_deadlock(Machine &machine) {
    place(machine);
    std::uint32_t at_barrier = 0, at_sync = 0;
    for (const Warp &warp : machine.block.warps)
        for (const Part &part : warp.parts) {
            const auto lanes = static_cast<std::uint32_t>(std::popcount(part.mask));
            (part.state == Part::State::AtBarrier ? at_barrier : at_sync) += lanes;
        }
    machine.fault("deadlock",
                  "no thread can go on: " + std::to_string(at_barrier) +
                      " wait at a barrier, " + std::to_string(at_sync) +
                      " at a warp operation whose other lanes do not come");
}

}  // namespace ptxkit::sim
