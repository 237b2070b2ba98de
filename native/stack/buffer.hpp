// Text that grows, written through plain pointers with room checked ahead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ptxkit::stack {

// Bytes that keep what was written when they grow; not filled with zeros.
class Buffer {
  public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept
        : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
    Buffer &operator=(Buffer &&other) noexcept {
        bytes_ = std::move(other.bytes_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    std::size_t size() const { return size_; }
    char *data() { return bytes_.get(); }
    const char *data() const { return bytes_.get(); }

    // Makes room for `more` bytes at `cursor`, which may move.
    char *room(char *cursor, std::size_t more) {
        const auto used = static_cast<std::size_t>(cursor - bytes_.get());
        if (size_ - used >= more) [[likely]] return cursor;
        return grow(used, more);
    }
    char *end() { return bytes_.get() + size_; }
    char *at(std::size_t place) {
        if (place > size_) grow(size_, place - size_);
        return bytes_.get() + place;
    }

  private:
    char *grow(std::size_t used, std::size_t more) {
        const std::size_t size = std::max<std::size_t>(4096, (used + more) * 2);
        auto bytes = std::make_unique_for_overwrite<char[]>(size);
        if (used != 0) std::memcpy(bytes.get(), bytes_.get(), used);
        bytes_ = std::move(bytes);
        size_ = size;
        return bytes_.get() + used;
    }

    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
};

// Buffers that are done with, for the next ones who need some: memory that is fresh from the
// system costs more than what is written into it.
class BufferPool {
  public:
    Buffer take() {
        const std::lock_guard<std::mutex> guard(lock_);
        if (free_.empty()) return {};
        Buffer found = std::move(free_.back());
        free_.pop_back();
        held_ -= found.size();
        return found;
    }
    void give(Buffer buffer) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (buffer.size() == 0 || held_ + buffer.size() > kMostHeld) return;
        held_ += buffer.size();
        free_.push_back(std::move(buffer));
    }

  private:
    static constexpr std::size_t kMostHeld = std::size_t{64} << 20;
    std::mutex lock_;
    std::vector<Buffer> free_;
    std::size_t held_ = 0;
};

constexpr std::size_t kLongestNumber = 24;

inline char *write(char *out, const char *text, std::size_t size) {
    std::memcpy(out, text, size);
    return out + size;
}
inline char *write(char *out, const std::string &text) {
    return write(out, text.data(), text.size());
}
template <std::size_t size>
inline char *write(char *out, const char (&text)[size]) {
    std::memcpy(out, text, size - 1);
    return out + size - 1;
}
char *write_number(char *out, std::uint64_t value);
char *write_hex(char *out, std::uint64_t value, unsigned digits);

}  // namespace ptxkit::stack
