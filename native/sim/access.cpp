#include "access.hpp"

#include <algorithm>
#include <bit>

namespace ptxkit::sim {

namespace {

std::string hex(std::uint64_t value) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    do text.insert(text.begin(), kDigits[value & 15]);
    while (value >>= 4);
    return "0x" + text;
}

std::uint8_t *locate_window(Machine &m, Space space, std::uint64_t offset, std::uint64_t bytes,
                            unsigned lane) {
    if (space == Space::Shared || space == Space::SharedCluster) {
        const SharedPlace place = space == Space::Shared ? SharedPlace{&m.block, offset}
                                                         : find_shared(m, offset, lane);
        auto &shared = place.block->shared;
        if (place.offset > shared.size() || bytes > shared.size() - place.offset)
            m.fault("out-of-bounds",
                    "shared memory has " + std::to_string(shared.size()) +
                        " bytes; the access is at " + hex(place.offset),
                    lane, offset);
        return shared.data() + place.offset;
    }
    if (space == Space::Local) {
        const std::uint32_t stride = m.block.local_stride;
        if (offset > stride || bytes > stride - offset)
            m.fault("out-of-bounds",
                    "local memory has " + std::to_string(stride) +
                        " bytes a thread; the access is at " + hex(offset),
                    lane, offset);
        return m.block.local_of(m.warp->index * kLanes + lane) + offset;
    }
    auto &parameters = m.engine.parameters;
    if (offset > parameters.size() || bytes > parameters.size() - offset)
        m.fault("out-of-bounds",
                "the kernel's parameters have " + std::to_string(parameters.size()) +
                    " bytes; the access is at " + hex(offset),
                lane, offset);
    return parameters.data() + offset;
}

constexpr bool is_window(Space space) {
    return space != Space::Generic && space != Space::Global && space != Space::Const;
}

std::uint8_t *locate_one(Machine &m, Space space, std::uint64_t address, std::uint64_t bytes,
                         bool write, unsigned lane) {
    if (write && (space == Space::Param || space == Space::Const))
        m.fault("read-only", "a write to memory that kernels can only read", lane, address);
    if (is_window(space)) return locate_window(m, space, address, bytes, lane);
    if (space == Space::Generic) {
        switch (address & kWindowMask) {
            case kSharedWindow:
                return locate_window(m, Space::SharedCluster, address - kSharedWindow, bytes, lane);
            case kLocalWindow: return locate_window(m, Space::Local, address - kLocalWindow, bytes, lane);
            case kParamWindow: return locate_window(m, Space::Param, address - kParamWindow, bytes, lane);
            default: break;
        }
    }
    const auto what = [&] {
        return std::string(write ? "a write of " : "a read of ") + std::to_string(bytes) +
               " bytes at " + hex(address) + ", ";
    };
    if (m.engine.heap.holds(address)) {
        const std::string wrong = m.engine.heap.check(address, bytes);
        if (!wrong.empty())
            m.fault(wrong.ends_with("freed") ? "use-after-free" : "out-of-bounds", what() + wrong, lane,
                    address);
        return reinterpret_cast<std::uint8_t *>(address);
    }
    const Buffer *found = m.engine.buffers.find(address);
    if (found == nullptr || bytes > found->end - address)
        m.fault("out-of-bounds", what() + m.engine.buffers.describe(address), lane, address);
    if (write && !found->writable)
        m.fault("read-only", "a write to " + found->name + ", which is read-only", lane, address);
    return reinterpret_cast<std::uint8_t *>(address);
}

}  // namespace

namespace {

// Lanes that are not active take the first active lane's value, so that loops need no mask.
template <class T>
void fill_inactive(std::uint32_t mask, T *values) {
    if (mask == kFullMask) return;
    const T first = values[std::countr_zero(mask)];
    for (unsigned l = 0; l < kLanes; ++l) values[l] = mask >> l & 1 ? values[l] : first;
}

}  // namespace

void gather_addresses(Machine &m, const Inst &i, const AccessMode &mode, std::uint32_t slot,
                      std::uint64_t *out) {
    std::uint64_t offset = static_cast<std::uint64_t>(i.immediate);
    if (mode.frame_relative) offset += m.warp->frames[m.part->frame].local_base;
    if (mode.address_bytes == 8) {
        const std::uint64_t *base = m.source<std::uint64_t>(slot);
        for (unsigned l = 0; l < kLanes; ++l) out[l] = base[l] + offset;
    } else if (mode.address_bytes == 4) {
        // 32-bit arithmetic: shared addresses wrap as on the device.
        const std::uint32_t *base = m.source<std::uint32_t>(slot);
        for (unsigned l = 0; l < kLanes; ++l)
            out[l] = static_cast<std::uint32_t>(base[l] + static_cast<std::uint32_t>(offset));
    } else {
        for (unsigned l = 0; l < kLanes; ++l) out[l] = offset;
    }
    fill_inactive(m.mask, out);
}

namespace {

void locate_lanes(Machine &m, Space space, const std::uint64_t *addresses, unsigned bytes,
                  bool write, std::uint8_t **out) {
    std::uint64_t low = UINT64_MAX, high = 0, any = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
        low = std::min(low, addresses[l]);
        high = std::max(high, addresses[l]);
        any |= addresses[l];
    }
    if (any & (bytes - 1)) {
        for (unsigned l = 0; l < kLanes; ++l)
            if ((m.mask >> l & 1) && (addresses[l] & (bytes - 1)))
                m.fault("misaligned",
                        "an access of " + std::to_string(bytes) + " bytes at " + hex(addresses[l]) +
                            ", which is not a multiple of " + std::to_string(bytes),
                        l, addresses[l]);
    }
    // All lanes in one host buffer: the usual case, with one check for the warp.
    if ((space == Space::Global || space == Space::Generic || space == Space::Const) &&
        (high & kWindowMask) == 0) {
        const Buffer *found = m.engine.buffers.find(low);
        if (found != nullptr && high + bytes <= found->end && (found->writable || !write)) {
            for (unsigned l = 0; l < kLanes; ++l)
                out[l] = reinterpret_cast<std::uint8_t *>(addresses[l]);
            return;
        }
    }
    const std::uint64_t shared = m.block.shared.size();
    if (space == Space::Shared && high <= shared && bytes <= shared - high) {
        for (unsigned l = 0; l < kLanes; ++l) out[l] = m.block.shared.data() + addresses[l];
        return;
    }
    const bool own_place =  // every thread has its own local memory
        space == Space::Local || (space == Space::Generic && (low & kWindowMask) == kLocalWindow);
    if (low == high && !own_place) {  // one place for all, as for parameters
        const auto lane = static_cast<unsigned>(std::countr_zero(m.mask));
        std::fill(out, out + kLanes, locate_one(m, space, low, bytes, write, lane));
        return;
    }
    for (unsigned l = 0; l < kLanes; ++l)
        if (m.mask >> l & 1) out[l] = locate_one(m, space, addresses[l], bytes, write, l);
    fill_inactive(m.mask, out);
}

}  // namespace

void locate(Machine &m, Space space, const std::uint64_t *addresses, unsigned bytes, bool write,
            std::uint8_t **out) {
    locate_lanes(m, space, addresses, bytes, write, out);
    if (m.block.observers) m.block.observers->access(m, space, m.mask, addresses, bytes, write);
}

std::uint8_t *locate_range(Machine &m, Space space, std::uint64_t address, std::uint64_t bytes,
                           std::uint64_t alignment, bool write, unsigned lane) {
    if (address % alignment != 0)
        m.fault("misaligned",
                "the address " + hex(address) + " must be a multiple of " + std::to_string(alignment),
                lane, address);
    std::uint8_t *place = locate_one(m, space, address, bytes, write, lane);
    if (m.block.observers) {
        std::uint64_t addresses[kLanes] = {};
        addresses[lane] = address;
        m.block.observers->access(m, space, 1u << lane, addresses, bytes, write);
    }
    return place;
}

SharedPlace find_shared(Machine &m, std::uint64_t address, unsigned lane) {
    const std::uint64_t rank = address >> kRankShift;
    if (rank == 0) return {&m.block, address};
    auto &blocks = m.block.cluster->blocks;
    if (rank > blocks.size())
        m.fault("out-of-bounds",
                hex(address) + " is no address in the shared memory of this cluster of " +
                    std::to_string(blocks.size()) + " blocks",
                lane, address);
    Block *block = blocks[rank - 1].get();
    if (block->live == 0)
        m.fault("exited-block",
                "the block of rank " + std::to_string(rank - 1) +
                    " has ended; let it wait at barrier.cluster until others are done with its "
                    "shared memory",
                lane, address);
    return {block, address & ((std::uint64_t{1} << kRankShift) - 1)};
}

}  // namespace ptxkit::sim
