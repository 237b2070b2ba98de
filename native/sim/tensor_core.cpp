#include "tensor_core.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ptxkit::sim {

namespace {

// One exponent for each column.
typedef std::int16_t Exponents __attribute__((vector_size(2 * kColumns)));

constexpr int kExtraBits = 25;
constexpr int kLeastExponent = -133;  // what single precision sums align to at least
constexpr int kNothing = -4000;  // below every exponent of a number that is not zero

inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline int exponent_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
    if (bits == 0) return 2 * kZeroExponent;
    return std::max<int>(static_cast<int>(bits >> 23), 1) - 127;
}

// Half precision addends align by their own least exponent.
inline int exponent_of_half(float value) {
    return value == 0 ? 2 * kZeroExponent : std::max(exponent_of(value), -14);
}

inline float cut_to_single(double value) {
    if (std::fabs(value) >= 0x1p128)
        return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value));
    // The largest numbers round to infinity here, and come back by the same step.
    const auto near = static_cast<float>(value);
    auto bits = std::bit_cast<std::uint32_t>(near);
    bits -= std::fabs(static_cast<double>(near)) > std::fabs(value);
    return std::bit_cast<float>(bits);
}

// The value of the nearest half precision number, ties to even.
inline float round_to_half(double value) {
    const double size = std::fabs(value);
    double rounded;
    if (size < 0x1p-14) {
        rounded = (size + 0x1p28) - 0x1p28;  // the last bit of 2^28 is 2^-24
    } else {
        auto bits = std::bit_cast<std::uint64_t>(size);
        bits += 0x1FFFFFFFFFFull + (bits >> 42 & 1);
        rounded = std::bit_cast<double>(bits & ~0x3FFFFFFFFFFull);
        if (rounded >= 0x1p16) rounded = std::numeric_limits<double>::infinity();
    }
    return static_cast<float>(std::copysign(rounded, value));
}

// A sum with infinities or NaNs among what is added.
float special_sum(const Multiplicands &m, const std::uint8_t *order, unsigned count, unsigned row,
                  unsigned column, float c) {
    double sum = c;
    for (unsigned n = 0; n < count; ++n) {
        const unsigned k = order[n];
        const double product = m.a[row][k] * m.b[m.position[row][k]][column];
        if (!std::isfinite(product)) sum += product;
    }
    return static_cast<float>(sum);
}

bool all_finite(const float *values) {
    float sum = 0;  // of zeros, or NaN: infinity less infinity
    for (unsigned j = 0; j < kColumns; ++j) sum += values[j] - values[j];
    return sum == 0;
}

bool any_special(const Multiplicands &m, unsigned rows) {
    double sums[kColumns] = {};
    for (unsigned k = 0; k < m.depth; ++k)
        for (unsigned j = 0; j < kColumns; ++j) sums[j] += m.b[k][j] - m.b[k][j];
    for (unsigned i = 0; i < rows; ++i)
        for (unsigned k = 0; k + kColumns <= m.products; k += kColumns)
            for (unsigned j = 0; j < kColumns; ++j) sums[j] += m.a[i][k + j] - m.a[i][k + j];
    for (unsigned i = 0; i < rows; ++i)
        for (unsigned k = m.products / kColumns * kColumns; k < m.products; ++k)
            sums[0] += m.a[i][k] - m.a[i][k];
    double sum = 0;
    for (const double one : sums) sum += one;
    return sum != 0;
}

// One step of one row, all columns at once. Everything is finite.
inline __attribute__((always_inline)) void add_row_anywhere(
    const Multiplicands &m, const std::uint8_t *order, unsigned count, unsigned row, const float *c,
    float *d, bool half_sums) {
    Exponents largest = Exponents{} + std::int16_t{2 * kZeroExponent};
    for (unsigned n = 0; n < count; ++n) {
        const unsigned k = order[n];
        Exponents sum;
        std::memcpy(&sum, m.b_exponent[m.position[row][k]], sizeof sum);
        sum += m.a_exponent[row][k];
        largest = largest > sum ? largest : sum;
    }
    alignas(64) double scale[kColumns];
    int exponent[kColumns];
    for (unsigned j = 0; j < kColumns; ++j) {
        const int addend = half_sums ? exponent_of_half(c[j]) : exponent_of(c[j]);
        const int found = std::max<int>(largest[j], addend);
        exponent[j] = std::max(found, kLeastExponent);
        scale[j] = found < kNothing ? 0.0 : power_of_two(kExtraBits - exponent[j]);
    }
    std::int64_t total[kColumns];
    for (unsigned j = 0; j < kColumns; ++j)
        total[j] = static_cast<std::int64_t>(static_cast<double>(c[j]) * scale[j]);
    // Sixteen products below 2^27 fit 32 bits.
    for (unsigned first = 0; first < count; first += 16) {
        std::int32_t sum[kColumns] = {};
        const unsigned last = std::min(count, first + 16);
        for (unsigned n = first; n < last; ++n) {
            const unsigned k = order[n];
            const double left = m.a[row][k];
            const double *right = m.b[m.position[row][k]];
            for (unsigned j = 0; j < kColumns; ++j)
                sum[j] += static_cast<std::int32_t>(left * right[j] * scale[j]);
        }
        for (unsigned j = 0; j < kColumns; ++j) total[j] += sum[j];
    }
    for (unsigned j = 0; j < kColumns; ++j) {
        if (total[j] == 0) {
            d[j] = 0.0f;
            continue;
        }
        const double value = static_cast<double>(total[j]) * power_of_two(exponent[j] - kExtraBits);
        // A sum that rounds to zero is +0, whatever its sign was.
        d[j] = (half_sums ? round_to_half(value) : cut_to_single(value)) + 0.0f;
    }
}

void add_row_plain(const Multiplicands &m, const std::uint8_t *order, unsigned count, unsigned row,
                   const float *c, float *d, bool half_sums) {
    add_row_anywhere(m, order, count, row, c, d, half_sums);
}

// Eight columns are two vectors where the processor has wide ones.
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) void add_row_wide(const Multiplicands &m, const std::uint8_t *order,
                                                  unsigned count, unsigned row, const float *c,
                                                  float *d, bool half_sums) {
    add_row_anywhere(m, order, count, row, c, d, half_sums);
}
const auto add_row = __builtin_cpu_supports("avx2") ? add_row_wide : add_row_plain;
#else
constexpr auto add_row = add_row_plain;
#endif

}  // namespace

void multiply_add(Multiplicands &m, const Steps &steps, const float (*c)[kColumns],
                  float (*d)[kColumns]) {
    std::uint8_t order[kMaxProducts];
    unsigned at = 0;
    for (unsigned part = 0; part < (steps.halves ? 2u : 1u); ++part)
        for (unsigned k = 0; k < m.products; ++k)
            if (!steps.halves || (k % 4 >= 2) == (part == 1)) order[at++] = static_cast<std::uint8_t>(k);
    const bool special = any_special(m, steps.rows);
    const Multiplicands *finite = &m;
    Multiplicands cleaned;
    if (special) {  // the quick path takes numbers only
        cleaned = m;
        for (unsigned i = 0; i < steps.rows; ++i)
            for (unsigned k = 0; k < m.products; ++k)
                if (!std::isfinite(m.a[i][k])) cleaned.a[i][k] = 0.0;
        for (unsigned k = 0; k < m.depth; ++k)
            for (unsigned j = 0; j < kColumns; ++j)
                if (!std::isfinite(m.b[k][j])) cleaned.b[k][j] = 0.0;
        finite = &cleaned;
    }
    for (unsigned i = 0; i < steps.rows; ++i) {
        float sums[kColumns], clean[kColumns], next[kColumns];
        for (unsigned j = 0; j < kColumns; ++j) sums[j] = steps.late_addend ? 0.0f : c[i][j];
        for (unsigned first = 0; first < m.products; first += steps.products) {
            const unsigned count = std::min(steps.products, m.products - first);
            if (!special && all_finite(sums)) {
                add_row(m, order + first, count, i, sums, next, steps.half_sums);
                std::copy_n(next, kColumns, sums);
                continue;
            }
            for (unsigned j = 0; j < kColumns; ++j) clean[j] = std::isfinite(sums[j]) ? sums[j] : 0.0f;
            add_row(*finite, order + first, count, i, clean, next, steps.half_sums);
            for (unsigned j = 0; j < kColumns; ++j) {
                const float odd = special_sum(m, order + first, count, i, j, sums[j]);
                sums[j] = std::isfinite(odd) ? next[j] : odd;
            }
        }
        for (unsigned j = 0; j < kColumns; ++j) {
            if (steps.late_addend) {
                sums[j] = steps.half_sums
                              ? round_to_half(static_cast<double>(sums[j]) + static_cast<double>(c[i][j]))
                              : sums[j] + c[i][j];
            }
            d[i][j] = sums[j];
        }
    }
}

}  // namespace ptxkit::sim
