#include "tracer.hpp"

#include <cstring>

#include "engine.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::size_t kValueBytes = 16;

const char *space_name(Space space, std::uint64_t address) {
    switch (space) {
        case Space::Global: return "global";
        case Space::Shared:
        case Space::SharedCluster: return "shared";
        case Space::Local: return "local";
        case Space::Param: return "param";
        case Space::Const: return "const";
        default: break;
    }
    switch (address & kWindowMask) {
        case kSharedWindow: return "shared";
        case kLocalWindow: return "local";
        case kParamWindow: return "param";
        default: return "global";
    }
}

}  // namespace

Tracer::Tracer(Observation &observation, const Dim3 &shape) : observation_(observation) {
    const Dim3 &thread = observation.trace_request.thread;
    const std::uint32_t linear = (thread.z * shape.y + thread.y) * shape.x + thread.x;
    warp_ = linear / kLanes;
    lane_ = linear % kLanes;
}

Tracer::~Tracer() {
    finish();
    observation_.set_trace(std::move(events_), left_out_);
}

bool Tracer::among(const Machine &m, std::uint32_t lanes) const {
    return m.warp->index == warp_ && (lanes >> lane_ & 1) != 0;
}

// Whether the thread was told to wait for others and then do this instruction again.
bool Tracer::comes_back(const Machine &m, const Inst &inst) const {
    if (!m.switched || observation_.facts_of(m, inst).is(Facts::kBranch)) return false;
    const auto here = static_cast<std::uint32_t>(&inst - m.function->code.data());
    for (const Part &part : m.warp->parts)
        if (part.mask >> lane_ & 1) return part.pc == here && part.state != Part::State::AtBarrier;
    return false;
}

void Tracer::capture(const std::uint8_t *registers, const std::vector<RegisterPlace> &places,
                     std::vector<std::uint8_t> &out) const {
    out.assign(places.size() * kValueBytes, 0);
    for (std::size_t n = 0; n < places.size(); ++n) {
        const RegisterPlace &place = places[n];
        std::uint8_t *value = out.data() + n * kValueBytes;
        if (place.bytes == 0) {
            std::uint32_t bits;
            std::memcpy(&bits, registers + place.slot, sizeof(bits));
            value[0] = static_cast<std::uint8_t>(bits >> lane_ & 1);
        } else {
            std::memcpy(value, registers + place.slot + std::size_t{lane_} * place.bytes,
                        std::min<std::size_t>(place.bytes, kValueBytes));
        }
    }
}

void Tracer::finish() {
    if (!open_) return;
    open_ = false;
    late_ = nullptr;
    const TraceRequest &request = observation_.trace_request;
    if (events_.size() >= request.limit) {
        left_out_ += 1;
        if (!request.keep_last || events_.empty()) return;
        events_.pop_front();
    }
    events_.push_back(std::move(event_));
    event_ = {};
}

void Tracer::before(Machine &m, const Inst &inst, std::uint32_t lanes) {
    if (!among(m, m.part->mask)) return;
    const Facts &facts = observation_.facts_of(m, inst);
    if (!facts.is(Facts::kFirst)) return;
    if (late_ != nullptr && late_registers_ == m.registers)
        capture(late_registers_, late_->writes, event_.writes);
    finish();
    event_ = {};
    event_.where = Observation::where(m, inst);
    event_.active = among(m, lanes);
    capture(m.registers, facts.reads, event_.reads);
    open_ = true;
}

void Tracer::after(Machine &m, const Inst &inst, std::uint32_t lanes) {
    if (!open_ || late_ != nullptr || m.warp->index != warp_) return;
    const Facts &facts = observation_.facts_of(m, inst);
    if (!among(m, lanes)) {
        const bool own = !event_.active && Observation::where(m, inst) == event_.where;
        if (own && facts.is(Facts::kLast)) finish();
        return;
    }
    if (comes_back(m, inst)) {
        open_ = false;
        return;
    }
    if (!facts.is(Facts::kLast)) return;
    if (m.switched && !facts.writes.empty()) {
        late_ = &facts;
        late_registers_ = m.registers;
        return;
    }
    capture(m.registers, facts.writes, event_.writes);
    finish();
}

void Tracer::access(Machine &m, Space space, std::uint32_t lanes,
                      const std::uint64_t *addresses, std::uint64_t bytes, bool write) {
    if (!open_ || !among(m, lanes)) return;
    const std::uint64_t address = addresses[lane_];
    const std::uint64_t offset = space == Space::Generic ? address & ~kWindowMask : address;
    event_.accesses.push_back({space_name(space, address), offset, bytes, write});
}

}  // namespace ptxkit::sim
