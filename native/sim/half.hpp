// Half precision and bfloat16 as bits, rounded once from a double.
#pragma once

#include <cstdint>

namespace ptxkit::sim {

double half_to_double(std::uint16_t bits);
double bfloat_to_double(std::uint16_t bits);
// `rounding`: 0 nearest even, 1 to zero, 2 down, 3 up.
std::uint16_t double_to_half(double value, unsigned rounding);
std::uint16_t double_to_bfloat(double value, unsigned rounding);

// An integer rounded once to a float of 16 (half), 17 (bfloat16), 32 or 64 bits.
std::uint64_t integer_to_float(std::int64_t value, bool is_unsigned, unsigned format,
                               unsigned rounding);

}  // namespace ptxkit::sim
