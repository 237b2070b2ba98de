// mma on integers, single bits and double precision numbers. Compiled with dynamic rounding.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "float_mode.hpp"
#include "fragments.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

constexpr unsigned kMaxDepth = 128;

// f(row, column, sum so far) for every sum of a fragment of 32-bit integers, then stored.
template <class F>
void update_sums(Machine &m, const Operands &o, F f) {
    std::uint32_t results[4][kLanes];
    for (unsigned n = 0; n < o.c_count; ++n) {
        const std::int32_t *c = m.source<std::int32_t>(o.c[n]);
        for (unsigned l = 0; l < kLanes; ++l)
            results[n][l] = static_cast<std::uint32_t>(f(sum_row(l, n), sum_column(l, n), c[l]));
    }
    for (unsigned n = 0; n < o.d_count; ++n)
        if (o.d[n] != kNoSlot)
            std::copy_n(results[n], kLanes, m.destination<std::uint32_t>(o.d[n]));
}

// An integer of 4 or 8 bits at a place of a word.
std::int16_t integer_at(std::uint32_t word, unsigned n, unsigned bits, bool is_signed) {
    const std::uint32_t raw = word >> (n * bits) & ((1u << bits) - 1);
    const std::uint32_t sign = is_signed ? raw >> (bits - 1) << bits : 0;
    return static_cast<std::int16_t>(static_cast<std::int32_t>(raw) - static_cast<std::int32_t>(sign));
}

// `immediate`: a signed 1, b signed 2, four bits an element 4, saturate 8, sparse 16, eight
// rows 32, selector 64 and 128.
void multiply_integers(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Operands o(m, i);
    const auto mode = static_cast<unsigned>(i.immediate);
    const unsigned bits = mode & 4 ? 4 : 8, each = 32 / bits;
    const unsigned rows = mode & 32 ? 8 : 16;
    const bool sparse = mode & 16;
    alignas(64) std::int16_t a[16][kMaxDepth] = {}, b[8][kMaxDepth];
    const unsigned depth = o.b_count * 4 * each;
    for_right<std::uint32_t>(m, o, [&](unsigned column, unsigned word, std::uint32_t value) {
        for (unsigned n = 0; n < each; ++n)
            b[column][word * each + n] = integer_at(value, n, bits, mode & 2);
    });
    if (sparse) {
        std::int16_t packed[16][kMaxDepth / 2];
        for_left<std::uint32_t>(m, o, rows, [&](unsigned row, unsigned word, std::uint32_t value) {
            for (unsigned n = 0; n < each; ++n)
                packed[row][word * each + n] = integer_at(value, n, bits, mode & 1);
        });
        place_sparse(m, o.metadata[0], depth / 2, bits == 4 ? 4 : 2, true, mode >> 6 & 3,
                     [&](unsigned row, unsigned k, unsigned place) {
                         a[row][place] = static_cast<std::int16_t>(a[row][place] + packed[row][k]);
                     });
    } else {
        for_left<std::uint32_t>(m, o, rows, [&](unsigned row, unsigned word, std::uint32_t value) {
            for (unsigned n = 0; n < each; ++n)
                a[row][word * each + n] = integer_at(value, n, bits, mode & 1);
        });
    }
    update_sums(m, o, [&](unsigned row, unsigned column, std::int32_t c) {
        std::int32_t sum = 0;
        for (unsigned k = 0; k < depth; ++k) sum += a[row][k] * b[column][k];
        const std::int64_t total = std::int64_t{c} + sum;
        if (!(mode & 8)) return static_cast<std::int32_t>(static_cast<std::uint32_t>(total));
        using Limits = std::numeric_limits<std::int32_t>;
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(total, Limits::min(), Limits::max()));
    });
}

// `immediate`: exclusive or 1 (else and), eight rows 32.
void multiply_bits(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Operands o(m, i);
    std::uint32_t a[16][8], b[8][8];
    const unsigned words = o.b_count * 4;
    for_left<std::uint32_t>(m, o, i.immediate & 32 ? 8 : 16,
                            [&](unsigned row, unsigned word, std::uint32_t value) { a[row][word] = value; });
    for_right<std::uint32_t>(m, o, [&](unsigned column, unsigned word, std::uint32_t value) {
        b[column][word] = value;
    });
    update_sums(m, o, [&](unsigned row, unsigned column, std::int32_t c) {
        auto sum = static_cast<std::uint32_t>(c);
        for (unsigned k = 0; k < words; ++k) {
            const std::uint32_t both =
                i.immediate & 1 ? a[row][k] ^ b[column][k] : a[row][k] & b[column][k];
            sum += static_cast<std::uint32_t>(std::popcount(both));
        }
        return static_cast<std::int32_t>(sum);
    });
}

double fused(double a, double b, double c) {
    const double value = std::fma(a, b, c);
    if (!std::isnan(value)) return value;
    for (const double one : {b, c, a})
        if (std::isnan(one))
            return std::bit_cast<double>(std::bit_cast<std::uint64_t>(one) | 0x0008000000000000ull);
    return canonical_nan<double>();
}

// `immediate`: rounding 1 and 2, eight rows 32.
void multiply_doubles(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Operands o(m, i);
    const Rounding rounding(static_cast<unsigned>(i.immediate) & 3);
    double a[16][16], b[8][16], results[4][kLanes];
    const unsigned depth = o.b_count * 4;
    for_left<double>(m, o, i.immediate & 32 ? 8 : 16,
                     [&](unsigned row, unsigned k, double value) { a[row][k] = value; });
    for_right<double>(m, o, [&](unsigned column, unsigned k, double value) { b[column][k] = value; });
    for (unsigned n = 0; n < o.c_count; ++n) {
        const double *c = m.source<double>(o.c[n]);
        for (unsigned l = 0; l < kLanes; ++l) {
            double sum = c[l];
            for (unsigned k = 0; k < depth; ++k)
                sum = fused(a[sum_row(l, n)][k], b[sum_column(l, n)][k], sum);
            results[n][l] = sum;
        }
    }
    for (unsigned n = 0; n < o.d_count; ++n)
        if (o.d[n] != kNoSlot) std::copy_n(results[n], kLanes, m.destination<double>(o.d[n]));
}

}  // namespace

void add_exact_mma_operations(OperationList &list) {
    list.push_back({"mma.integer", multiply_integers});
    list.push_back({"mma.bits", multiply_bits});
    list.push_back({"mma.double", multiply_doubles});
}

}  // namespace ptxkit::sim
