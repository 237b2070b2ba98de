// What may watch a block run: the sanitizer, the profiler, the tracer.
//
// A launch without them has no observers: the scheduler then runs a loop that was compiled
// without the calls, and memory accesses test one pointer a warp.
#pragma once

#include <memory>
#include <vector>

#include "program.hpp"

namespace ptxkit::sim {

class Machine;
struct Block;
struct Warp;
enum class Space : std::uint8_t;

// Where a register's value lies: `bytes` a lane at a slot, or one bit a lane.
struct RegisterPlace {
    std::uint32_t slot = 0;
    std::uint32_t bytes = 0;  // 0: a predicate
};

// What the text of an instruction says that the operation need not know.
struct Facts {
    enum Flag : std::uint32_t {
        kFirst = 1u << 0,        // the first operation of its instruction
        kLast = 1u << 1,         // and the last
        kAtomic = 1u << 2,       // reads and writes in one step
        kStrong = 1u << 3,       // volatile, relaxed, acquire, release ...
        kAcquire = 1u << 4,
        kRelease = 1u << 5,
        kFence = 1u << 6,
        kUnordered = 1u << 7,    // writes at some later time: no part in races
        kMayBeUndefined = 1u << 8,  // reads are not checked for initialised bytes
        kPlainStore = 1u << 9,   // "st": its values can be compared
        kAlignedBarrier = 1u << 10,
        kWarpBarrier = 1u << 11,
        kBranch = 1u << 12,
    };
    std::uint32_t flags = 0;
    std::uint32_t element = 0;          // bytes of one element of an access
    std::uint32_t members = kNoSlot;    // the slot with the lanes that take part
    std::vector<RegisterPlace> reads, writes;
    bool is(std::uint32_t flag) const { return (flags & flag) != 0; }
};

class Observer {
  public:
    virtual ~Observer() = default;
    // Around an operation. `lanes`: those it runs in; the part may have more.
    virtual void before(Machine &, const Inst &, std::uint32_t /*lanes*/) {}
    virtual void after(Machine &, const Inst &, std::uint32_t /*lanes*/) {}
    // An access that was found to be in bounds; addresses as gather_addresses leaves them.
    virtual void access(Machine &, Space, std::uint32_t /*lanes*/, const std::uint64_t *,
                        std::uint64_t /*bytes*/, bool /*write*/) {}
    // The active lanes arrive at a barrier of the block; those that waited are let go.
    virtual void arrive(Machine &, unsigned /*number*/) {}
    virtual void release(Block &, unsigned /*number*/) {}
    // Lanes of a warp have met that waited for each other in different places.
    virtual void meet(const Warp &, std::uint32_t /*lanes*/) {}
    // Another block of the cluster has written to this block's shared memory.
    virtual void written(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}
    // All threads of the block are ordered by something larger than the block.
    virtual void synchronize(Block &) {}
    // A function's frame begins and ends for the active lanes.
    virtual void enter(Machine &, std::uint32_t /*frame*/) {}
    virtual void leave(Machine &, std::uint32_t /*frame*/) {}
    // Each lane of a shuffle takes a value from a lane.
    virtual void shuffle(Machine &, const std::uint8_t * /*from*/) {}
};

// All observers of one block.
class Observers {
  public:
    void add(std::unique_ptr<Observer> one) { all_.push_back(std::move(one)); }
    bool empty() const { return all_.empty(); }

    void before(Machine &m, const Inst &i, std::uint32_t lanes) {
        for (auto &one : all_) one->before(m, i, lanes);
    }
    void after(Machine &m, const Inst &i, std::uint32_t lanes) {
        for (auto &one : all_) one->after(m, i, lanes);
    }
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) {
        for (auto &one : all_) one->access(m, space, lanes, addresses, bytes, write);
    }
    void arrive(Machine &m, unsigned number) {
        for (auto &one : all_) one->arrive(m, number);
    }
    void release(Block &block, unsigned number) {
        for (auto &one : all_) one->release(block, number);
    }
    void meet(const Warp &warp, std::uint32_t lanes) {
        for (auto &one : all_) one->meet(warp, lanes);
    }
    void written(std::uint64_t offset, std::uint64_t bytes) {
        for (auto &one : all_) one->written(offset, bytes);
    }
    void synchronize(Block &block) {
        for (auto &one : all_) one->synchronize(block);
    }
    void enter(Machine &m, std::uint32_t frame) {
        for (auto &one : all_) one->enter(m, frame);
    }
    void leave(Machine &m, std::uint32_t frame) {
        for (auto &one : all_) one->leave(m, frame);
    }
    void shuffle(Machine &m, const std::uint8_t *from) {
        for (auto &one : all_) one->shuffle(m, from);
    }

  private:
    std::vector<std::unique_ptr<Observer>> all_;
};

}  // namespace ptxkit::sim
