// The state of running threads: warps with their divergent parts, blocks, and what the
// operations use of them.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "memory.hpp"
#include "observer.hpp"
#include "program.hpp"

namespace ptxkit::sim {

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchOptions {
    Dim3 grid, block, cluster;
    std::uint32_t dynamic_shared = 0;
    unsigned threads = 1;
    std::uint64_t step_limit = 0;  // warp instructions of one block; 0: none
    double time_limit = 0;         // seconds; 0: none
    std::uint32_t stack = 1u << 14;  // bytes of a thread's call stack
    bool count = false;            // count executions of every instruction
    bool explicit_cluster = false; // the launch named a cluster's shape
    bool cooperative = false;      // all blocks run at once
    bool descending = false;       // the last blocks, warps and lanes first
    std::uint64_t workspace = 0;   // of a cooperative launch: what waits for the whole grid uses it
    class Observation *observation = nullptr;  // what is watched, if anything
};

// One activation of a function by some lanes of a warp.
struct Frame {
    std::uint32_t function = 0;
    std::uint32_t parent = kNoSlot;     // frame index; kNoSlot for the kernel
    std::uint32_t return_to = 0;        // instruction in the parent
    std::uint32_t local_base = 0;       // of its variables in each thread's local memory
    std::uint32_t users = 0;            // parts that run in it or below it
    const std::uint32_t *call_places = nullptr;
    std::unique_ptr<std::uint8_t[]> registers;
    std::unique_ptr<std::uint32_t[]> stack_tops;  // of the caller's lanes, where alloca is used
};

// Lanes of a warp that run together.
struct Part {
    std::uint32_t mask = 0;
    std::uint32_t pc = 0;
    std::uint32_t frame = 0;
    std::uint32_t depth = 0;
    enum class State : std::uint8_t {
        Ready, AtBarrier, AtWarpSync, AtClusterBarrier, AtMbarrier
    } state = State::Ready;
    bool timed_out = false;             // AtMbarrier before: stop waiting
    std::uint32_t wait_mask = 0;        // AtWarpSync: lanes that must come
};

struct Warp {
    std::vector<Part> parts;
    std::vector<Frame> frames;
    std::vector<std::uint32_t> free_frames;  // of them, those that nobody uses
    std::uint32_t existing = 0;         // lanes that have a thread
    std::uint32_t exited = 0;
    std::uint32_t index = 0;
    std::uint32_t polls = 0;            // loads that others may be about to change
    bool polled = false;                // it only waited for others when it ran last
    std::uint32_t at_cluster = 0;       // lanes that have come to the cluster's barrier
    std::uint32_t stack_tops[kLanes] = {};  // where each lane's alloca goes down from
    bool done() const { return parts.empty(); }
};

struct Barrier {
    std::uint32_t arrived = 0;          // threads
    std::uint32_t expected = 0;
    std::uint32_t reduction_and = 1, reduction_or = 0, reduction_count = 0;
    std::uint64_t generation = 0;
};

// Memory of zeros that takes no place until it is touched.
class ZeroedMemory {
  public:
    void resize(std::size_t size) {
        data_.reset(static_cast<std::uint8_t *>(std::calloc(size + 1, 1)));
        if (!data_) throw std::bad_alloc();
    }
    std::uint8_t *data() const { return data_.get(); }

  private:
    struct Free {
        void operator()(std::uint8_t *pointer) const { std::free(pointer); }
    };
    std::unique_ptr<std::uint8_t[], Free> data_;
};

class Engine;
struct Cluster;

// A thread block. Its memory is its own; its warps run one at a time.
struct Block {
    std::vector<Warp> warps;
    std::vector<std::uint8_t> shared;
    ZeroedMemory local;                 // threads one after another
    std::uint32_t local_stride = 0;     // bytes of one thread
    Barrier barriers[16];
    Cluster *cluster = nullptr;
    std::uint32_t rank = 0;             // in its cluster
    std::uint32_t id[3] = {0, 0, 0};
    std::uint64_t steps = 0;
    std::uint32_t threads = 0;
    std::uint32_t live = 0;             // threads that have not exited
    std::unique_ptr<Observers> observers;  // none in a plain launch

    std::uint8_t *local_of(std::uint32_t thread) const {
        return local.data() + std::size_t{thread} * local_stride;
    }
};

// Blocks that run together on one thread of the host, and reach each other's shared memory.
struct Cluster {
    std::vector<std::unique_ptr<Block>> blocks;
    std::uint64_t number = 0;
    std::uint32_t id[3] = {0, 0, 0};
    std::uint32_t live = 0;             // threads of all blocks
    std::uint32_t arrived = 0;          // threads at the cluster's barrier
    std::uint32_t idle_rounds = 0;      // times that all threads waited at mbarriers in vain
};

// What an operation sees: the current warp part and its registers.
class Machine {
  public:
    Machine(Engine &engine_, Block &block_) : engine(engine_), block(block_) {}

    template <class T>
    T *destination(std::uint32_t slot) {
        return reinterpret_cast<T *>(registers + slot);
    }
    template <class T>
    const T *source(std::uint32_t slot) const {
        const std::uint8_t *base = slot & kConstantSlot ? constants : registers;
        return reinterpret_cast<const T *>(base + (slot & ~kConstantSlot));
    }
    std::uint32_t predicate(std::uint32_t slot) const {
        return *source<std::uint32_t>(slot);
    }

    [[noreturn]] void fault(const char *kind, const std::string &message, unsigned lane = 0,
                            std::uint64_t address = 0) const;
    // The same, for those who have more to say before they throw it.
    Fault make_fault(const char *kind, const std::string &message, unsigned lane,
                     std::uint64_t address) const;

    Engine &engine;
    Block &block;
    Warp *warp = nullptr;
    Part *part = nullptr;
    std::uint8_t *registers = nullptr;
    const std::uint8_t *constants = nullptr;
    const Function *function = nullptr;
    std::uint32_t mask = 0;      // lanes this instruction runs in
    std::uint32_t next = 0;      // where the part goes on
    bool switched = false;       // the parts have changed: choose anew
    bool yielded = false;        // the part waits for others: let them run
    std::uint32_t repeated = 0;  // lanes that come back to this instruction: not counted this time
};

}  // namespace ptxkit::sim
