// Where the elements of a matrix lie in the registers of a warp.
//
// Sixteen rows and eight columns: lane 4g+q holds words of rows g and g+8 of the left matrix,
// of column g of the right one, and two neighbours of rows g and g+8 of the sums.
#pragma once

#include "control.hpp"
#include "lanes.hpp"

namespace ptxkit::sim {

// Instructions of a whole warp. False: this part waits for the others; do nothing.
inline bool whole_warp(Machine &m, const char *what) {
    if (!converge(m, kFullMask)) return false;
    if (m.mask != kFullMask)
        m.fault("partial-warp", std::string(what) + " needs all 32 lanes of its warp; some have exited, "
                                "do not exist (a block size that is no multiple of 32) or are switched off");
    return true;
}

// The operands of a product: how many registers each has, from Inst::target, and where they
// begin in its list.
struct Operands {
    Operands(const Machine &m, const Inst &i)
        : d(m.function->lists.data() + i.list),
          d_count(i.target & 255),
          a_count(i.target >> 8 & 255),
          b_count(i.target >> 16 & 255),
          c_count(i.target >> 24 & 255),
          a(d + d_count),
          b(a + a_count),
          c(b + b_count),
          metadata(c + c_count) {}
    const std::uint32_t *d;
    unsigned d_count, a_count, b_count, c_count;
    const std::uint32_t *a, *b, *c, *metadata;
};

// f(row, word, value): the words of the left matrix; `rows` is 8 or 16.
template <class T, class F>
void for_left(const Machine &m, const Operands &o, unsigned rows, F f) {
    for (unsigned r = 0; r < o.a_count; ++r) {
        const T *values = m.source<T>(o.a[r]);
        const unsigned below = rows == 16 ? r & 1 : 0, step = rows == 16 ? r >> 1 : r;
        for (unsigned l = 0; l < kLanes; ++l) f(l / 4 + 8 * below, l % 4 + 4 * step, values[l]);
    }
}

// f(column, word, value): the words of the right matrix.
template <class T, class F>
void for_right(const Machine &m, const Operands &o, F f) {
    for (unsigned r = 0; r < o.b_count; ++r) {
        const T *values = m.source<T>(o.b[r]);
        for (unsigned l = 0; l < kLanes; ++l) f(l / 4, l % 4 + 4 * r, values[l]);
    }
}

// The row and the column of the nth sum that a lane holds.
inline unsigned sum_row(unsigned lane, unsigned n) { return lane / 4 + 8 * (n >> 1); }
inline unsigned sum_column(unsigned lane, unsigned n) { return lane % 4 * 2 + (n & 1); }

// Which rows of the right matrix the elements of a sparse left one meet. `per_group`: elements
// that four bits of metadata place. `bytes`: the metadata's order is that of 8- and 4-bit types.
template <class Position>
void place_sparse(const Machine &m, std::uint32_t slot, unsigned products, unsigned per_group,
                  bool bytes, unsigned selector, Position position) {
    const std::uint32_t *words = m.source<std::uint32_t>(slot);
    const unsigned groups = products / per_group;
    for (unsigned row = 0; row < 16; ++row) {
        const unsigned quad = row % 8 * 4, below = row / 8;
        for (unsigned group = 0; group < groups; ++group) {
            unsigned lane, shift;
            if (groups == 4) {
                lane = quad + selector, shift = 16 * below + 4 * group;
            } else if (!bytes) {
                lane = quad + 2 * selector + group / 4, shift = 16 * below + 4 * (group % 4);
            } else {
                lane = quad + (groups == 8 ? 2 * selector : 0) + below + 2 * (group / 8);
                shift = 4 * (group % 8);
            }
            const std::uint32_t bits = words[lane] >> shift & 15;
            const unsigned first = bits & 3, second = bits >> 2;
            if (per_group == 1) {  // one of two 32-bit elements, told by a pair of 16-bit places
                position(row, group, 2 * group + (second >> 1));
            } else {
                const unsigned width = per_group / 2;
                for (unsigned n = 0; n < width; ++n) {
                    position(row, group * per_group + n, 4 * width * group + first * width + n);
                    position(row, group * per_group + width + n, 4 * width * group + second * width + n);
                }
            }
        }
    }
}

}  // namespace ptxkit::sim
