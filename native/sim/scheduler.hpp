// Takes blocks through their instructions: which warp, and which part of it, runs next.
#pragma once

#include "engine.hpp"

namespace ptxkit::sim {

class Worker {
  public:
    explicit Worker(Engine &engine);

    // Run a block for a while; true when it is done.
    bool run(Block &block, std::uint32_t budget);

    std::vector<std::vector<std::uint64_t>> counts;
    std::uint64_t executed = 0;

  private:
    std::uint32_t run_warp(Machine &machine, Warp &warp);
    void run_part(Machine &machine, Warp &warp, Part &start, std::uint32_t &steps);
    void place(Machine &machine);
    [[noreturn]] void report_deadlock(Machine &machine);

    Engine &engine_;
    std::uint32_t turn_ = 0;
};

}  // namespace ptxkit::sim
