#include "clocks.hpp"

#include <algorithm>

namespace ptxkit::sim {

namespace {

constexpr auto kBefore = [](const auto &entry, std::uint32_t warp) { return entry.first < warp; };

template <class F>
void each_thread(std::uint32_t warp, std::uint32_t lanes, F f) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (lanes >> lane & 1) f(warp * kLanes + lane);
}

}  // namespace

std::uint32_t Clock::of(std::uint32_t thread) const {
    const std::uint32_t warp = thread / kLanes;
    const auto found = std::lower_bound(warps_.begin(), warps_.end(), warp, kBefore);
    return found == warps_.end() || found->first != warp ? 0 : found->second[thread % kLanes];
}

Clock::Lanes &Clock::lanes(std::uint32_t warp) {
    auto found = std::lower_bound(warps_.begin(), warps_.end(), warp, kBefore);
    if (found == warps_.end() || found->first != warp)
        found = warps_.insert(found, {warp, Lanes{}});
    return found->second;
}

void Clock::raise(const Clock &other) {
    for (const auto &[warp, theirs] : other.warps_) {
        Lanes &ours = lanes(warp);
        for (unsigned l = 0; l < kLanes; ++l) ours[l] = std::max(ours[l], theirs[l]);
    }
}

void Clocks::join(ClockRef &into, const ClockRef &from) {
    if (from == nullptr || from == into) return;
    if (into == nullptr) {
        into = from;
        return;
    }
    auto both = std::make_shared<Clock>(*into);
    both->raise(*from);
    into = std::move(both);
}

bool Clocks::ordered(std::uint32_t first, std::uint32_t then, std::uint32_t second) const {
    if (first == second) return true;
    const ClockRef &known = threads_[second].known;
    return known != nullptr && known->of(first) >= then;
}

void Clocks::meet_all() {
    ++generation_;
    places_.clear();
    for (Thread &one : threads_) {
        one.now += 1;
        one.known = one.fenced = one.seen = nullptr;
    }
}

void Clocks::publish(std::uint32_t warp, std::uint32_t lanes, ClockRef &into) {
    auto all = into ? std::make_shared<Clock>(*into) : std::make_shared<Clock>();
    const Clock *last = nullptr;
    each_thread(warp, lanes, [&](std::uint32_t thread) {
        const Clock *known = threads_[thread].known.get();
        if (known != nullptr && known != last) all->raise(*known);
        last = known;
    });
    Clock::Lanes &own = all->lanes(warp);
    each_thread(warp, lanes, [&](std::uint32_t thread) {
        own[thread % kLanes] = std::max(own[thread % kLanes], threads_[thread].now);
        threads_[thread].now += 1;
    });
    into = std::move(all);
}

void Clocks::learn(std::uint32_t warp, std::uint32_t lanes, const ClockRef &from) {
    each_thread(warp, lanes, [&](std::uint32_t thread) { join(threads_[thread].known, from); });
}

void Clocks::meet(std::uint32_t warp, std::uint32_t lanes) {
    ClockRef all;
    publish(warp, lanes, all);
    // What it holds is at least what each of them knew.
    each_thread(warp, lanes, [&](std::uint32_t thread) { threads_[thread].known = all; });
}

void Clocks::fence(std::uint32_t warp, std::uint32_t lanes) {
    each_thread(warp, lanes, [&](std::uint32_t thread) {
        Thread &one = threads_[thread];
        join(one.known, one.seen);
        one.seen = nullptr;
        ClockRef now;
        publish(warp, 1u << (thread % kLanes), now);
        one.fenced = std::move(now);
    });
}

void Clocks::touch(std::uint32_t thread, std::uint64_t place, bool acquire, bool release) {
    Thread &one = threads_[thread];
    const auto found = places_.find(place);
    if (found != places_.end()) join(acquire ? one.known : one.seen, found->second);
    if (release) {
        ClockRef now;
        publish(thread / kLanes, 1u << (thread % kLanes), now);
        join(places_[place], now);
    } else if (one.fenced != nullptr) {
        join(places_[place], one.fenced);
    }
}

}  // namespace ptxkit::sim
