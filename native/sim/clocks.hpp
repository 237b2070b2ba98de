// Which accesses of a block's threads come before which: vector clocks, kept sparse.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program.hpp"

namespace ptxkit::sim {

// What a thread knows of the others: how far each had come at the last time they met.
class Clock {
  public:
    using Lanes = std::array<std::uint32_t, kLanes>;
    std::uint32_t of(std::uint32_t thread) const;
    Lanes &lanes(std::uint32_t warp);          // made if it is not there
    void raise(const Clock &other);            // to the larger of both, everywhere
  private:
    std::vector<std::pair<std::uint32_t, Lanes>> warps_;  // sorted
};
using ClockRef = std::shared_ptr<const Clock>;

class Clocks {
  public:
    explicit Clocks(std::uint32_t threads) : threads_(threads) {}

    std::uint32_t now(std::uint32_t thread) const { return threads_[thread].now; }
    std::uint32_t generation() const { return generation_; }
    // Whether what `first` did at its time `then` comes before what `second` does now.
    bool ordered(std::uint32_t first, std::uint32_t then, std::uint32_t second) const;

    // All threads have met: everything so far comes before everything from now on.
    void meet_all();
    // Some lanes of a warp have met.
    void meet(std::uint32_t warp, std::uint32_t lanes);
    // Lanes arrive at a barrier, lanes go on from it.
    void publish(std::uint32_t warp, std::uint32_t lanes, ClockRef &into);
    void learn(std::uint32_t warp, std::uint32_t lanes, const ClockRef &from);

    // The memory model's way: fences, and accesses that acquire or release.
    void fence(std::uint32_t warp, std::uint32_t lanes);
    void touch(std::uint32_t thread, std::uint64_t place, bool acquire, bool release);

  private:
    struct Thread {
        std::uint32_t now = 1;
        ClockRef known;      // of the other threads
        ClockRef fenced;     // what its last fence makes visible through later writes
        ClockRef seen;       // what a fence would make visible to it
    };
    static void join(ClockRef &into, const ClockRef &from);

    std::vector<Thread> threads_;
    std::unordered_map<std::uint64_t, ClockRef> places_;
    std::uint32_t generation_ = 0;
};

}  // namespace ptxkit::sim
