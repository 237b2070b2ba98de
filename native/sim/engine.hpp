// Runs a program over a grid.
#pragma once

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
    bool stopping() const { return stop_.load(std::memory_order_relaxed); }

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

}  // namespace ptxkit::sim
