// Runs a program over a grid.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

#include "heap.hpp"
#include "machine.hpp"
#include "output.hpp"

namespace ptxkit::sim {

class Engine {
  public:
    Engine(const Program &program, Buffers &buffers, Heap &heap,
           std::vector<std::uint8_t> parameters, const LaunchOptions &options);

    // Run every block. `poll` is called on the calling thread some twenty times a second with
    // what kernels printed since; when it returns false the run stops with a Fault of kind
    // "interrupted". A last call gives the rest of the text.
    void run(const std::function<bool(const std::string &)> &poll);

    const std::vector<std::vector<std::uint64_t>> &counts() const { return counts_; }
    const std::vector<std::vector<std::uint8_t>> &sides() const { return sides_; }
    std::uint64_t instructions() const { return instructions_.load(); }
    bool stopping() const { return stop_.load(std::memory_order_relaxed); }
    bool overdue() const { return overdue_.load(std::memory_order_relaxed); }

    // What operations need.
    const Program &program;
    Buffers &buffers;
    std::vector<std::uint8_t> parameters;
    const LaunchOptions options;
    Heap &heap;
    Output output;
    std::mutex memory_lock;  // for operations that must see memory alone

    // Workers call this now and then: where the only one has the caller's thread, it polls.
    void breathe() {
        if (between_) between_();
    }

    // Take a cluster that has not begun out of the launch: the id of its first block, if any.
    bool cancel_cluster(std::uint32_t *id);

  private:
    std::unique_ptr<Block> make_block() const;
    std::unique_ptr<Cluster> make_cluster(std::uint64_t number) const;
    std::uint64_t cluster_count() const { return options.grid.count() / options.cluster.count(); }
    // The cluster that comes after so many others.
    std::uint64_t cluster_at(std::uint64_t place) const {
        return options.descending ? cluster_count() - 1 - place : place;
    }
    void work(unsigned worker, unsigned workers);
    void run_threads(unsigned count, const std::function<void()> &look);
    void run_all(class Worker &worker, unsigned number, unsigned workers);
    void run_some(class Worker &worker);
    bool run_one(class Worker &worker, Cluster &cluster, std::uint32_t budget);

    std::atomic<std::uint64_t> next_cluster_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> overdue_{false};
    std::atomic<unsigned> running_{0};
    std::atomic<std::uint64_t> instructions_{0};
    std::mutex lock_;
    std::exception_ptr failure_;
    std::function<void()> between_;
    std::vector<std::vector<std::uint64_t>> counts_;
    std::vector<std::vector<std::uint8_t>> sides_;  // bits that were seen of each instruction
};

}  // namespace ptxkit::sim
