// A text with holes: what stays the same is kept in one piece, so that filling the holes is
// nothing but copying.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scan.hpp"

namespace ptxkit::inject {

class Plan {
  public:
    // The PTX with a scope around every occurrence: registers for the stub, moves into them, a
    // hole, moves out of them.
    Plan(std::string_view text, const Scan &scan);

    std::size_t holes() const { return ends_.size(); }
    std::size_t fixed_size() const { return fixed_.size(); }
    bool is_ascii() const { return ascii_; }
    // Whether lines end in "\r\n", to go by the first one.
    bool is_crlf() const { return crlf_; }

    // Bytes of the whole with the hole `i` filled by `texts[slots[i]]`.
    std::size_t size(std::span<const std::uint32_t> slots,
                     std::span<const std::string_view> texts) const;
    // Writes the whole; `out` has room for `size` bytes.
    void fill(std::span<const std::uint32_t> slots, std::span<const std::string_view> texts,
              char *out) const;

  private:
    std::string fixed_;
    std::vector<std::size_t> ends_;  // in fixed_: where each hole is
    bool ascii_ = true;
    bool crlf_ = false;
};

}  // namespace ptxkit::inject
