#include "buffer.hpp"

#include <array>

namespace ptxkit::stack {

namespace {

constexpr std::array<char, 200> kPairs = [] {
    std::array<char, 200> pairs{};
    for (unsigned n = 0; n < 100; ++n) {
        pairs[2 * n] = static_cast<char>('0' + n / 10);
        pairs[2 * n + 1] = static_cast<char>('0' + n % 10);
    }
    return pairs;
}();

}  // namespace

char *write_number(char *out, std::uint64_t value) {
    char digits[kLongestNumber];
    std::size_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        std::memcpy(digits + at, &kPairs[2 * (value % 100)], 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        std::memcpy(digits + at, &kPairs[2 * value], 2);
    } else {
        digits[--at] = static_cast<char>('0' + value);
    }
    return write(out, digits + at, sizeof digits - at);
}

char *write_hex(char *out, std::uint64_t value, unsigned digits) {
    for (unsigned n = digits; n-- > 0;) *out++ = "0123456789ABCDEF"[value >> (4 * n) & 15];
    return out;
}

}  // namespace ptxkit::stack
