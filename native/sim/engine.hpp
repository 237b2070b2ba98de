// Runs a program over a grid.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "machine.hpp"

namespace ptxkit::sim {

class Engine {
  public:
    Engine(const Program &program, Buffers &buffers, std::vector<std::uint8_t> parameters,
           const LaunchOptions &options);

    // Run every block. `poll` is called on the calling thread some twenty times a second;
    // when it returns false the run stops with a Fault of kind "interrupted".
    void run(const std::function<bool()> &poll);

    const std::vector<std::vector<std::uint64_t>> &counts() const { return counts_; }
    std::uint64_t instructions() const { return instructions_.load(); }

    // What operations need.
    const Program &program;
    Buffers &buffers;
    std::vector<std::uint8_t> parameters;
    const LaunchOptions options;
    std::mutex memory_lock;  // for operations that must see memory alone
    std::function<void(const std::string &)> output;
    std::mutex output_lock;

    std::uint64_t allocate(std::uint64_t size);
    bool release(std::uint64_t address);

  private:
    class Worker;
    std::unique_ptr<Block> make_block(std::uint64_t number) const;
    void work();

    std::atomic<std::uint64_t> next_block_{0};
    std::atomic<bool> stop_{false};
    std::atomic<unsigned> running_{0};
    std::atomic<std::uint64_t> instructions_{0};
    std::mutex lock_;
    std::exception_ptr failure_;
    std::vector<std::vector<std::uint64_t>> counts_;
    std::vector<std::unique_ptr<std::uint8_t[]>> heap_;
    std::mutex heap_lock_;
};

// Control flow and barriers; called by operations.
void branch(Machine &machine, std::uint32_t target);
void leave_lanes(Machine &machine);                   // exit
void call_function(Machine &machine, const Inst &inst, std::uint32_t callee);
void return_lanes(Machine &machine);
// Waits until all living lanes of `members` are here. False: this part waits; do nothing.
bool converge(Machine &machine, std::uint32_t members);
void barrier(Machine &machine, const Inst &inst, std::uint32_t number, std::uint32_t count,
             bool wait, std::uint32_t votes, char reduction);

}  // namespace ptxkit::sim
