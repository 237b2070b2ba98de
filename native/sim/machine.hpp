// The state of running threads: warps with their divergent parts, blocks, and what the
// operations use of them.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "memory.hpp"
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
    bool count = false;            // count executions of every instruction
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
};

// Lanes of a warp that run together.
struct Part {
    std::uint32_t mask = 0;
    std::uint32_t pc = 0;
    std::uint32_t frame = 0;
    std::uint32_t depth = 0;
    enum class State : std::uint8_t { Ready, AtBarrier, AtWarpSync } state = State::Ready;
    std::uint32_t wait_mask = 0;        // AtWarpSync: lanes that must come
};

struct Block;

struct Warp {
    std::vector<Part> parts;
    std::vector<Frame> frames;
    std::uint32_t existing = 0;         // lanes that have a thread
    std::uint32_t exited = 0;
    std::uint32_t index = 0;
    bool done() const { return parts.empty(); }
};

struct Barrier {
    std::uint32_t arrived = 0;          // threads
    std::uint32_t expected = 0;
    std::uint32_t reduction_and = 1, reduction_or = 0, reduction_count = 0;
    std::uint64_t generation = 0;
};

class Engine;

// A thread block. Its memory is its own; its warps run one at a time.
struct Block {
    std::vector<Warp> warps;
    std::vector<std::uint8_t> shared;
    std::vector<std::uint8_t> local;    // threads one after another
    Barrier barriers[16];
    std::uint32_t id[3] = {0, 0, 0};
    std::uint64_t steps = 0;
    std::uint32_t threads = 0;
    std::uint32_t live = 0;             // threads that have not exited
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
};

}  // namespace ptxkit::sim
