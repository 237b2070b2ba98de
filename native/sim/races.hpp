// Data races on shared memory: two accesses of a byte by two threads, one of them a write,
// that nothing puts in an order.
#pragma once

#include <functional>

#include "clocks.hpp"

namespace ptxkit::sim {

struct Access {
    std::uint32_t thread = 0;
    std::uint32_t place = 0;     // the instruction, as a number of the caller's
    std::uint64_t step = 0;      // the same for the lanes of one execution
    bool write = false;
    bool strong = false;         // atomic, volatile, relaxed ...: no race among such
};

class Races {
  public:
    Races(std::uint32_t threads, std::size_t shared_bytes);

    // Called with the earlier access and the byte where both fall.
    using Report = std::function<void(const Access &earlier, std::uint64_t address)>;
    void access(const Access &now, std::uint64_t address, std::uint64_t bytes,
                const Report &report);

    Clocks clocks;

  private:
    // One access that later ones are held against.
    struct Mark {
        std::uint64_t step = 0;
        std::uint32_t generation = UINT32_MAX;
        std::uint32_t then = 0;
        std::uint32_t place = 0;
        std::uint16_t thread = 0;
        std::uint8_t bytes = 0;      // of the word
        bool strong = false;
    };
    static constexpr unsigned kMarks = 4;
    struct Word {
        Mark writes[kMarks];         // no two of the same byte
        Mark reads[kMarks];          // of several at once, those of different warps
    };

    bool conflicts(const Mark &mark, const Access &now, std::uint8_t bytes) const;
    bool fresh(const Mark &mark) const {
        return mark.bytes != 0 && mark.generation == clocks.generation();
    }
    void remember(Word &word, const Mark &mark, bool write);

    std::vector<Word> words_;
};

}  // namespace ptxkit::sim
