// Barriers that live in shared memory: 64 bits that count arrivals and bytes.
#pragma once

#include "access.hpp"

namespace ptxkit::sim {

struct Mbarrier {
    static constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
    static constexpr std::int32_t kMostBytes = (1 << 20) - 1;

    explicit Mbarrier(std::uint64_t word);
    std::uint64_t word() const;

    std::uint32_t expected = 0;  // arrivals of every phase
    std::uint32_t pending = 0;   // arrivals that this phase still waits for
    std::int32_t bytes = 0;      // bytes that it still waits for
    bool phase = false;          // parity of the current phase
};

// An asynchronous operation has moved so many bytes: count them at the mbarrier of an address.
void complete_bytes(Machine &m, Space space, std::uint64_t address, std::uint32_t bytes,
                    unsigned lane);

}  // namespace ptxkit::sim
