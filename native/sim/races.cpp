#include "races.hpp"

#include <bit>

namespace ptxkit::sim {

namespace {
constexpr unsigned kWord = 4;
}

Races::Races(std::uint32_t threads, std::size_t shared_bytes)
    : clocks(threads), words_((shared_bytes + kWord - 1) / kWord) {}

bool Races::conflicts(const Mark &mark, const Access &now, std::uint8_t bytes) const {
    return fresh(mark) && (mark.bytes & bytes) != 0 && mark.thread != now.thread &&
           !(mark.strong && now.strong) && !clocks.ordered(mark.thread, mark.then, now.thread);
}

void Races::remember(Word &word, const Mark &mark, bool write) {
    if (write) {
        Mark *free = nullptr;
        for (Mark &one : word.writes) {
            one.bytes = fresh(one) ? static_cast<std::uint8_t>(one.bytes & ~mark.bytes) : 0;
            if (one.bytes == 0) free = &one;
        }
        for (Mark &one : word.reads) one.bytes = static_cast<std::uint8_t>(one.bytes & ~mark.bytes);
        // Bytes of different marks differ, and a word has as many as there are marks.
        if (free != nullptr) *free = mark;
        return;
    }
    Mark *chosen = nullptr;
    for (Mark &one : word.reads) {
        const bool covered = (one.bytes & ~mark.bytes) == 0;
        if (!fresh(one) || (covered && clocks.ordered(one.thread, one.then, mark.thread))) {
            one.bytes = 0;
            chosen = &one;
        }
    }
    for (Mark &one : word.reads)
        if (chosen == nullptr && one.thread / kLanes == mark.thread / kLanes) chosen = &one;
    if (chosen != nullptr) *chosen = mark;
}

void Races::access(const Access &now, std::uint64_t address, std::uint64_t bytes,
                const Report &report) {
    std::uint64_t at = address;
    const std::uint64_t end = address + bytes;
    while (at < end) {
        const std::uint64_t index = at / kWord;
        const std::uint64_t stop = std::min(end, (index + 1) * kWord);
        std::uint8_t touched = 0;
        for (std::uint64_t byte = at; byte < stop; ++byte)
            touched = static_cast<std::uint8_t>(touched | 1u << (byte % kWord));
        at = stop;
        if (index >= words_.size()) return;
        Word &word = words_[index];
        const auto check = [&](const Mark &mark, bool written) {
            if (!conflicts(mark, now, touched)) return;
            const auto both = static_cast<unsigned>(mark.bytes & touched);
            report({mark.thread, mark.place, mark.step, written, mark.strong},
                   index * kWord + static_cast<unsigned>(std::countr_zero(both)));
        };
        for (const Mark &mark : word.writes) check(mark, true);
        if (now.write)
            for (const Mark &mark : word.reads) check(mark, false);
        Mark mark;
        mark.step = now.step;
        mark.generation = clocks.generation();
        mark.then = clocks.now(now.thread);
        mark.place = now.place;
        mark.thread = static_cast<std::uint16_t>(now.thread);
        mark.bytes = touched;
        mark.strong = now.strong;
        remember(word, mark, now.write);
    }
}

}  // namespace ptxkit::sim
