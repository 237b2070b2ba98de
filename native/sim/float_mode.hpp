// How a float instruction rounds, flushes and saturates.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace ptxkit::sim {

// Bits of Inst::immediate, set by the lowering.
struct FloatMode {
    explicit FloatMode(std::int64_t bits)
        : rounding(static_cast<unsigned>(bits & 3)),
          flush(bits & 4),
          saturate(bits & 8),
          propagate_nan(bits & 16),
          xor_sign(bits & 32),
          relu(bits & 64),
          out_of_bounds(bits & 128),
          to_whole(bits & 256),
          finite(bits & 512) {}
    unsigned rounding;  // 0 nearest even, 1 to zero, 2 down, 3 up
    bool flush;
    bool saturate;
    bool propagate_nan;
    bool xor_sign;
    bool relu;
    bool out_of_bounds;  // .oob: a NaN of all ones stands for an element that is not there
    bool to_whole;       // .rni and its kin: round to a whole number first
    bool finite;         // .satfinite: the largest number in place of infinity
};

// Sets the processor's rounding for as long as it lives.
class Rounding {
  public:
    explicit Rounding(unsigned mode) : changed_(mode != 0) {
        static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
        if (changed_) std::fesetround(kModes[mode]);
    }
    ~Rounding() {
        if (changed_) std::fesetround(FE_TONEAREST);
    }
    Rounding(const Rounding &) = delete;
    Rounding &operator=(const Rounding &) = delete;

  private:
    bool changed_;
};

template <class T>
T canonical_nan();
template <>
inline float canonical_nan<float>() { return std::bit_cast<float>(0x7FFFFFFFu); }
template <>
inline double canonical_nan<double>() { return std::bit_cast<double>(0xFFF8000000000000ull); }

// A subnormal becomes a zero of its sign.
inline float flush(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits & 0x7F800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : value;
}
inline double flush(double value) { return value; }  // .ftz is for single precision only

}  // namespace ptxkit::sim
