// Takes blocks through their instructions: which warp, and which part of it, runs next.
#pragma once

#include "engine.hpp"

namespace ptxkit::sim {

class Worker {
  public:
    explicit Worker(Engine &engine);

    // Run a cluster for a while; true when it is done.
    bool run(Cluster &cluster, std::uint32_t budget);

    std::vector<std::vector<std::uint64_t>> counts;
    std::vector<std::vector<std::uint8_t>> sides;
    std::uint64_t executed = 0;

  private:
    // One turn for every warp: whether any ran, and whether one did more than poll.
    struct Turn {
        bool done = true, progressed = false, worked = false;
        std::uint32_t steps = 0;
    };
    Turn run_block(Block &block);
    std::uint32_t run_warp(Machine &machine, Warp &warp);
    std::uint32_t turn_length() const;
    template <bool kObserved>
    void run_part(Machine &machine, Warp &warp, Part &start, std::uint32_t &steps);
    // Point the machine at a thread that still runs, for a fault; gives its lane.
    unsigned place(Machine &machine);
    [[noreturn]] void report_deadlock(Cluster &cluster);

    Engine &engine_;
    std::vector<std::uint8_t> constants_;  // the program's, with room behind them
    std::uint32_t turn_ = 0;
};

}  // namespace ptxkit::sim
