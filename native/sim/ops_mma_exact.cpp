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

// The integers of 4 or 8 bits in a word.
inline void split_integers(std::uint32_t word, unsigned bits, bool is_signed, std::int16_t *out) {
    const unsigned up = 32 - bits;
    for (unsigned n = 0; n < 32 / bits; ++n) {
        const std::uint32_t top = word << (up - n * bits);
        out[n] = static_cast<std::int16_t>(is_signed ? static_cast<std::int32_t>(top) >> up
                                                     : static_cast<std::int32_t>(top >> up));
    }
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
        split_integers(value, bits, mode & 2, &b[column][word * each]);
    });
    if (sparse) {
        std::int16_t packed[16][kMaxDepth / 2];
        for_left<std::uint32_t>(m, o, rows, [&](unsigned row, unsigned word, std::uint32_t value) {
            split_integers(value, bits, mode & 1, &packed[row][word * each]);
        });
        place_sparse(m, o.metadata[0], depth / 2, bits == 4 ? 4 : 2, true, mode >> 6 & 3,
                     [&](unsigned row, unsigned k, unsigned place) {
                         a[row][place] = static_cast<std::int16_t>(a[row][place] + packed[row][k]);
                     });
    } else {
        for_left<std::uint32_t>(m, o, rows, [&](unsigned row, unsigned word, std::uint32_t value) {
            split_integers(value, bits, mode & 1, &a[row][word * each]);
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

// A NaN among the operands is the result, made quiet: of b, then c, then a.
double fused_nan(double a, double b, double c) {
    for (const double one : {b, c, a})
        if (std::isnan(one))
            return std::bit_cast<double>(std::bit_cast<std::uint64_t>(one) | 0x0008000000000000ull);
    return canonical_nan<double>();
}

struct Doubles {
    double a[16][16], b[8][16];
    unsigned depth;
};

// The sums that the lanes hold as their nth, each a chain of fused steps along K.
inline __attribute__((always_inline)) void add_doubles_anywhere(const Doubles &m, unsigned n,
                                                                const double *c, double *d) {
    double sums[kLanes];
    std::copy_n(c, kLanes, sums);
    for (unsigned k = 0; k < m.depth; ++k)
        for (unsigned l = 0; l < kLanes; ++l) {
            const double a = m.a[sum_row(l, n)][k], b = m.b[sum_column(l, n)][k];
            const double next = std::fma(a, b, sums[l]);
            sums[l] = std::isnan(next) ? fused_nan(a, b, sums[l]) : next;
        }
    std::copy_n(sums, kLanes, d);
}

void add_doubles_plain(const Doubles &m, unsigned n, const double *c, double *d) {
    add_doubles_anywhere(m, n, c, d);
}
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) void add_doubles_wide(const Doubles &m, unsigned n,
                                                          const double *c, double *d) {
    add_doubles_anywhere(m, n, c, d);
}
const auto add_doubles =
    __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? add_doubles_wide : add_doubles_plain;
#else
constexpr auto add_doubles = add_doubles_plain;
#endif

// `immediate`: rounding 1 and 2, eight rows 32.
void multiply_doubles(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Operands o(m, i);
    const Rounding rounding(static_cast<unsigned>(i.immediate) & 3);
    Doubles values;
    values.depth = o.b_count * 4;
    double results[4][kLanes];
    for_left<double>(m, o, i.immediate & 32 ? 8 : 16,
                     [&](unsigned row, unsigned k, double value) { values.a[row][k] = value; });
    for_right<double>(m, o, [&](unsigned column, unsigned k, double value) { values.b[column][k] = value; });
    for (unsigned n = 0; n < o.c_count; ++n) add_doubles(values, n, m.source<double>(o.c[n]), results[n]);
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
