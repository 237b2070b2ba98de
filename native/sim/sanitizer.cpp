#include "sanitizer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "access.hpp"
#include "engine.hpp"

namespace ptxkit::sim {

namespace {

std::string plural(std::uint64_t count, const char *thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string show(const Dim3 &place) {
    return "(" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " +
           std::to_string(place.z) + ")";
}

}  // namespace

Sanitizer::Sanitizer(Observation &observation, const Block &block)
    : observation_(observation),
      block_{block.id[0], block.id[1], block.id[2]},
      shared_defined_(block.shared.size()),
      local_stride_(block.local_stride),
      races_(block.threads, block.shared.size()) {
    local_defined_.resize(local_stride_ * block.threads);
}

Finding Sanitizer::finding(const Machine &m, unsigned lane, const char *kind,
                           std::string message) const {
    Finding found;
    found.kind = kind;
    found.message = std::move(message);
    found.where = Observation::where(m, *inst_);
    found.thread = thread_place(m.engine.options.block, m.warp->index * kLanes + lane);
    found.block = block_;
    return found;
}

void Sanitizer::before(Machine &m, const Inst &inst, std::uint32_t lanes) {
    inst_ = &inst;
    facts_ = &observation_.facts_of(m, inst);
    shape_ = m.engine.options.block;
    ++step_;
    if (lanes != 0 && facts_->members != kNoSlot) check_members(m, lanes);
}

void Sanitizer::after(Machine &m, const Inst &, std::uint32_t lanes) {
    if (lanes == 0) return;
    // A part that still waits for its other lanes has not met them yet.
    if (facts_->is(Facts::kWarpBarrier) && !m.switched) races_.clocks.meet(m.warp->index, lanes);
    if (facts_->is(Facts::kFence)) races_.clocks.fence(m.warp->index, lanes);
}

// ---- memory -------------------------------------------------------------------------------

void Sanitizer::access(Machine &m, Space space, std::uint32_t lanes,
                      const std::uint64_t *addresses, std::uint64_t bytes, bool write) {
    addresses_ = addresses;
    const Where here = Observation::where(m, *inst_);
    const auto [found, added] =
        place_numbers_.try_emplace(here, static_cast<std::uint32_t>(places_.size()));
    if (added) places_.push_back(here);
    place_ = found->second;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        Space own = space;
        std::uint64_t offset = addresses[lane];
        if (space == Space::Generic) {
            const std::uint64_t window = offset & kWindowMask;
            own = window == kSharedWindow  ? Space::SharedCluster
                  : window == kLocalWindow ? Space::Local
                                           : Space::Global;
            if (own != Space::Global) offset -= window;
        }
        if (own == Space::SharedCluster) {
            const SharedPlace place = find_shared(m, offset, lane);
            offset = place.offset;
            if (place.block != &m.block) {  // what is ordered between blocks is not known here
                if (write && place.block->observers) place.block->observers->written(offset, bytes);
                continue;
            }
            own = Space::Shared;
        }
        if (own == Space::Shared) access_shared(m, {lane, offset, bytes, write});
        if (own == Space::Local) access_local(m, {lane, offset, bytes, write});
        if (facts_->is(Facts::kAtomic | Facts::kStrong))
            races_.clocks.touch(m.warp->index * kLanes + lane,
                                own == Space::Shared ? kSharedWindow + offset : offset,
                                facts_->is(Facts::kAcquire), facts_->is(Facts::kRelease));
    }
}

void Sanitizer::written(std::uint64_t offset, std::uint64_t bytes) {
    if (offset + bytes <= shared_defined_.size())
        std::memset(shared_defined_.data() + offset, 1, bytes);
}

void Sanitizer::access_shared(Machine &m, const Target &target) {
    if (target.offset + target.bytes > shared_defined_.size() || in_red_zone(m, target)) return;
    std::uint8_t *defined = shared_defined_.data() + target.offset;
    if (!target.write || facts_->is(Facts::kAtomic)) check_defined(m, target, defined, "shared");
    if (target.write) std::memset(defined, 1, target.bytes);
    if (!facts_->is(Facts::kUnordered)) check_race(m, target);
}

std::uint8_t *Sanitizer::local_defined(const Machine &m, unsigned lane) {
    return local_defined_.data() + (m.warp->index * kLanes + lane) * local_stride_;
}

void Sanitizer::access_local(Machine &m, const Target &target) {
    if (target.offset + target.bytes > local_stride_) return;
    std::uint8_t *defined = local_defined(m, target.lane) + target.offset;
    if (!target.write || facts_->is(Facts::kAtomic)) check_defined(m, target, defined, "local");
    if (target.write) std::memset(defined, 1, target.bytes);
}

bool Sanitizer::in_red_zone(Machine &m, const Target &target) {
    for (const RedZone &zone : observation_.red_zones) {
        if (target.offset >= zone.end || target.offset + target.bytes <= zone.begin) continue;
        Finding found = finding(m, target.lane, "out-of-bounds",
                                std::string(target.write ? "a write" : "a read") + " of " +
                                    plural(target.bytes, "byte") + " between shared variables");
        found.space = "shared";
        found.address = target.offset;
        found.bytes = target.bytes;
        observation_.report(std::move(found));
        return true;
    }
    return false;
}

void Sanitizer::check_defined(Machine &m, const Target &target, const std::uint8_t *defined,
                              const char *space) {
    if (facts_->is(Facts::kMayBeUndefined)) return;
    const std::uint64_t element = facts_->element && target.bytes % facts_->element == 0
                                      ? facts_->element
                                      : target.bytes;
    for (std::uint64_t at = 0; at < target.bytes; at += element) {
        const auto missing = static_cast<std::uint64_t>(
            std::count(defined + at, defined + at + element, std::uint8_t{0}));
        // Copies of structs move their padding too, in pieces wider than what lies beside it.
        if (missing == 0 || (missing < element && element > 4)) continue;
        Finding found = finding(m, target.lane, "uninitialized",
                                std::string("a read of ") + space + " memory that was not written");
        found.space = space;
        found.address = target.offset + at;
        found.bytes = element;
        observation_.report(std::move(found));
        return;
    }
}

// Whether the store leaves the byte as the earlier write has left it.
bool Sanitizer::writes_same(const Machine &m, const Target &target, const Access &earlier,
                            std::uint64_t address) const {
    if (!facts_->is(Facts::kPlainStore)) return false;
    const Inst &inst = *inst_;
    const unsigned size = std::max(1u, facts_->element);
    const auto value_of = [&](unsigned lane, std::uint64_t offset) {
        const std::uint32_t slot = m.function->lists[inst.list + offset / size];
        return m.source<std::uint8_t>(slot)[std::size_t{inst.width} * lane + offset % size];
    };
    if (address < target.offset) return false;
    const std::uint64_t offset = address - target.offset;
    if (offset / size >= inst.list_size) return false;
    const std::uint8_t now = value_of(target.lane, offset);
    if (earlier.step != step_) return m.block.shared[address] == now;
    const unsigned lane = earlier.thread % kLanes;
    const std::uint64_t begin = addresses_[lane] & ~kWindowMask;
    return address >= begin && (address - begin) / size < inst.list_size &&
           value_of(lane, address - begin) == now;
}

void Sanitizer::check_race(Machine &m, const Target &target) {
    Access now;
    now.thread = m.warp->index * kLanes + target.lane;
    now.place = place_;
    now.step = step_;
    now.write = target.write;
    now.strong = facts_->is(Facts::kAtomic | Facts::kStrong);
    races_.access(now, target.offset, target.bytes, [&](const Access &earlier, std::uint64_t at) {
        if (earlier.write && now.write && writes_same(m, target, earlier, at)) return;
        const bool same_warp = earlier.thread / kLanes == m.warp->index;
        Finding found = finding(
            m, target.lane, "race",
            std::string("this ") + (now.write ? "write" : "read") + " of shared memory and " +
                (earlier.write ? "a write" : "a read") + " by another thread" +
                (same_warp ? " of the warp" : "") + " have no order");
        if (same_warp) found.severity = "warning";
        found.space = "shared";
        found.address = at;
        found.bytes = target.bytes;
        found.has_other = true;
        found.other = places_[earlier.place];
        found.other_thread = thread_place(m.engine.options.block, earlier.thread);
        observation_.report(std::move(found));
    });
}

// ---- calls --------------------------------------------------------------------------------

void Sanitizer::enter(Machine &m, std::uint32_t frame) {
    const Frame &called = m.warp->frames[frame];
    const Frame &above = m.warp->frames[called.parent];
    const Function &function = m.engine.program.functions[called.function];
    const std::uint32_t *places = called.call_places + function.results.size();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(m.mask >> lane & 1)) continue;
        std::uint8_t *defined = local_defined(m, lane);
        std::memset(defined + called.local_base, 0, function.local_bytes);
        for (std::size_t n = 0; n < function.parameters.size(); ++n) {
            const Place &place = function.parameters[n];
            std::memcpy(defined + called.local_base + place.offset,
                        defined + above.local_base + places[n], place.size);
        }
    }
}

void Sanitizer::leave(Machine &m, std::uint32_t frame) {
    const Frame &called = m.warp->frames[frame];
    const Frame &above = m.warp->frames[called.parent];
    const Function &function = m.engine.program.functions[called.function];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(m.mask >> lane & 1)) continue;
        std::uint8_t *defined = local_defined(m, lane);
        for (std::size_t n = 0; n < function.results.size(); ++n) {
            const Place &place = function.results[n];
            std::memcpy(defined + above.local_base + called.call_places[n],
                        defined + called.local_base + place.offset, place.size);
        }
    }
}

// ---- barriers and warp operations -----------------------------------------------------------

void Sanitizer::arrive(Machine &m, unsigned number) {
    arrivals_[number].push_back({m.warp->index, m.mask, Observation::where(m, *inst_),
                                 facts_->is(Facts::kAlignedBarrier)});
    races_.clocks.publish(m.warp->index, m.mask, barrier_clocks_[number]);
}

void Sanitizer::release(Block &block, unsigned number) {
    const std::vector<Arrival> arrivals = std::move(arrivals_[number]);
    const ClockRef met = std::move(barrier_clocks_[number]);
    arrivals_[number].clear();
    barrier_clocks_[number] = nullptr;
    check_arrivals(block, arrivals, block.barriers[number].expected);
    std::uint32_t waiting = 0;
    const auto waits = [number](const Part &part) {
        return part.state == Part::State::AtBarrier && (part.wait_mask & 15u) == number;
    };
    for (const Warp &warp : block.warps)
        for (const Part &part : warp.parts)
            if (waits(part)) waiting += static_cast<std::uint32_t>(std::popcount(part.mask));
    // What threads did after they arrived, and before they exited, stays without order.
    if (waiting == block.threads || (block.barriers[number].expected == 0 && waiting == block.live)) {
        races_.clocks.meet_all();
        return;
    }
    for (const Warp &warp : block.warps)
        for (const Part &part : warp.parts)
            if (waits(part)) races_.clocks.learn(warp.index, part.mask, met);
}

void Sanitizer::meet(const Warp &warp, std::uint32_t lanes) { races_.clocks.meet(warp.index, lanes); }

void Sanitizer::synchronize(Block &) { races_.clocks.meet_all(); }

void Sanitizer::check_arrivals(const Block &block, const std::vector<Arrival> &arrivals,
                               std::uint32_t expected) {
    if (arrivals.empty()) return;
    const auto report = [&](const Arrival &one, std::string message, const Arrival *other) {
        Finding found;
        found.kind = "divergent-barrier";
        found.message = std::move(message);
        found.where = one.where;
        const auto first = static_cast<std::uint32_t>(std::countr_zero(one.lanes));
        found.thread = thread_place(shape_, one.warp * kLanes + first);
        found.block = block_;
        if (other != nullptr) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(other->lanes));
            found.has_other = true;
            found.other = other->where;
            found.other_thread = thread_place(shape_, other->warp * kLanes + lane);
        }
        observation_.report(std::move(found));
    };
    for (std::size_t n = 0; n < arrivals.size(); ++n) {
        const Arrival &one = arrivals[n];
        if (!one.aligned) continue;
        std::uint32_t arrived = 0;
        bool reported = false;
        for (std::size_t k = 0; k < arrivals.size(); ++k) {
            if (arrivals[k].warp != one.warp) continue;
            arrived |= arrivals[k].lanes;
            if (k < n && arrivals[k].where != one.where && !reported) {
                report(one, "lanes of a warp came to one barrier at different instructions",
                       &arrivals[k]);
                reported = true;
            }
        }
        const Warp &warp = block.warps[one.warp];
        const std::uint32_t elsewhere = warp.existing & ~warp.exited & ~arrived;
        if (elsewhere != 0 && !reported)
            report(one, plural(static_cast<std::uint32_t>(std::popcount(elsewhere)), "thread") +
                            " of the warp did not come to this barrier", nullptr);
    }
    if (expected == 0 && block.live < block.threads) {
        Dim3 first{0, 0, 0};
        for (std::size_t w = block.warps.size(); w-- > 0;)
            if (const std::uint32_t gone = block.warps[w].exited; gone != 0)
                first = thread_place(shape_, static_cast<std::uint32_t>(w) * kLanes +
                                                 static_cast<std::uint32_t>(std::countr_zero(gone)));
        report(arrivals.front(),
               plural(block.threads - block.live, "thread") +
                   " of the block exited without coming to this barrier, thread " + show(first) +
                   " among them", nullptr);
    }
}

void Sanitizer::check_members(Machine &m, std::uint32_t lanes) {
    const std::uint32_t *members = m.source<std::uint32_t>(facts_->members);
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const char *problem = !(members[lane] >> lane & 1)
                                  ? "the thread is not in its own mask of participants"
                              : members[lane] != members[first]
                                  ? "threads of the warp give different masks of participants"
                                  : nullptr;
        if (problem == nullptr) continue;
        observation_.report(finding(m, lane, "invalid-mask", problem));
        return;
    }
}

void Sanitizer::shuffle(Machine &m, const std::uint8_t *from) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(m.mask >> lane & 1) || (m.mask >> from[lane] & 1)) continue;
        Finding found = finding(m, lane, "inactive-lane",
                                "the shuffle takes a value from lane " +
                                    std::to_string(from[lane]) + ", which does not take part");
        found.severity = "warning";
        observation_.report(std::move(found));
        return;
    }
}

}  // namespace ptxkit::sim
