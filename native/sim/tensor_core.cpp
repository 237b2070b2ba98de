#include "tensor_core.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "half.hpp"

namespace ptxkit::sim {

namespace {

constexpr int kExtraBits = 25;
constexpr int kNothing = -4000;  // below every exponent of a number that is not zero

double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

int exponent_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
    if (bits == 0) return 2 * kZeroExponent;
    return std::max<int>(static_cast<int>(bits >> 23), 1) - 127;
}

// Half precision addends align by their own least exponent.
int exponent_of_half(float value) {
    return value == 0 ? 2 * kZeroExponent : std::max(exponent_of(value), -14);
}

float cut_to_single(double value) {
    if (std::fabs(value) >= 0x1p128)
        return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value));
    // The largest numbers round to infinity here, and come back by the same step.
    const auto near = static_cast<float>(value);
    auto bits = std::bit_cast<std::uint32_t>(near);
    bits -= std::fabs(static_cast<double>(near)) > std::fabs(value);
    return std::bit_cast<float>(bits);
}

float round_to_half(double value) {
    return static_cast<float>(half_to_double(double_to_half(value, 0)));
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

struct Special {
    bool rows[kRows] = {}, columns[kColumns] = {};
    bool any = false;
};

Special find_special(const Multiplicands &m, unsigned rows) {
    Special found;
    for (unsigned i = 0; i < rows; ++i) {
        double sum = 0;
        for (unsigned k = 0; k < m.products; ++k) sum += m.a[i][k] - m.a[i][k];
        found.rows[i] = sum != 0;  // a NaN: infinity less infinity
        found.any |= found.rows[i];
    }
    double sums[kColumns] = {};
    for (unsigned k = 0; k < m.depth; ++k)
        for (unsigned j = 0; j < kColumns; ++j) sums[j] += m.b[k][j] - m.b[k][j];
    for (unsigned j = 0; j < kColumns; ++j) {
        found.columns[j] = sums[j] != 0;
        found.any |= found.columns[j];
    }
    return found;
}

// One step of one row, all columns at once. Everything is finite.
void add_row(const Multiplicands &m, const std::uint8_t *order, unsigned count, unsigned row,
             const float *c, float *d, bool half_sums) {
    std::int16_t largest[kColumns];
    std::fill_n(largest, kColumns, std::int16_t{2 * kZeroExponent});
    for (unsigned n = 0; n < count; ++n) {
        const unsigned k = order[n];
        const std::int16_t left = m.a_exponent[row][k];
        const std::int16_t *right = m.b_exponent[m.position[row][k]];
        for (unsigned j = 0; j < kColumns; ++j)
            largest[j] = std::max(largest[j], static_cast<std::int16_t>(left + right[j]));
    }
    alignas(64) double scale[kColumns];
    int exponent[kColumns];
    for (unsigned j = 0; j < kColumns; ++j) {
        const int addend = half_sums ? exponent_of_half(c[j]) : exponent_of(c[j]);
        exponent[j] = std::max<int>(largest[j], addend);
        scale[j] = exponent[j] < kNothing ? 0.0 : power_of_two(kExtraBits - exponent[j]);
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

}  // namespace

void multiply_add(Multiplicands &m, const Steps &steps, const float (*c)[kColumns],
                  float (*d)[kColumns]) {
    std::uint8_t order[kMaxProducts];
    unsigned at = 0;
    for (unsigned part = 0; part < (steps.halves ? 2u : 1u); ++part)
        for (unsigned k = 0; k < m.products; ++k)
            if (!steps.halves || (k % 4 >= 2) == (part == 1)) order[at++] = static_cast<std::uint8_t>(k);
    const Special special = find_special(m, steps.rows);
    const Multiplicands *finite = &m;
    Multiplicands cleaned;
    if (special.any) {  // the quick path takes numbers only
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
            for (unsigned j = 0; j < kColumns; ++j) clean[j] = std::isfinite(sums[j]) ? sums[j] : 0.0f;
            add_row(*finite, order + first, count, i, clean, next, steps.half_sums);
            for (unsigned j = 0; j < kColumns; ++j) {
                if (special.rows[i] || special.columns[j] || !std::isfinite(sums[j])) {
                    const float odd = special_sum(m, order + first, count, i, j, sums[j]);
                    if (!std::isfinite(odd)) next[j] = odd;
                }
                sums[j] = next[j];
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
