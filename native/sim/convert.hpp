// What the conversions share: the numbers of types, and rounding to a float of any of them.
#pragma once

#include "float_mode.hpp"

namespace ptxkit::sim {

// Inst::target of cvt: the source in the low byte, the destination in the next.
enum ConvertType : unsigned { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBf16, kF32, kF64 };

// The value of the bits of a float.
double to_double(std::uint64_t bits, unsigned type);

// A value rounded once to a float; a NaN is the type's canonical one.
std::uint64_t to_float(double value, unsigned type, const FloatMode &mode);

}  // namespace ptxkit::sim
