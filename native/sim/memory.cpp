#include "memory.hpp"

#include <algorithm>

namespace ptxkit::sim {

void Buffers::add(std::uint64_t begin, std::uint64_t size, bool writable, std::string name,
                  bool constant) {
    buffers_.push_back({begin, begin + size, writable, std::move(name), constant});
}

void Buffers::remove(std::uint64_t begin) {
    std::erase_if(buffers_, [begin](const Buffer &one) { return one.begin == begin; });
}

void Buffers::sort() {
    std::sort(buffers_.begin(), buffers_.end(),
              [](const Buffer &a, const Buffer &b) { return a.begin < b.begin; });
}

const Buffer *Buffers::find(std::uint64_t address) const {
    auto after = std::upper_bound(
        buffers_.begin(), buffers_.end(), address,
        [](std::uint64_t value, const Buffer &one) { return value < one.begin; });
    // Buffers may overlap (two views of one array): look back while one could still hold it.
    while (after != buffers_.begin()) {
        --after;
        if (address < after->end) return &*after;
        if (address - after->begin > (std::uint64_t{1} << 40)) break;
    }
    return nullptr;
}

std::string Buffers::describe(std::uint64_t address) const {
    // Nobody owns the first page: this is a pointer that was never set.
    if (address < 4096) return "a null pointer";
    const Buffer *nearest = nullptr;
    std::uint64_t distance = UINT64_MAX;
    for (const Buffer &one : buffers_) {
        if (address >= one.begin && address < one.end)
            return std::to_string(one.end - address) + " bytes before the end of " + one.name + " (" +
                   std::to_string(one.end - one.begin) + " bytes)";
        const std::uint64_t gap = address >= one.end ? address - one.end : one.begin - address;
        if (gap < distance) {
            distance = gap;
            nearest = &one;
        }
    }
    if (nearest == nullptr) return "no buffer was given to the kernel";
    if (distance > (std::uint64_t{1} << 32)) return "nowhere near any buffer";
    const std::string size = std::to_string(nearest->end - nearest->begin);
    const bool after = address >= nearest->end;
    return std::to_string(distance) + " bytes " + (after ? "past the end of " : "before ") +
           nearest->name + " (" + size + " bytes)";
}

}  // namespace ptxkit::sim
