// Narrow floats as bits: half precision, bfloat16 and the two 8-bit formats, each rounded
// once from a double that holds the exact value (or the exact value rounded to odd).
#pragma once

#include <cstdint>

namespace ptxkit::sim {

double half_to_double(std::uint16_t bits);
double bfloat_to_double(std::uint16_t bits);
// `rounding`: 0 nearest even, 1 to zero, 2 down, 3 up.
std::uint16_t double_to_half(double value, unsigned rounding);
std::uint16_t double_to_bfloat(double value, unsigned rounding);

// e4m3 has no infinity and one NaN of each sign; e5m2 is the upper byte of a half.
double e4m3_to_double(std::uint8_t bits);
double e5m2_to_double(std::uint8_t bits);
// Rounded to nearest even; what is too large becomes the largest finite number.
std::uint8_t double_to_e4m3(double value);
std::uint8_t double_to_e5m2(double value);

// Formats of 6 and 4 bits without infinity and NaN (a NaN becomes the largest number): e2m3, e3m2
// and e2m1, by the bits of their exponent and fraction.
double tiny_to_double(std::uint8_t bits, int exponent_bits, int fraction_bits);
std::uint8_t double_to_tiny(double value, int exponent_bits, int fraction_bits);

// a + b as a double whose last bit is set when the sum is not exact: rounding that once more
// to a narrow format is the same as rounding the exact sum.
double add_to_odd(double a, double b);

// An integer rounded once to a float of 16 (half), 17 (bfloat16), 32 or 64 bits.
std::uint64_t integer_to_float(std::int64_t value, bool is_unsigned, unsigned format,
                               unsigned rounding);

}  // namespace ptxkit::sim
