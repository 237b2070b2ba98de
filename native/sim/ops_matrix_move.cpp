// Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix, and the
// loads and stores of wmma.
#include <cstring>

#include "access.hpp"
#include "fragments.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

constexpr unsigned kRowBytes = 16;

// Inst::count of ldmatrix and stmatrix.
enum MatrixKind { kPlain, kTurned, kTurnedBytes };

// The rows of `count` matrices, sixteen bytes each. Lanes beyond them give no address.
void locate_rows(Machine &m, const Inst &i, unsigned rows, bool write, std::uint8_t **places) {
    const AccessMode mode(i.target);
    std::uint64_t addresses[kLanes];
    gather_addresses(m, i, mode, i.slots[0], addresses);
    for (unsigned l = rows; l < kLanes; ++l) addresses[l] = addresses[l % rows];
    locate(m, mode.space, addresses, kRowBytes, write, places);
}

// Sixteen elements of six or four bits, each to a byte of its own.
void widen_row(std::uint8_t *row, unsigned bits) {
    std::uint64_t words[2];
    std::memcpy(words, row, sizeof words);
    for (unsigned n = 0; n < 16; ++n) {
        const unsigned at = n * bits;
        std::uint64_t value = words[at / 64] >> at % 64;
        if (at % 64 + bits > 64) value |= words[1] << (64 - at % 64);
        row[n] = static_cast<std::uint8_t>(value & ((1u << bits) - 1));
    }
}

// Which byte of which row byte `n` of a lane's register is, in the matrix of that register.
struct Place {
    unsigned row, byte;
};
Place place_of(unsigned kind, unsigned reg, unsigned lane, unsigned n) {
    const unsigned group = lane / 4, quad = lane % 4;
    switch (kind) {
        case kPlain: return {8 * reg + group, 4 * quad + n};
        case kTurned: return {8 * reg + 2 * quad + n / 2, 2 * group + n % 2};
        default:  // two registers a matrix of sixteen rows
            return {16 * (reg / 2) + 4 * quad + 2 * (reg % 2) + n % 2, group + 8 * (n / 2)};
    }
}

// `list`: destinations. `count`: the kind. `width`: bits of the elements that are widened, or 0.
void load_matrices(Machine &m, const Inst &i) {
    if (!whole_warp(m, "ldmatrix")) return;
    const unsigned rows = 8 * i.list_size;
    std::uint8_t *places[kLanes];
    locate_rows(m, i, rows, false, places);
    std::uint8_t data[kLanes][kRowBytes];
    for (unsigned l = 0; l < rows; ++l) {
        std::memcpy(data[l], places[l], kRowBytes);
        if (i.width) widen_row(data[l], i.width);
    }
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for (unsigned r = 0; r < i.list_size; ++r) {
        if (slots[r] == kNoSlot) continue;
        auto *bytes = m.destination<std::uint8_t>(slots[r]);
        for (unsigned l = 0; l < kLanes; ++l)
            for (unsigned n = 0; n < 4; ++n) {
                const Place at = place_of(i.count, r, l, n);
                bytes[4 * l + n] = data[at.row][at.byte];
            }
    }
}

// Eight-bit matrices are stored turned: their columns are the rows in memory.
void store_matrices(Machine &m, const Inst &i) {
    if (!whole_warp(m, "stmatrix")) return;
    const unsigned rows = 8 * i.list_size;
    std::uint8_t *places[kLanes];
    locate_rows(m, i, rows, true, places);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    for (unsigned r = 0; r < i.list_size; ++r) {
        const auto *bytes = m.source<std::uint8_t>(slots[r]);
        for (unsigned l = 0; l < kLanes; ++l)
            for (unsigned n = 0; n < 4; ++n) {
                const Place at = i.count == kTurnedBytes
                                     ? Place{8 * r + l % 4 * 2 + n % 2, l / 4 + 8 * (n / 2)}
                                     : place_of(i.count, r, l, n);
                places[at.row][at.byte] = bytes[4 * l + n];
            }
    }
}

// Slots: d, a.
void transpose(Machine &m, const Inst &i) {
    if (!whole_warp(m, "movmatrix")) return;
    const std::uint32_t *a = m.source<std::uint32_t>(i.slots[1]);
    std::uint32_t result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
        const unsigned column = l / 4, shift = 16 * (column & 1);
        const auto half = [&](unsigned row) { return a[4 * row + column / 2] >> shift & 0xFFFFu; };
        result[l] = half(l % 4 * 2) | half(l % 4 * 2 + 1) << 16;
    }
    put(m, m.destination<std::uint32_t>(i.slots[0]), result);
}

// Inst::count and Inst::width of a fragment of wmma; lowering/wmma.py packs them.
struct Fragment {
    explicit Fragment(const Inst &i)
        : style(i.count & 3),
          swapped(i.count >> 2 & 1),
          side_by_side(i.count >> 3 & 1),
          per_tile((i.width & 3) + 1u),
          distinct((i.width >> 2 & 7) + 1u),
          stride_shift(i.width >> 5) {}
    enum Style { kLeft, kRight, kSums };
    unsigned style;
    bool swapped;        // memory goes along the fragment's major index
    bool side_by_side;   // tiles of sums: along the minor index, else the major
    unsigned per_tile;   // registers of a tile
    unsigned distinct;   // registers after which the fragment repeats
    unsigned stride_shift;  // elements of four bits or one: strides count those

    // Where element `n` of a lane's register `reg`, which holds `each`, stands in the matrix.
    std::uint64_t offset(unsigned lane, unsigned reg, unsigned n, unsigned each,
                         std::uint64_t stride) const {
        const unsigned group = lane / 4, quad = lane % 4;
        unsigned major, minor;
        reg %= distinct;
        if (style == kSums) {
            const unsigned at = reg * each + n, tile = at / 4;
            major = group + 8 * (at >> 1 & 1) + (side_by_side ? 0 : 16 * tile);
            minor = 2 * quad + (at & 1) + (side_by_side ? 8 * tile : 0);
        } else {
            const unsigned tile = reg / per_tile, r = reg % per_tile;
            const bool left = style == kLeft;
            major = group + (left ? 8 * (r & 1) + 16 * tile : 8 * tile);
            minor = (quad + 4 * (left ? r >> 1 : r)) * each + n;
        }
        stride >>= stride_shift;
        return swapped ? minor * stride + major : major * stride + minor;
    }
};

// Slots: address, stride. f(slot, place of the element in its register, host places).
template <class F>
void for_elements(Machine &m, const Inst &i, bool write, F f) {
    const AccessMode mode(i.target);
    const Fragment fragment(i);
    const unsigned size = mode.size, each = size == 8 ? 1 : 4 / size;
    const std::uint32_t *strides = m.source<std::uint32_t>(i.slots[1]);
    const std::uint32_t *slots = m.function->lists.data() + i.list;
    std::uint64_t base[kLanes], addresses[kLanes];
    std::uint8_t *places[kLanes];
    gather_addresses(m, i, mode, i.slots[0], base);
    for (unsigned r = 0; r < i.list_size; ++r) {
        if (slots[r] == kNoSlot) continue;
        for (unsigned n = 0; n < each; ++n) {
            for (unsigned l = 0; l < kLanes; ++l)
                addresses[l] = base[l] + size * fragment.offset(l, r, n, each, strides[l]);
            locate(m, mode.space, addresses, size, write, places);
            f(slots[r], n * size, size, places);
        }
    }
}

void load_fragment(Machine &m, const Inst &i) {
    if (!whole_warp(m, "wmma.load")) return;
    for_elements(m, i, false, [&](std::uint32_t slot, unsigned at, unsigned size, std::uint8_t **places) {
        auto *bytes = m.destination<std::uint8_t>(slot);
        const unsigned width = size == 8 ? 8 : 4;
        for (unsigned l = 0; l < kLanes; ++l) std::memcpy(bytes + width * l + at, places[l], size);
    });
}

void store_fragment(Machine &m, const Inst &i) {
    if (!whole_warp(m, "wmma.store")) return;
    for_elements(m, i, true, [&](std::uint32_t slot, unsigned at, unsigned size, std::uint8_t **places) {
        const auto *bytes = m.source<std::uint8_t>(slot);
        const unsigned width = size == 8 ? 8 : 4;
        for (unsigned l = 0; l < kLanes; ++l) std::memcpy(places[l], bytes + width * l + at, size);
    });
}

}  // namespace

void add_matrix_move_operations(OperationList &list) {
    list.push_back({"ldmatrix", load_matrices});
    list.push_back({"stmatrix", store_matrices});
    list.push_back({"movmatrix", transpose});
    list.push_back({"wmma.load", load_fragment});
    list.push_back({"wmma.store", store_fragment});
}

}  // namespace ptxkit::sim
