// Code that was made once for an instruction, to be made again with other registers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program.hpp"

namespace ptxkit::sim {

// Each slot of the code is a place in the list of slots that a repetition brings, a register of
// the instruction's own, or the same in every repetition.
struct Pattern {
    std::vector<Inst> code;
    std::vector<std::uint32_t> lists;
};

// The pattern of a function's code from `from` on. `slots` are the registers and constants it was
// made for; `fresh` is where its own registers begin. Nothing where it has others.
std::optional<Pattern> make_pattern(const Function &function, std::size_t from,
                                    const std::vector<std::uint32_t> &slots, std::uint32_t fresh);

// Add the code of a pattern to a function. `slots` are as many as it was made for; `shift` is how
// much further than that time the parameter lies that it reads.
void repeat(Function &function, const Pattern &pattern, const std::vector<std::uint32_t> &slots,
            std::uint32_t fresh, std::uint32_t node, std::int64_t shift);

}  // namespace ptxkit::sim
