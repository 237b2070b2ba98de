#include "scheduler.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "control.hpp"
#include "sides.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kSlice = 1u << 14;   // warp instructions before others get a turn
constexpr std::uint32_t kTurn = 1u << 11;    // instructions before divergent lanes take turns
constexpr std::uint32_t kAlone = 1u << 20;   // both of these where each lane runs by itself
constexpr std::uint32_t kPolling = 1u << 14; // what a turn of a cluster that only polls counts
constexpr std::uint32_t kPolls = 64;         // of a warp's parts before other warps get a turn
constexpr std::uint32_t kIdleRounds = 1000;  // vain waits at mbarriers before it is a deadlock

// Every few turns another part runs than the one that is most behind, so that one that spins
// cannot starve the rest.
constexpr bool is_fair(std::uint32_t turn) { return turn % 4 == 3; }

// Of two parts of a warp as deep in calls, the one that is to run: the one behind, which may catch
// up with the other; or, to see whether that makes a difference, the one ahead.
Part *choose(Warp &warp, std::uint32_t turn, bool descending) {
    Part *best = nullptr;
    std::uint32_t ready = 0;
    for (Part &part : warp.parts) ready += part.state == Part::State::Ready;
    std::uint32_t skip = ready > 1 && is_fair(turn) ? (turn / 4) % ready : 0;
    for (Part &part : warp.parts) {
        if (part.state != Part::State::Ready) continue;
        if (ready > 1 && is_fair(turn)) {
            if (skip-- == 0) return &part;
            continue;
        }
        if (best == nullptr || part.depth > best->depth ||
            (part.depth == best->depth && (part.pc < best->pc) != descending))
            best = &part;
    }
    return best;
}

// At a place where paths join: unite with others that are here, or let those behind go
// first, but in a turn in which nobody waits. True when the current part stops running.
bool meet(Warp &warp, Part &part, bool hurried) {
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
    return here || (behind && !hurried);
}

// Lanes that wait at a warp operation go on when those that miss have exited. At bar.warp.sync they
// may also wait in different places of the program: what counts is who has come.
bool wake_warp_barriers(const Program &program, Block &block) {
    static const Operation kBarrier = find_operation("bar.warp");
    bool woken = false;
    for (Warp &warp : block.warps) {
        const auto waits_only = [&](const Part &part) {
            const Function &function = program.functions[warp.frames[part.frame].function];
            return part.state == Part::State::AtWarpSync &&
                   function.code[part.pc].operation == kBarrier;
        };
        std::uint32_t here = 0, met = 0;
        for (const Part &part : warp.parts)
            if (waits_only(part)) here |= part.mask;
        for (Part &part : warp.parts) {
            if (part.state != Part::State::AtWarpSync) continue;
            const std::uint32_t wanted = part.wait_mask & ~warp.exited;
            if ((wanted & ~part.mask) == 0) {
                part.state = Part::State::Ready;
                woken = true;
            } else if (waits_only(part) && (wanted & ~here) == 0) {
                part.state = Part::State::Ready;
                part.pc += 1;
                met |= part.mask;
                woken = true;
            }
        }
        if (met != 0 && block.observers) block.observers->meet(warp, met);
    }
    return woken;
}

// Nobody in the cluster can go on: try what may still help. Waits at mbarriers have a limit, so
// those end; a kernel that starts them again and again without any other event is deadlocked.
bool wake(const Program &program, Cluster &cluster) {
    bool woken = false;
    for (const auto &block : cluster.blocks)
        woken = wake_warp_barriers(program, *block) || woken;
    if (woken || ++cluster.idle_rounds > kIdleRounds) return woken;
    for (const auto &block : cluster.blocks)
        for (Warp &warp : block->warps)
            for (Part &part : warp.parts)
                if (part.state == Part::State::AtMbarrier) {
                    part.state = Part::State::Ready;
                    part.timed_out = true;
                    woken = true;
                }
    return woken;
}

// Where a part is, as the instruction before the next one. Those that wait at a barrier have it
// behind them.
std::uint32_t next_of(const Part &part) {
    return part.state == Part::State::AtBarrier ? part.pc : part.pc + 1;
}

}  // namespace

Worker::Worker(Engine &engine) : engine_(engine), constants_(engine.program.constants) {
    constants_.resize(constants_.size() + kWidestSlot);
    if (engine.options.count)
        for (const Function &function : engine.program.functions) {
            counts.emplace_back(function.code.size());
            sides.emplace_back(function.code.size());
        }
}

Worker::Turn Worker::run_block(Block &block) {
    Machine machine(engine_, block);
    machine.constants = constants_.data();
    Turn turn;
    const std::size_t count = block.warps.size();
    for (std::size_t place = 0; place < count; ++place) {
        Warp &warp = block.warps[engine_.options.descending ? count - 1 - place : place];
        if (warp.done()) continue;
        turn.done = false;
        machine.yielded = false;
        const std::uint32_t steps = run_warp(machine, warp);
        turn.progressed = turn.progressed || steps != 0;
        turn.worked = turn.worked || (steps != 0 && !machine.yielded);
        turn.steps += steps;
        block.steps += steps;
    }
    executed += turn.steps;
    if (engine_.options.step_limit && block.steps > engine_.options.step_limit)
        machine.fault("step-limit", "the block ran past the step limit", place(machine));
    if (engine_.overdue() && turn.steps != 0)
        machine.fault("time-limit", "the run took longer than the time limit", place(machine));
    return turn;
}

bool Worker::run(Cluster &cluster, std::uint32_t budget) {
    for (;;) {
        Turn all;
        for (const auto &block : cluster.blocks) {
            const Turn turn = run_block(*block);
            all.done = all.done && turn.done;
            all.progressed = all.progressed || turn.progressed;
            all.worked = all.worked || turn.worked;
            all.steps += turn.steps;
        }
        if (all.done) return true;
        engine_.breathe();
        if (engine_.stopping()) return false;
        if (!all.progressed && !wake(engine_.program, cluster)) report_deadlock(cluster);
        // Where all only poll, they may wait for another cluster.
        budget -= std::min(budget, all.worked ? all.steps : all.steps + kPolling);
        if (budget == 0) return false;
    }
}

std::uint32_t Worker::turn_length() const { return engine_.options.descending ? kAlone : kTurn; }

std::uint32_t Worker::run_warp(Machine &machine, Warp &warp) {
    std::uint32_t steps = 0, polls = 0;
    const std::uint32_t most = engine_.options.descending ? kAlone : kSlice;
    machine.warp = &warp;
    while (steps < most) {
        machine.yielded = false;
        Part *part = choose(warp, turn_, engine_.options.descending);
        if (part == nullptr) break;
        const std::uint32_t before = steps;
        if (machine.block.observers) run_part<true>(machine, warp, *part, steps);
        else run_part<false>(machine, warp, *part, steps);
        warp.polled = machine.yielded;
        if (machine.yielded) {
            // Another part of the warp may be what this one waits for.
            ++turn_;
            if (warp.parts.size() < 2 || ++polls > kPolls) break;
        } else if (steps - before >= turn_length() || is_fair(turn_)) {
            ++turn_;
        }
        if (engine_.stopping() || engine_.overdue()) break;
    }
    return steps;
}

template <bool kObserved>
void Worker::run_part(Machine &machine, Warp &warp, Part &start, std::uint32_t &steps) {
    Frame &frame = warp.frames[start.frame];
    machine.part = &start;
    machine.registers = aligned(frame.registers.get());
    machine.function = &engine_.program.functions[frame.function];
    machine.switched = false;
    const Inst *code = machine.function->code.data();
    std::uint64_t *counted =
        engine_.options.count ? counts[frame.function].data() : nullptr;
    std::uint8_t *shown = engine_.options.count ? sides[frame.function].data() : nullptr;
    std::uint32_t pc = start.pc;
    const std::uint32_t limit = steps + turn_length();
    const bool hurried = is_fair(turn_) || engine_.options.descending;
    for (;;) {
        const Inst &inst = code[pc];
        if (inst.leader && warp.parts.size() > 1) {
            machine.part->pc = pc;
            if (meet(warp, *machine.part, hurried)) return;
        }
        std::uint32_t mask = machine.part->mask;
        if (inst.guard != kNoSlot) {
            const std::uint32_t guard = machine.predicate(inst.guard);
            mask &= inst.negated ? ~guard : guard;
        }
        machine.next = pc + 1;
        ++steps;
        machine.repeated = 0;
        if (counted != nullptr) {
            counted[pc] += static_cast<std::uint64_t>(std::popcount(mask));
            if (mask != machine.part->mask) shown[pc] |= kSkipped;
            if (mask != 0 && (shown[pc] & inst.sides.all) != inst.sides.all) {
                machine.mask = mask;
                shown[pc] |= inst.sides.judge(machine, inst, mask);
            }
        }
        // Counted before, since an instruction may fault; taken back for lanes that must wait.
        const auto recount = [&] {
            if (counted != nullptr)
                counted[pc] -= static_cast<std::uint64_t>(std::popcount(mask & machine.repeated));
        };
        if constexpr (kObserved) {
            machine.mask = mask;
            machine.block.observers->before(machine, inst, mask);
            if (mask != 0) inst.operation(machine, inst);
            machine.block.observers->after(machine, inst, mask);
            recount();
            if (machine.switched) return;
        } else if (mask != 0) {
            machine.mask = mask;
            inst.operation(machine, inst);
            recount();
            if (machine.switched) return;
        }
        pc = machine.next;
        if (steps >= limit) {
            machine.part->pc = pc;
            return;
        }
    }
}

unsigned Worker::place(Machine &machine) {
    Warp *best = nullptr;
    const Part *where = nullptr;
    int best_rank = 3;
    for (Warp &warp : machine.block.warps)
        for (const Part &part : warp.parts) {
            // Best of all one that computes, then one that looks whether others have done something.
            const int rank = part.state != Part::State::Ready ? 2 : warp.polled ? 1 : 0;
            if (rank >= best_rank) continue;
            best_rank = rank;
            best = &warp;
            where = &part;
        }
    if (best == nullptr) return 0;
    machine.warp = best;
    machine.function = &engine_.program.functions[best->frames[where->frame].function];
    machine.next = next_of(*where);
    return static_cast<unsigned>(std::countr_zero(where->mask));
}

void Worker::report_deadlock(Cluster &cluster) {
    static constexpr const char *kWhy[] = {
        "", "at a barrier", "at a warp operation whose other lanes do not come",
        "at the barrier of the cluster", "at an mbarrier whose phase does not complete"};
    using Key = std::tuple<std::uint32_t, std::uint32_t, unsigned>;
    std::map<Key, std::uint64_t> places;
    Block *first = nullptr;
    for (const auto &block : cluster.blocks)
        for (const Warp &warp : block->warps)
            for (const Part &part : warp.parts) {
                if (first == nullptr) first = block.get();
                const std::uint32_t next = next_of(part);
                places[{warp.frames[part.frame].function, next == 0 ? 0 : next - 1,
                        static_cast<unsigned>(part.state)}] +=
                    static_cast<std::uint64_t>(std::popcount(part.mask));
            }
    Machine machine(engine_, *first);
    Fault fault = machine.make_fault("deadlock", "no thread can go on", place(machine), 0);
    for (const auto &[key, threads] : places) {
        const auto [function, instruction, state] = key;
        fault.waiting.push_back({function, instruction, kWhy[state], threads});
    }
    throw fault;
}

}  // namespace ptxkit::sim
