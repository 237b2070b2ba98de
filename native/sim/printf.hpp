// printf as kernels have it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ptxkit::sim {

struct PrintArguments {
    std::function<std::uint64_t(unsigned size)> next;          // the next argument's bits
    std::function<std::string(std::uint64_t address)> text;    // a string's characters
    std::int32_t taken = 0;                                    // how many were used
};

// The text of a format and its arguments. Conversions that kernels do not have (%zu, %.*f, %n)
// are copied as they stand, as the driver does.
std::string format_text(const std::string &format, PrintArguments &arguments);

}  // namespace ptxkit::sim
