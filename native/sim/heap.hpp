// The device heap: what malloc and free in kernels work on. It outlives launches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "machine.hpp"

namespace ptxkit::sim {

class Heap {
  public:
    explicit Heap(std::uint64_t size);

    struct Allocation {
        std::uint64_t address;
        std::uint64_t size;
        std::uint32_t node;  // of the call that asked for it
    };

    // 0 where there is no room, as on the device.
    std::uint64_t allocate(std::uint64_t size, std::uint32_t node);
    // What is wrong with freeing an address; empty when it was freed.
    std::string release(std::uint64_t address);
    // What is wrong with an access; empty when it lies in one allocation.
    std::string check(std::uint64_t address, std::uint64_t bytes) const;
    bool holds(std::uint64_t address) const { return address >= begin_ && address - begin_ < size_; }
    std::vector<Allocation> allocations() const;

  private:
    struct Extent {
        std::uint64_t size;
        std::uint32_t node;
    };
    std::string describe(std::uint64_t address) const;

    mutable std::mutex lock_;
    std::uint64_t size_;
    ZeroedMemory memory_;
    std::uint64_t begin_;
    std::map<std::uint64_t, Extent> live_;    // by address
    std::map<std::uint64_t, Extent> freed_;   // until something else takes their place
    std::map<std::uint64_t, std::uint64_t> free_;  // address and size of gaps
};

}  // namespace ptxkit::sim
