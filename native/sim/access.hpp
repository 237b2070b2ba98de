// From addresses to bytes, with every access checked.
#pragma once

#include "engine.hpp"
#include "lanes.hpp"

namespace ptxkit::sim {

// Inst::target of memory operations.
struct AccessMode {
    explicit AccessMode(std::uint32_t bits)
        : space(static_cast<Space>(bits & 15)),
          size(bits >> 4 & 31),
          is_signed(bits >> 9 & 1),
          frame_relative(bits >> 10 & 1),
          address_bytes(bits >> 12 & 15) {}
    Space space;
    unsigned size;           // bytes of one element
    bool is_signed;
    bool frame_relative;     // a variable of the function: offset from its frame
    unsigned address_bytes;  // width of the address register; 0: no register
};

// The addresses of all active lanes; the others take the first active one's.
void gather_addresses(Machine &m, const Inst &i, const AccessMode &mode, std::uint32_t slot,
                      std::uint64_t *out);

// The host place of each active lane's `bytes` at its address; the other lanes get a place
// that may be read as well. Takes addresses as gather_addresses leaves them. Faults on what a debugger
// would stop at: out of bounds, misaligned, read-only.
void locate(Machine &m, Space space, const std::uint64_t *addresses, unsigned bytes, bool write,
            std::uint8_t **out);

// The host place of one lane's `bytes`, any number of them, at an address that must be a multiple
// of `alignment`.
std::uint8_t *locate_range(Machine &m, Space space, std::uint64_t address, std::uint64_t bytes,
                           std::uint64_t alignment, bool write, unsigned lane);

// The block of the cluster whose shared memory an address of it lies in, and the offset there.
struct SharedPlace {
    Block *block;
    std::uint64_t offset;
};
// The shared address of the same place in the block of a rank.
constexpr std::uint64_t in_block(std::uint64_t address, std::uint32_t rank) {
    constexpr std::uint64_t kOffset = (std::uint64_t{1} << kRankShift) - 1;
    return (address & (kOffset | kWindowMask)) | (std::uint64_t{rank} + 1) << kRankShift;
}
SharedPlace find_shared(Machine &m, std::uint64_t address, unsigned lane);

}  // namespace ptxkit::sim
