#include "profiler.hpp"

#include <algorithm>
#include <bit>

#include "engine.hpp"

namespace ptxkit::sim {

namespace {

constexpr unsigned kSector = 32;
constexpr unsigned kBanks = 32;
constexpr unsigned kBankBytes = 4;

// The number of different values; sorts them.
template <class T>
unsigned distinct(T *begin, T *end) {
    std::sort(begin, end);
    return static_cast<unsigned>(std::unique(begin, end) - begin);
}

// The addresses as if every buffer began where a GPU's allocator puts one: numpy's arrays
// begin anywhere, and sectors would differ from run to run.
void place_on_gpu(const Machine &m, std::uint32_t lanes, const std::uint64_t *addresses, std::uint64_t *out) {
    constexpr std::uint64_t kAllocation = 256;
    const Buffer *buffer = nullptr;
    for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint64_t address = addresses[l];
        out[l] = address;
        if (!(lanes >> l & 1)) continue;
        if (buffer == nullptr || address < buffer->begin || address >= buffer->end)
            buffer = m.engine.buffers.find(address);
        if (buffer != nullptr) out[l] += (0 - buffer->begin) % kAllocation;
    }
}

}  // namespace

Sectors count_sectors(std::uint32_t lanes, const std::uint64_t *addresses, unsigned bytes) {
    if (lanes == 0 || bytes == 0) return {};
    std::uint64_t starts[kLanes];
    unsigned count = 0;
    for (unsigned l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) starts[count++] = addresses[l];
    count = distinct(starts, starts + count);
    // Sorted by address: count the bytes and the sectors that were not counted before.
    std::uint64_t total = 0, end = 0, next_sector = 0;
    unsigned sectors = 0;
    for (unsigned n = 0; n < count; ++n) {
        const std::uint64_t begin = n == 0 ? starts[n] : std::max(starts[n], end);
        const std::uint64_t stop = starts[n] + bytes;
        if (stop <= begin && n != 0) continue;
        total += stop - begin;
        end = stop;
        const std::uint64_t first = n == 0 ? starts[n] / kSector
                                           : std::max(starts[n] / kSector, next_sector);
        const std::uint64_t last = (stop - 1) / kSector;
        if (last >= first) sectors += static_cast<unsigned>(last - first + 1);
        next_sector = std::max(next_sector, last + 1);
    }
    return {sectors, static_cast<unsigned>((total + kSector - 1) / kSector)};
}

Wavefronts count_wavefronts(std::uint32_t lanes, const std::uint64_t *addresses, unsigned bytes) {
    // 8 bytes a lane go by half warps and 16 by quarters: 128 bytes at a time.
    const unsigned words = std::max(1u, bytes / kBankBytes);
    const unsigned group = std::max(1u, kLanes / words);
    Wavefronts found;
    for (unsigned begin = 0; begin < kLanes; begin += group) {
        std::uint64_t touched[kLanes * 8];
        unsigned count = 0;
        for (unsigned l = begin; l < begin + group; ++l) {
            if (!(lanes >> l & 1)) continue;
            for (unsigned w = 0; w < words && count < std::size(touched); ++w)
                touched[count++] = addresses[l] / kBankBytes + w;
        }
        if (count == 0) continue;
        count = distinct(touched, touched + count);
        unsigned ways[kBanks] = {};
        for (unsigned n = 0; n < count; ++n) ways[touched[n] % kBanks] += 1;
        found.needed += *std::max_element(std::begin(ways), std::end(ways));
        found.ideal += 1;
    }
    return found;
}

Profiler::Profiler(Observation &observation, const Program &program) : observation_(observation) {
    for (const Function &function : program.functions) counts_.emplace_back(function.code.size());
}

Profiler::~Profiler() { observation_.add(counts_); }

void Profiler::before(Machine &m, const Inst &inst, std::uint32_t) {
    const Where place = Observation::where(m, inst);
    current_ = &counts_[place.function][place.instruction];
    part_lanes_ = m.part->mask;
}

void Profiler::after(Machine &m, const Inst &inst, std::uint32_t lanes) {
    ProfileCounts &sum = *current_;
    const Facts &facts = observation_.facts_of(m, inst);
    // Lanes that must wait for others come back to the same instruction: count them then.
    if (facts.members != kNoSlot && m.switched) return;
    sum.warps += 1;
    sum.lanes += static_cast<std::uint64_t>(std::popcount(lanes));
    if (facts.is(Facts::kBranch) && lanes != 0)
        sum.divergent += lanes != part_lanes_ || m.mask != lanes;
}

void Profiler::access(Machine &m, Space space, std::uint32_t lanes,
                      const std::uint64_t *addresses, std::uint64_t bytes, bool) {
    constexpr std::uint64_t kWidest = 32;
    if (lanes == 0 || bytes > kWidest) return;  // copies of whole arrays are not requests of lanes
    ProfileCounts &sum = *current_;
    const auto size = static_cast<unsigned>(bytes);
    const std::uint64_t window = addresses[std::countr_zero(lanes)] & kWindowMask;
    const bool generic = space == Space::Generic;
    if (space == Space::Shared || space == Space::SharedCluster ||
        (generic && window == kSharedWindow)) {
        const Wavefronts found = count_wavefronts(lanes, addresses, size);
        sum.shared_requests += 1;
        sum.wavefronts += found.needed;
        sum.ideal_wavefronts += found.ideal;
    } else if (space == Space::Global || (generic && window == 0)) {
        std::uint64_t placed[kLanes];
        place_on_gpu(m, lanes, addresses, placed);
        const Sectors found = count_sectors(lanes, placed, size);
        sum.requests += 1;
        sum.sectors += found.touched;
        sum.ideal_sectors += found.ideal;
    }
}

}  // namespace ptxkit::sim
