#include "heap.hpp"

#include <iterator>

namespace ptxkit::sim {

namespace {

constexpr std::uint64_t kAlignment = 16;

}  // namespace

Heap::Heap(std::uint64_t size) : size_(size) {
    memory_.resize(size_ + kAlignment);
    const auto raw = reinterpret_cast<std::uint64_t>(memory_.data());
    begin_ = (raw + kAlignment - 1) / kAlignment * kAlignment;
    free_[begin_] = size_;
}

std::uint64_t Heap::allocate(std::uint64_t size, std::uint32_t node) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (size == 0 || size > size_) return 0;
    const std::uint64_t taken = (size + kAlignment - 1) / kAlignment * kAlignment;
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
        if (gap->second < taken) continue;
        const std::uint64_t address = gap->first, rest = gap->second - taken;
        free_.erase(gap);
        if (rest != 0) free_[address + taken] = rest;
        auto old = freed_.lower_bound(address);
        if (old != freed_.begin() && std::prev(old)->first + std::prev(old)->second.size > address) --old;
        while (old != freed_.end() && old->first < address + taken) old = freed_.erase(old);
        live_[address] = {size, node};
        return address;
    }
    return 0;
}

std::string Heap::release(std::uint64_t address) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = live_.find(address);
    if (found == live_.end()) return describe(address);
    freed_[address] = found->second;
    std::uint64_t size = (found->second.size + kAlignment - 1) / kAlignment * kAlignment;
    live_.erase(found);
    auto next = free_.lower_bound(address);
    if (next != free_.end() && next->first == address + size) {
        size += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == address) {
            before->second += size;
            return "";
        }
    }
    free_[address] = size;
    return "";
}

std::string Heap::check(std::uint64_t address, std::uint64_t bytes) const {
    const std::lock_guard<std::mutex> guard(lock_);
    auto found = live_.upper_bound(address);
    if (found != live_.begin()) {
        --found;
        if (address - found->first < found->second.size &&
            bytes <= found->second.size - (address - found->first))
            return "";
    }
    return describe(address);
}

// Where an address of the heap lies, for messages.
std::string Heap::describe(std::uint64_t address) const {
    auto old = freed_.upper_bound(address);
    if (old != freed_.begin()) {
        --old;
        if (address - old->first < old->second.size)
            return "in memory of " + std::to_string(old->second.size) + " bytes that was freed";
    }
    auto before = live_.upper_bound(address);
    if (before != live_.begin()) {
        --before;
        const std::uint64_t offset = address - before->first;
        return "at byte " + std::to_string(offset) + " of memory of " +
               std::to_string(before->second.size) + " bytes from malloc";
    }
    return "at no memory that malloc gave";
}

std::vector<Heap::Allocation> Heap::allocations() const {
    const std::lock_guard<std::mutex> guard(lock_);
    std::vector<Allocation> found;
    for (const auto &[address, extent] : live_) found.push_back({address, extent.size, extent.node});
    return found;
}

}  // namespace ptxkit::sim
