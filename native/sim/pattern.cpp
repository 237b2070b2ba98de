#include "pattern.hpp"

#include <algorithm>

namespace ptxkit::sim {

namespace {

// In a pattern: the number of a given slot, or the offset of an own register. Constants are
// always given, so that their bit is free here.
constexpr std::uint32_t kGiven = 0x40000000u, kFresh = 0x80000000u;
constexpr std::uint32_t kCarry = 0;  // the slot of the carry flags, in every function

// Replaces slots by what they are in the pattern; says whether all of them are something.
class Marker {
  public:
    Marker(const std::vector<std::uint32_t> &slots, std::uint32_t fresh)
        : slots_(slots), fresh_(fresh) {}

    void mark(std::uint32_t &slot) {
        if (slot == kNoSlot || slot == kCarry) return;
        const auto found = std::find(slots_.begin(), slots_.end(), slot);
        if (found != slots_.end()) {
            slot = kGiven | static_cast<std::uint32_t>(found - slots_.begin());
        } else if ((slot & kConstantSlot) == 0 && slot >= fresh_ && slot < kGiven) {
            slot = kFresh | (slot - fresh_);
        } else {
            complete_ = false;
        }
    }
    bool complete() const { return complete_; }

  private:
    const std::vector<std::uint32_t> &slots_;
    std::uint32_t fresh_;
    bool complete_ = true;
};

}  // namespace

std::optional<Pattern> make_pattern(const Function &function, std::size_t from,
                                    const std::vector<std::uint32_t> &slots, std::uint32_t fresh) {
    Pattern pattern;
    Marker marker(slots, fresh);
    for (std::size_t at = from; at < function.code.size(); ++at) {
        Inst inst = function.code[at];
        marker.mark(inst.guard);
        for (std::uint32_t &slot : inst.slots) marker.mark(slot);
        const auto list = function.lists.begin() + inst.list;
        inst.list = static_cast<std::uint32_t>(pattern.lists.size());
        pattern.lists.insert(pattern.lists.end(), list, list + inst.list_size);
        pattern.code.push_back(inst);
    }
    for (std::uint32_t &slot : pattern.lists) marker.mark(slot);
    if (!marker.complete()) return std::nullopt;
    return pattern;
}

void repeat(Function &function, const Pattern &pattern, const std::vector<std::uint32_t> &slots,
            std::uint32_t fresh, std::uint32_t node, std::int64_t shift) {
    const auto placed = [&](std::uint32_t slot) {
        if (slot == kNoSlot || slot == kCarry) return slot;
        return slot & kFresh ? fresh + (slot & ~kFresh) : slots.at(slot & ~kGiven);
    };
    const auto lists = static_cast<std::uint32_t>(function.lists.size());
    for (std::uint32_t slot : pattern.lists) function.lists.push_back(placed(slot));
    for (Inst inst : pattern.code) {
        inst.guard = placed(inst.guard);
        for (std::uint32_t &slot : inst.slots) slot = placed(slot);
        inst.list += lists;
        inst.immediate += shift;
        inst.node = node;
        function.code.push_back(inst);
    }
}

}  // namespace ptxkit::sim
