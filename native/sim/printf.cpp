#include "printf.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <vector>

namespace ptxkit::sim {

namespace {

// One conversion, such as "%-8.3lld".
struct Conversion {
    std::string flags;
    int width = -1;
    int precision = -1;
    bool width_argument = false;
    std::string length;
    char letter = 0;
    std::size_t end = 0;  // of its text in the format
};

constexpr int kMostWidth = 4096;

int read_number(const std::string &format, std::size_t &at) {
    int value = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9')
        value = std::min(value * 10 + (format[at++] - '0'), kMostWidth);
    return value;
}

// False for what is no conversion that kernels have.
bool read_conversion(const std::string &format, std::size_t start, Conversion &one) {
    std::size_t at = start + 1;
    while (at < format.size() && std::strchr("-+ #0", format[at]) != nullptr) one.flags += format[at++];
    if (at < format.size() && format[at] == '*') {
        one.width_argument = true;
        ++at;
    } else if (at < format.size() && format[at] >= '1' && format[at] <= '9') {
        one.width = read_number(format, at);
    }
    if (at < format.size() && format[at] == '.') {
        ++at;
        one.precision = read_number(format, at);
    }
    while (at < format.size() && std::strchr("hl", format[at]) != nullptr && one.length.size() < 2)
        one.length += format[at++];
    if (at >= format.size()) return false;
    one.letter = format[at];
    one.end = at + 1;
    if (one.length == "hl" || one.length == "lh") return false;
    return std::strchr("diouxXcspeEfFgGaA", one.letter) != nullptr;
}

template <class T>
std::string show(const Conversion &one, const char *length, T value) {
    std::string pattern = "%" + one.flags;
    if (one.width >= 0) pattern += std::to_string(one.width);
    if (one.precision >= 0) pattern += "." + std::to_string(one.precision);
    pattern += length;
    pattern += one.letter;
    const int size = std::snprintf(nullptr, 0, pattern.c_str(), value);
    if (size < 0) return "";
    std::vector<char> text(static_cast<std::size_t>(size) + 1);
    std::snprintf(text.data(), text.size(), pattern.c_str(), value);
    return {text.data(), static_cast<std::size_t>(size)};
}

long long narrowed(std::uint64_t bits, const std::string &length, bool is_signed) {
    if (length == "hh")
        return is_signed ? static_cast<long long>(static_cast<std::int8_t>(bits))
                         : static_cast<long long>(static_cast<std::uint8_t>(bits));
    if (length == "h")
        return is_signed ? static_cast<long long>(static_cast<std::int16_t>(bits))
                         : static_cast<long long>(static_cast<std::uint16_t>(bits));
    if (length.empty())
        return is_signed ? static_cast<long long>(static_cast<std::int32_t>(bits))
                         : static_cast<long long>(static_cast<std::uint32_t>(bits));
    return static_cast<long long>(bits);
}

std::string convert(Conversion &one, PrintArguments &arguments) {
    const auto take = [&](unsigned size) {
        arguments.taken += 1;
        return arguments.next(size);
    };
    if (one.width_argument) {
        int width = static_cast<std::int32_t>(take(4));
        if (width < 0) one.flags += '-', width = width < -kMostWidth ? kMostWidth : -width;
        one.width = std::min(width, kMostWidth);
    }
    switch (one.letter) {
        case 'c': return show(one, "", static_cast<int>(take(4)));
        case 's': {
            const std::uint64_t address = take(8);
            const std::string text = address == 0 ? "(null)" : arguments.text(address);
            return show(one, "", text.c_str());
        }
        case 'p': return show(one, "", reinterpret_cast<void *>(take(8)));
        case 'd':
        case 'i': return show(one, "ll", narrowed(take(one.length[0] == 'l' ? 8 : 4), one.length, true));
        case 'o':
        case 'u':
        case 'x':
        case 'X': return show(one, "ll", narrowed(take(one.length[0] == 'l' ? 8 : 4), one.length, false));
        default: return show(one, "", std::bit_cast<double>(take(8)));
    }
}

}  // namespace

std::string format_text(const std::string &format, PrintArguments &arguments) {
    std::string out;
    for (std::size_t at = 0; at < format.size();) {
        if (format[at] != '%') {
            out += format[at++];
            continue;
        }
        if (at + 1 < format.size() && format[at + 1] == '%') {
            out += '%';
            at += 2;
            continue;
        }
        Conversion one;
        if (read_conversion(format, at, one)) {
            out += convert(one, arguments);
            at = one.end;
        } else {
            out += format[at++];
        }
    }
    return out;
}

}  // namespace ptxkit::sim
