// Control flow of a warp: its parts, the frames of called functions, where lanes meet.
#pragma once

#include "engine.hpp"

namespace ptxkit::sim {

// What the widest register takes. An operation may read a narrower register as a wider one,
// where a program has operands of wrong types: there is as much room behind the last.
constexpr std::uint32_t kWidestSlot = 16 * kLanes;

// What a call takes of a thread's stack besides the function's variables, as the address to return
// to does on a GPU: no recursion is endless.
constexpr std::uint32_t kCallBytes = 16;

// Registers of a frame, and where they begin: vector code wants them aligned.
std::unique_ptr<std::uint8_t[]> make_registers(std::uint32_t bytes);
inline std::uint8_t *aligned(std::uint8_t *pointer) {
    const auto value = reinterpret_cast<std::uintptr_t>(pointer);
    return pointer + ((64 - value % 64) % 64);
}

// Unite the parts of a warp that are at one place in one state.
void merge_parts(Warp &warp);

// Called by operations, for the active lanes.
void branch(Machine &machine, std::uint32_t target);
void leave_lanes(Machine &machine);  // exit
void call_function(Machine &machine, const Inst &inst, std::uint32_t callee);
void return_lanes(Machine &machine);

// Lanes of the part that are not active go on alone; the part is then the active lanes only.
void split_inactive(Machine &machine);

// The active lanes wait in a state; made ready again, they run this instruction once more.
void suspend(Machine &machine, Part::State state);

// The instruction is done, but the lanes only poll: let others run first.
void yield(Machine &machine);

// Only the lanes of `now` execute the instruction; the part's others come back to it.
void postpone_others(Machine &machine, std::uint32_t now);

// Waits until all living lanes of `members` are here. False: this part waits; do nothing.
bool converge(Machine &machine, std::uint32_t members);

}  // namespace ptxkit::sim
