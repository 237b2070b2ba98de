// Which sides an instruction shows as it runs: one that chooses between two values, or cuts
// something off, does more than what a launch has seen of it if one of its sides never came.
#pragma once

#include "program.hpp"

namespace ptxkit::sim {

// The guard was false in some lanes, whatever the instruction is.
constexpr std::uint8_t kSkipped = 1u << 7;

// All sides of an instruction, with those of its guard.
inline std::uint8_t all_sides(const Inst &inst) {
    return static_cast<std::uint8_t>(inst.sides.all | (inst.guard == kNoSlot ? 0 : kSkipped));
}

// Those of an operation, which modes in the immediate may add to.
Sides find_sides(const std::string &operation, const Inst &inst);

}  // namespace ptxkit::sim
