// Instructions on constants, computed by the operations of the simulator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine.hpp"

namespace ptxkit::stack {

// Where a value lies in the registers of the simulator, and its width there.
struct Place {
    std::uint32_t slot = 0;
    std::uint8_t bytes = 4;     // 0: a predicate, one bit a lane
};

// A stretch of the simulator's code that does what an instruction does.
struct Fold {
    std::uint32_t begin = 0, end = 0;
    std::vector<Place> sources;
    std::vector<Place> destinations;
    bool exact = false;         // the same bits as on any GPU: may be computed ahead of time
    bool divides = false;       // by its second operand, where zero has no defined result
    bool is_set() const { return begin < end; }
};

// The simulator's code of all instructions, and a machine to run it on.
class FoldProgram {
  public:
    explicit FoldProgram(std::shared_ptr<const sim::Program> program);
    const sim::Program &program() const { return *program_; }
    std::uint32_t register_bytes() const { return program_->functions[0].register_bytes; }
    void check(const Fold &fold) const;  // throws std::invalid_argument

  private:
    std::shared_ptr<const sim::Program> program_;
};

// One thread's registers to compute with.
class FoldMachine {
  public:
    explicit FoldMachine(const FoldProgram &folds);

    // One value an operand. False where the result has no defined value.
    bool run(const Fold &fold, const std::uint64_t *arguments, std::uint64_t *results);
    // 32 values an operand, as 64-bit words; `lanes` says which are there.
    void run_lanes(const Fold &fold, const std::uint64_t *const *arguments,
                   std::uint64_t *const *results, std::uint32_t lanes);

  private:
    void execute(const Fold &fold, std::uint32_t mask);

    const FoldProgram &folds_;
    sim::Buffers buffers_;
    sim::Heap heap_;
    sim::Engine engine_;
    sim::Block block_;
    sim::Warp warp_;
    sim::Machine machine_;
    std::vector<std::uint8_t> memory_;
    std::uint8_t *registers_ = nullptr;
    const std::uint8_t *constants_ = nullptr;
    std::vector<std::uint8_t> constant_memory_;
};

}  // namespace ptxkit::stack
