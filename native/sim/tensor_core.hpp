// The sums of a tensor core, as recorded on an H200.
//
// The products of one step are exact. They and the addend are cut to 25 bits below the
// largest exponent among them (towards zero), added as integers, and the sum is cut to
// single precision or rounded to half precision. Zeros have no say in the exponent.
#pragma once

#include <cstdint>

#include "narrow_formats.hpp"

namespace ptxkit::sim {

constexpr unsigned kRows = 16, kColumns = 8;
constexpr unsigned kMaxProducts = 64;  // of one element of the result
constexpr unsigned kMaxDepth = 128;    // rows of the right matrix

// Multiplicands, decoded. A sparse left matrix says which row of the right one each of its
// elements meets; a dense one has `position` count up.
struct Multiplicands {
    unsigned products = 0;
    unsigned depth = 0;
    alignas(64) double a[kRows][kMaxProducts];
    std::int16_t a_exponent[kRows][kMaxProducts];
    std::uint8_t position[kRows][kMaxProducts];
    alignas(64) double b[kMaxDepth][kColumns];
    alignas(64) std::int16_t b_exponent[kMaxDepth][kColumns];
};

// How a product is split into steps of the hardware.
struct Steps {
    unsigned rows = kRows;       // of the left matrix, 8 or 16
    unsigned products = 16;      // of one step
    bool halves = false;         // a step takes two elements of every four
    bool late_addend = false;    // c is added at the end, in its own precision
    bool half_sums = false;      // sums are rounded to half precision
};

// c and d: the sums as single precision numbers (half precision ones widened).
void multiply_add(Multiplicands &m, const Steps &steps, const float (*c)[kColumns],
                  float (*d)[kColumns]);

}  // namespace ptxkit::sim
