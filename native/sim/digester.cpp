#include "digester.hpp"

#include <cstring>

#include "access.hpp"
#include "engine.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::size_t kTuples = std::size_t{1} << 14;  // that are kept of a block
constexpr std::uint64_t kBarrier = 0x9E3779B97F4A7C15u;
constexpr std::uint64_t kShared = 0xD1B54A32D192ED03u;

// Every bit of the result depends on every bit of both.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0xBF58476D1CE4E5B9u + b;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace

Digester::Digester(Observation &observation, const Block &block)
    : observation_(observation), history_(block.threads), digests_(observation.points.size()) {
    for (const std::uint32_t id : block.id) block_ = mix(block_, id);
    for (std::size_t n = 0; n < digests_.size(); ++n)
        digests_[n].values.resize(observation.points[n].places.size());
    visits_.resize(digests_.size());
}

Digester::~Digester() { observation_.add(digests_); }

void Digester::before(Machine &m, const Inst &inst, std::uint32_t lanes) {
    look(m, inst, lanes, false);
}

void Digester::after(Machine &m, const Inst &inst, std::uint32_t lanes) {
    if (!m.switched) look(m, inst, lanes, true);
}

void Digester::look(const Machine &m, const Inst &inst, std::uint32_t lanes, bool after) {
    const auto [begin, end] = observation_.points_at.equal_range(Observation::where(m, inst));
    for (auto one = begin; one != end; ++one) {
        const Point &point = observation_.points[one->second];
        if (point.after == after)
            look(m, point, point.running ? lanes : m.part->mask, one->second);
    }
}

void Digester::look(const Machine &m, const Point &point, std::uint32_t lanes, std::size_t number) {
    const std::vector<RegisterPlace> &places = point.places;
    Digest &digest = digests_[number];
    std::vector<std::uint32_t> &visits = visits_[number];
    if (visits.empty()) visits.resize(history_.size());
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const std::uint32_t thread = m.warp->index * kLanes + lane;
        const std::uint64_t who = mix(block_, thread);
        digest.visits += mix(who, history_[thread]);
        // The same numbers in another order are others: a[i] is not a[n - 1 - i].
        const std::uint64_t when = mix(who, visits[thread]++);
        std::uint64_t together = who;
        for (std::size_t n = 0; n < places.size(); ++n) {
            const RegisterPlace &place = places[n];
            std::uint64_t parts[2] = {0, 0};
            std::memcpy(parts, m.registers + place.slot + std::size_t{lane} * place.bytes,
                        std::min<std::size_t>(place.bytes, sizeof(parts)));
            const std::uint64_t value = mix(parts[0], parts[1]);
            digest.values[n].sum += mix(when, value);
            digest.values[n].spread |= std::uint64_t{1} << (value & 63);
            together = mix(together, value);
        }
        if (!point.tuples) continue;
        if (digest.tuples.size() < kTuples) digest.tuples.insert(together);
        else digest.full = digest.full || !digest.tuples.contains(together);
    }
}

void Digester::access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                      std::uint64_t bytes, bool write) {
    if (!write || space == Space::Local || space == Space::Param) return;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        std::uint64_t &history = history_[m.warp->index * kLanes + lane];
        const std::uint64_t address = addresses[lane];
        const std::uint64_t window = space == Space::Generic ? address & kWindowMask : 0;
        if (window == kLocalWindow || window == kParamWindow) continue;
        // Variables in shared memory may lie elsewhere in another program.
        if (space != Space::Global && (space != Space::Generic || window == kSharedWindow))
            history += kShared * bytes;
        else
            for (std::uint64_t byte = 0; byte < bytes; ++byte) history += mix(address + byte, 1);
    }
}

void Digester::arrive(Machine &m, unsigned) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (m.mask >> lane & 1) history_[m.warp->index * kLanes + lane] += kBarrier;
}

}  // namespace ptxkit::sim
