#include "control.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "barriers.hpp"

namespace ptxkit::sim {

std::unique_ptr<std::uint8_t[]> make_registers(std::uint32_t bytes) {
    return std::make_unique<std::uint8_t[]>(bytes + 64 + kWidestSlot);
}

void merge_parts(Warp &warp) {
    for (std::size_t one = 0; one < warp.parts.size(); ++one)
        for (std::size_t two = one + 1; two < warp.parts.size();) {
            Part &a = warp.parts[one];
            const Part &b = warp.parts[two];
            if (a.pc == b.pc && a.frame == b.frame && a.state == b.state &&
                a.state != Part::State::AtBarrier) {
                a.mask |= b.mask;
                warp.frames[b.frame].users -= 1;
                warp.parts.erase(warp.parts.begin() + static_cast<std::ptrdiff_t>(two));
            } else {
                ++two;
            }
        }
}

namespace {

void drop_frame(Warp &warp, std::uint32_t index) {
    while (index != kNoSlot && warp.frames[index].users == 0) {
        const std::uint32_t parent = warp.frames[index].parent;
        warp.frames[index].registers.reset();
        warp.free_frames.push_back(index);
        index = parent;
        if (index != kNoSlot) warp.frames[index].users -= 1;
    }
}

std::uint32_t new_frame(Warp &warp) {
    if (!warp.free_frames.empty()) {
        const std::uint32_t index = warp.free_frames.back();
        warp.free_frames.pop_back();
        return index;
    }
    warp.frames.emplace_back();
    return static_cast<std::uint32_t>(warp.frames.size() - 1);
}

// Take the active lanes out of the current part; true when none are left in it.
bool take_lanes(Machine &machine) {
    machine.part->mask &= ~machine.mask;
    machine.part->pc = machine.next;
    machine.switched = true;
    return machine.part->mask == 0;
}

void erase_part(Machine &machine) {
    Warp &warp = *machine.warp;
    const std::uint32_t frame = machine.part->frame;
    warp.parts.erase(warp.parts.begin() + (machine.part - warp.parts.data()));
    warp.frames[frame].users -= 1;
    drop_frame(warp, frame);
}

}  // namespace

void branch(Machine &machine, std::uint32_t target) {
    if (machine.mask == machine.part->mask) {
        machine.next = target;
        return;
    }
    Part taken = *machine.part;
    taken.mask = machine.mask;
    taken.pc = target;
    machine.part->mask &= ~machine.mask;
    machine.part->pc = machine.next;
    machine.warp->frames[taken.frame].users += 1;
    machine.warp->parts.push_back(taken);
    machine.switched = true;
}

void leave_lanes(Machine &machine) {
    machine.warp->exited |= machine.mask;
    const auto lanes = static_cast<std::uint32_t>(std::popcount(machine.mask));
    machine.block.live -= lanes;
    Cluster &cluster = *machine.block.cluster;
    cluster.live -= lanes;
    cluster.arrived -= static_cast<std::uint32_t>(
        std::popcount(machine.warp->at_cluster & machine.mask));
    machine.warp->at_cluster &= ~machine.mask;
    if (take_lanes(machine)) erase_part(machine);
    release_barriers(machine.block);
}

void call_function(Machine &machine, const Inst &inst, std::uint32_t callee) {
    Warp &warp = *machine.warp;
    const Function &function = machine.engine.program.functions[callee];
    const std::uint32_t caller_frame = machine.part->frame;
    const Function &caller = *machine.function;
    const std::uint32_t index = new_frame(warp);
    Frame &frame = warp.frames[index];
    const Frame &above = warp.frames[caller_frame];
    frame.function = callee;
    frame.parent = caller_frame;
    frame.return_to = machine.next;
    frame.local_base = ((above.local_base + caller.local_bytes + 15u) & ~15u) + kCallBytes;
    frame.users = 1;
    frame.registers = make_registers(function.register_bytes);
    frame.call_places = caller.lists.data() + inst.list;

    const std::uint32_t end = frame.local_base + function.local_bytes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((machine.mask >> lane & 1) && end > warp.stack_tops[lane])
            machine.fault("stack-overflow",
                          "stack overflow: the call of '" + function.name + "' at depth " +
                              std::to_string(machine.part->depth + 1) + " needs more than the " +
                              std::to_string(machine.engine.options.stack) +
                              " bytes that a thread has for its calls",
                          lane);
    if (machine.engine.program.uses_alloca) {
        frame.stack_tops = std::make_unique<std::uint32_t[]>(kLanes);
        std::copy(std::begin(warp.stack_tops), std::end(warp.stack_tops), frame.stack_tops.get());
    }
    // Places: results first, then arguments, each an offset in the caller's local memory.
    const std::uint32_t *places = frame.call_places + function.results.size();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(machine.mask >> lane & 1)) continue;
        std::uint8_t *local = machine.block.local_of(warp.index * kLanes + lane);
        for (std::size_t n = 0; n < function.parameters.size(); ++n) {
            const Place &place = function.parameters[n];
            if (std::size_t{above.local_base} + places[n] + place.size > machine.block.local_stride)
                machine.fault("call", "an argument is larger than what the caller passes", lane);
            std::memcpy(local + frame.local_base + place.offset,
                        local + above.local_base + places[n], place.size);
        }
    }
    if (machine.block.observers) machine.block.observers->enter(machine, index);
    // The active lanes move into the callee as a part of their own.
    Part called = *machine.part;
    called.mask = machine.mask;
    called.pc = 0;
    called.frame = index;
    called.depth += 1;
    // The caller's frame is used from below now: the moved part's use becomes the frame's.
    if (take_lanes(machine)) {
        *machine.part = called;
    } else {
        warp.frames[caller_frame].users += 1;
        warp.parts.push_back(called);
    }
}

void return_lanes(Machine &machine) {
    Warp &warp = *machine.warp;
    const std::uint32_t index = machine.part->frame;
    const Frame &frame = warp.frames[index];
    if (frame.parent == kNoSlot) return leave_lanes(machine);
    const Function &function = *machine.function;
    const Frame &above = warp.frames[frame.parent];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(machine.mask >> lane & 1)) continue;
        if (frame.stack_tops) warp.stack_tops[lane] = frame.stack_tops[lane];
        std::uint8_t *local = machine.block.local_of(warp.index * kLanes + lane);
        for (std::size_t n = 0; n < function.results.size(); ++n) {
            const Place &place = function.results[n];
            if (std::size_t{above.local_base} + frame.call_places[n] + place.size >
                machine.block.local_stride)
                machine.fault("call", "a result is larger than what the caller takes", lane);
            std::memcpy(local + above.local_base + frame.call_places[n],
                        local + frame.local_base + place.offset, place.size);
        }
    }
    if (machine.block.observers) machine.block.observers->leave(machine, index);
    Part returned = *machine.part;
    returned.mask = machine.mask;
    returned.pc = frame.return_to;
    returned.frame = frame.parent;
    returned.depth -= 1;
    warp.frames[frame.parent].users += 1;
    if (take_lanes(machine)) erase_part(machine);
    warp.parts.push_back(returned);
    merge_parts(warp);
}

void yield(Machine &machine) {
    machine.part->pc = machine.next;
    machine.switched = true;
    machine.yielded = true;
}

void suspend(Machine &machine, Part::State state) {
    split_inactive(machine);
    machine.part->pc = machine.next - 1;
    machine.part->state = state;
    machine.switched = true;
}

void split_inactive(Machine &machine) {
    if (machine.mask == machine.part->mask) return;
    Warp &warp = *machine.warp;
    Part others = *machine.part;
    others.mask &= ~machine.mask;
    others.pc = machine.next;
    machine.part->mask = machine.mask;
    warp.frames[others.frame].users += 1;
    const auto place = machine.part - warp.parts.data();
    warp.parts.push_back(others);
    machine.part = warp.parts.data() + place;
}

void postpone_others(Machine &machine, std::uint32_t now) {
    Warp &warp = *machine.warp;
    Part others = *machine.part;
    others.mask &= ~now;
    others.pc = machine.next - 1;
    machine.repeated |= machine.mask & ~now;
    machine.part->mask = now;
    machine.mask = now;
    warp.frames[others.frame].users += 1;
    const auto place = machine.part - warp.parts.data();
    warp.parts.push_back(others);
    machine.part = warp.parts.data() + place;
}

bool converge(Machine &machine, std::uint32_t members) {
    Warp &warp = *machine.warp;
    const std::uint32_t wanted = members & warp.existing & ~warp.exited;
    if ((wanted & ~machine.mask) == 0) return true;
    machine.repeated |= machine.mask;
    split_inactive(machine);
    machine.part->pc = machine.next - 1;
    machine.part->state = Part::State::AtWarpSync;
    machine.part->wait_mask = wanted;
    machine.switched = true;
    const auto same = [&](const Part &other) {
        return other.state == Part::State::AtWarpSync && other.pc == machine.part->pc &&
               other.frame == machine.part->frame;
    };
    std::uint32_t here = 0;
    for (const Part &other : warp.parts)
        if (same(other)) here |= other.mask;
    merge_parts(warp);
    if ((wanted & ~here) == 0)
        for (Part &other : warp.parts)
            if (other.state == Part::State::AtWarpSync && (other.mask & here) != 0)
                other.state = Part::State::Ready;
    return false;
}

}  // namespace ptxkit::sim
