// The address space of a launch: host buffers, and windows for shared and local memory.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptxkit::sim {

// Generic addresses at or above this belong to a window; host addresses lie below.
constexpr std::uint64_t kSharedWindow = 0x1000000000000000ull;
constexpr std::uint64_t kLocalWindow = 0x2000000000000000ull;
constexpr std::uint64_t kParamWindow = 0x3000000000000000ull;
constexpr std::uint64_t kWindowMask = 0xF000000000000000ull;

// In the shared window of a cluster, a rank plus one in the bits from here on names a block; 0 is
// the block that uses the address.
constexpr unsigned kRankShift = 24;

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Param, Const, SharedCluster };

// Threads that wait at one instruction when none can go on.
struct Waiting {
    std::uint32_t function = 0;
    std::uint32_t instruction = 0;
    std::string why;
    std::uint64_t threads = 0;
};

// What went wrong while a kernel ran, with the place it went wrong at.
struct Fault : std::runtime_error {
    Fault(std::string kind_, const std::string &message)
        : std::runtime_error(message), kind(std::move(kind_)) {}
    std::string kind;
    std::uint32_t function = 0;
    std::uint32_t instruction = 0;
    std::uint32_t thread[3] = {0, 0, 0};
    std::uint32_t block[3] = {0, 0, 0};
    std::uint64_t address = 0;
    bool placed = false;
    std::vector<Waiting> waiting;  // of a deadlock
};

struct Buffer {
    std::uint64_t begin;
    std::uint64_t end;
    bool writable;
    std::string name;
    bool constant = false;  // a .const variable
};

// The host buffers a kernel may touch, sorted by address.
class Buffers {
  public:
    void add(std::uint64_t begin, std::uint64_t size, bool writable, std::string name,
             bool constant = false);
    void remove(std::uint64_t begin);
    void sort();
    // The buffer that holds an address, or nullptr.
    const Buffer *find(std::uint64_t address) const;
    // A sentence on where an address lies, for messages.
    std::string describe(std::uint64_t address) const;
    bool empty() const { return buffers_.empty(); }

  private:
    std::vector<Buffer> buffers_;
};

}  // namespace ptxkit::sim
