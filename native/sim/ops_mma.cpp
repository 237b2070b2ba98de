// mma on narrow floats: dense, sparse and block-scaled, as a tensor core adds them.
#include <cmath>

#include "fragments.hpp"
#include "half.hpp"
#include "operations.hpp"
#include "tensor_core.hpp"

namespace ptxkit::sim {

namespace {

// Inst::immediate of a product of floats; lowering/mma.py packs it.
struct Mode {
    explicit Mode(std::int64_t bits_)
        : bits(static_cast<std::uint64_t>(bits_)),
          a(static_cast<Narrow>(field(0, 4))),
          b(static_cast<Narrow>(field(4, 4))),
          half_c(field(8, 1)),
          half_d(field(9, 1)),
          sparse(field(13, 1)),
          selector(field(14, 2)),
          scales(field(24, 3)),
          powers_of_two(field(27, 1)),
          byte_a(field(28, 2)),
          thread_a(field(30, 2)),
          byte_b(field(32, 2)),
          thread_b(field(34, 2)) {
        steps.half_sums = field(10, 1);
        steps.late_addend = field(11, 1);
        steps.halves = field(12, 1);
        steps.products = field(16, 8);
    }
    unsigned field(unsigned at, unsigned width) const {
        return static_cast<unsigned>(bits >> at & ((1u << width) - 1));
    }
    std::uint64_t bits;
    Narrow a, b;
    bool half_c, half_d, sparse;
    unsigned selector;
    unsigned scales;  // of a row; 0: no scales
    bool powers_of_two;
    unsigned byte_a, thread_a, byte_b, thread_b;
    Steps steps;
};

// The elements of one register: the first of every lane, the second ...
struct Decoded {
    double values[8][kLanes];
    std::int16_t exponents[8][kLanes];
};

template <class Of>
void decode_words(const std::uint32_t *words, unsigned width, Decoded &out, Of of) {
    for (unsigned n = 0; n * width < 32; ++n)
        for (unsigned l = 0; l < kLanes; ++l) {
            const Exact one = of(words[l] >> (n * width));
            out.values[n][l] = one.value;
            out.exponents[n][l] = one.exponent;
        }
}

void decode_register(Narrow type, const std::uint32_t *words, Decoded &out) {
    switch (type) {
        case Narrow::F16:
            return decode_words(words, 16, out, [](std::uint32_t w) { return exact_of<5, 10>(w & 0xFFFFu); });
        case Narrow::Bf16:
            return decode_words(words, 16, out, [](std::uint32_t w) { return exact_of<8, 7>(w & 0xFFFFu); });
        case Narrow::Tf32:
            return decode_words(words, 32, out, [](std::uint32_t w) { return exact_of<8, 10>(w >> 13); });
        default:
            return decode_words(words, narrow_bits(type), out,
                                [type](std::uint32_t w) { return decode_narrow(type, w); });
    }
}

void read_multiplicands(const Machine &m, const Operands &o, const Mode &mode, Multiplicands &out) {
    const unsigned a_each = 32 / narrow_bits(mode.a), b_each = 32 / narrow_bits(mode.b);
    out.products = o.a_count * 2 * a_each;
    out.depth = o.b_count * 4 * b_each;
    Decoded decoded;
    for (unsigned r = 0; r < o.a_count; ++r) {
        decode_register(mode.a, m.source<std::uint32_t>(o.a[r]), decoded);
        for (unsigned n = 0; n < a_each; ++n)
            for (unsigned l = 0; l < kLanes; ++l) {
                const unsigned row = l / 4 + 8 * (r & 1), k = (l % 4 + 4 * (r >> 1)) * a_each + n;
                out.a[row][k] = decoded.values[n][l];
                out.a_exponent[row][k] = decoded.exponents[n][l];
            }
    }
    for (unsigned r = 0; r < o.b_count; ++r) {
        decode_register(mode.b, m.source<std::uint32_t>(o.b[r]), decoded);
        for (unsigned n = 0; n < b_each; ++n)
            for (unsigned l = 0; l < kLanes; ++l) {
                const unsigned column = l / 4, k = (l % 4 + 4 * r) * b_each + n;
                out.b[k][column] = decoded.values[n][l];
                out.b_exponent[k][column] = decoded.exponents[n][l];
            }
    }
    if (!mode.sparse) {
        for (auto &row : out.position)
            for (unsigned k = 0; k < out.products; ++k) row[k] = static_cast<std::uint8_t>(k);
        return;
    }
    const unsigned width = narrow_bits(mode.a);
    const unsigned per_group = width == 32 ? 1 : width == 4 ? 4 : 2;
    place_sparse(m, o.metadata[0], out.products, per_group, width <= 8, mode.selector,
                 [&](unsigned row, unsigned k, unsigned place) {
                     out.position[row][k] = static_cast<std::uint8_t>(place);
                 });
}

// Blocks of K share a scale in each row of the left matrix and each column of the right one.
// The left one's is taken into its elements at their place in K, so it works for sparse ones.
void scale_blocks(const Machine &m, const Inst &i, const Mode &mode, Multiplicands &out) {
    const std::uint32_t *left = m.source<std::uint32_t>(i.slots[0]);
    const std::uint32_t *right = m.source<std::uint32_t>(i.slots[1]);
    const unsigned block = out.depth / mode.scales;
    const auto times = [](double &value, std::int16_t &exponent, const Exact &scale) {
        value *= scale.value;
        exponent = static_cast<std::int16_t>(exponent + scale.exponent);
    };
    for (unsigned row = 0; row < kRows; ++row) {
        const std::uint32_t word = left[row % 8 * 4 + 2 * mode.thread_a + row / 8];
        for (unsigned k = 0; k < out.products; ++k) {
            const unsigned at = (mode.byte_a + out.position[row][k] / block) & 3u;
            times(out.a[row][k], out.a_exponent[row][k],
                  decode_scale(mode.powers_of_two, static_cast<std::uint8_t>(word >> 8 * at)));
        }
    }
    for (unsigned column = 0; column < kColumns; ++column) {
        const std::uint32_t word = right[column * 4 + mode.thread_b];
        for (unsigned k = 0; k < out.depth; ++k)
            times(out.b[k][column], out.b_exponent[k][column],
                  decode_scale(mode.powers_of_two,
                               static_cast<std::uint8_t>(word >> 8 * ((mode.byte_b + k / block) & 3u))));
    }
}

void read_sums(const Machine &m, const std::uint32_t *slots, bool half, float (*out)[kColumns]) {
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint32_t *words = m.source<std::uint32_t>(slots[half ? n / 2 : n]);
        for (unsigned l = 0; l < kLanes; ++l)
            out[sum_row(l, n)][sum_column(l, n)] =
                half ? static_cast<float>(exact_of<5, 10>(words[l] >> 16 * (n & 1) & 0xFFFFu).value)
                     : std::bit_cast<float>(words[l]);
    }
}

std::uint32_t single_bits(float value) {
    return std::isnan(value) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(value);
}
// Of a value that half precision holds, or of one that must be rounded to it.
std::uint32_t half_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7FFFFFFFu;
    if (size >= 0x38800000u && size < 0x47800000u && (bits & 0x1FFFu) == 0)
        return sign | ((size - 0x38000000u) >> 13);
    return std::isnan(value) ? 0x7FFFu : double_to_half(static_cast<double>(value), 0);
}

void write_sums(Machine &m, const std::uint32_t *slots, bool half, const float (*sums)[kColumns]) {
    for (unsigned n = 0; n < 4; n += half ? 2 : 1) {
        if (slots[half ? n / 2 : n] == kNoSlot) continue;
        std::uint32_t *words = m.destination<std::uint32_t>(slots[half ? n / 2 : n]);
        for (unsigned l = 0; l < kLanes; ++l) {
            const float *pair = &sums[sum_row(l, n)][sum_column(l, n)];
            words[l] = half ? half_bits(pair[0]) | half_bits(pair[1]) << 16 : single_bits(pair[0]);
        }
    }
}

// Slots: the two scales. `list`: d, a, b, c, metadata.
void multiply_floats(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Mode mode(i.immediate);
    const Operands o(m, i);
    Multiplicands values;
    float sums[kRows][kColumns], results[kRows][kColumns];
    read_multiplicands(m, o, mode, values);
    if (mode.scales) scale_blocks(m, i, mode, values);
    read_sums(m, o.c, mode.half_c, sums);
    multiply_add(values, mode.steps, sums, results);
    write_sums(m, o.d, mode.half_d, results);
}

// mma.m8n8k4 of halves: four products at once, each by eight lanes (q and 16+q). Since sm_80 a
// routine of single precision instructions. `immediate`: a by columns 1, b by rows 2, c half 4,
// d half 8.
void multiply_quads(Machine &m, const Inst &i) {
    if (!whole_warp(m, "a matrix product")) return;
    const Operands o(m, i);
    const bool a_columns = i.immediate & 1, b_rows = i.immediate & 2;
    const bool half_c = i.immediate & 4, half_d = i.immediate & 8;
    const auto element = [&](const std::uint32_t *slots, unsigned lane, unsigned n) {
        const std::uint32_t word = m.source<std::uint32_t>(slots[n / 2])[lane];
        return static_cast<float>(half_to_double(static_cast<std::uint16_t>(word >> 16 * (n & 1))));
    };
    // Eight vectors of four, over the lanes of a quad pair; across them when turned.
    const auto multiplicand = [&](const std::uint32_t *slots, bool turned, unsigned quad,
                                  unsigned at, unsigned k) {
        const unsigned lane = quad * 4 + (at >= 4 ? 16 : 0);
        return turned ? element(slots, lane + k, at % 4) : element(slots, lane + at % 4, k);
    };
    const auto place = [](bool half, unsigned lane, unsigned n, unsigned &row, unsigned &column) {
        const unsigned below = lane >= 16 ? 4 : 0;
        row = half ? lane % 4 + below : (lane & 1) + (n & 2) + below;
        column = half ? n : (n & 4) + (lane & 2) + (n & 1);
    };
    float c[4][8][8], d[4][8][8];
    unsigned row, column;
    for (unsigned l = 0; l < kLanes; ++l)
        for (unsigned n = 0; n < 8; ++n) {
            place(half_c, l, n, row, column);
            c[l % 16 / 4][row][column] =
                half_c ? element(o.c, l, n) : m.source<float>(o.c[n])[l];
        }
    for (unsigned quad = 0; quad < 4; ++quad)
        for (row = 0; row < 8; ++row)
            for (column = 0; column < 8; ++column) {
                float a[4], b[4];
                for (unsigned k = 0; k < 4; ++k) {
                    a[k] = multiplicand(o.a, a_columns, quad, row, k);
                    b[k] = multiplicand(o.b, b_rows, quad, column, k);
                }
                const float addend = c[quad][row][column];
                float &result = d[quad][row][column];
                if (half_d) {
                    const float first = std::fma(a[1], b[1], a[0] * b[0]);
                    result = (addend + first) + std::fma(a[3], b[3], a[2] * b[2]);
                } else {
                    float sum = 0;
                    for (unsigned k = 0; k < 4; ++k) sum = std::fma(a[k], b[k], sum);
                    result = addend + sum;
                }
            }
    for (unsigned n = 0; n < 8; n += half_d ? 2 : 1) {
        if (o.d[half_d ? n / 2 : n] == kNoSlot) continue;
        std::uint32_t *words = m.destination<std::uint32_t>(o.d[half_d ? n / 2 : n]);
        for (unsigned l = 0; l < kLanes; ++l) {
            place(half_d, l, n, row, column);
            const float *pair = &d[l % 16 / 4][row][column];
            words[l] = half_d ? half_bits(pair[0]) | half_bits(pair[1]) << 16 : single_bits(pair[0]);
        }
    }
}

}  // namespace

void add_mma_operations(OperationList &list) {
    list.push_back({"mma.float", multiply_floats});
    list.push_back({"mma.quads", multiply_quads});
}

}  // namespace ptxkit::sim
