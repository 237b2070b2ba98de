#include "conflicts.hpp"

#include <algorithm>
#include <bit>

#include "access.hpp"
#include "observation.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint64_t kWord = 4;
// A launch that does more is not followed to its end.
constexpr std::size_t kMostEvents = std::size_t{1} << 22;

// Calls with each word of a range and its bytes, as bits.
template <class Call>
void each_word(std::uint64_t address, std::uint64_t bytes, const Call &call) {
    for (std::uint64_t at = address, end = address + bytes; at < end;) {
        const std::uint64_t word = at / kWord;
        const std::uint64_t stop = std::min(end, (word + 1) * kWord);
        std::uint8_t mask = 0;
        for (std::uint64_t byte = at; byte < stop; ++byte)
            mask = static_cast<std::uint8_t>(mask | 1u << (byte % kWord));
        call(word, mask, at);
        at = stop;
    }
}

}  // namespace

// ---- the table ----------------------------------------------------------------------------

std::uint32_t ConflictTable::new_block() {
    const std::lock_guard<std::mutex> guard(lock_);
    return blocks_++;
}

void ConflictTable::give_up() {
    const std::lock_guard<std::mutex> guard(lock_);
    unknown_ = true;
}

void ConflictTable::log(What what, const Actor &who, std::uint64_t word, std::uint8_t bytes) {
    if (events_.size() >= kMostEvents) {
        unknown_ = true;
        return;
    }
    Event event{};
    event.word = word;
    event.block = who.block;
    event.warp = who.warp;
    event.lane = who.lane;
    event.what = what;
    event.bytes = bytes & 15u;
    events_.push_back(event);
}

std::uint8_t ConflictTable::raced(const Word &known, const Actor &who, std::uint8_t bytes) {
    std::uint8_t found = 0;
    for (unsigned byte = 0; byte < kWord; ++byte)
        if ((known.changed & bytes) >> byte & 1 && known.changers[byte].unordered(who))
            found = static_cast<std::uint8_t>(found | 1u << byte);
    return found;
}

void ConflictTable::look(const Actor &who, std::uint64_t word, std::uint8_t bytes, bool check) {
    Word &known = words_[word];
    if (check)
        if (const std::uint8_t both = raced(known, who, bytes); both != 0) racing_[word] |= both;
    // The first one and the last one that looked: of more, some stay unseen.
    Mark &mark = known.looked[known.looked[0].bytes != 0 && known.looked[0].who.unordered(who)];
    mark = {who, bytes};
}

void ConflictTable::change(const Actor &who, std::uint64_t word, std::uint8_t bytes) {
    Word &known = words_[word];
    std::uint8_t both = raced(known, who, bytes);
    for (const Mark &mark : known.looked)
        if (mark.who.unordered(who)) both = static_cast<std::uint8_t>(both | (mark.bytes & bytes));
    if (both != 0) racing_[word] |= both;
    known.changed = static_cast<std::uint8_t>(known.changed | bytes);
    for (unsigned byte = 0; byte < kWord; ++byte)
        if (bytes >> byte & 1) known.changers[byte] = who;
}

void ConflictTable::read(const Actor &who, std::uint64_t address, std::uint64_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (unknown_) return;
    each_word(address, bytes, [&](std::uint64_t word, std::uint8_t mask, std::uint64_t) {
        log(What::Read, who, word, mask);
        look(who, word, mask, true);
    });
}

void ConflictTable::write(const Actor &who, std::uint64_t address, std::uint64_t bytes,
                          const std::uint8_t *values) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (unknown_) return;
    each_word(address, bytes, [&](std::uint64_t word, std::uint8_t mask, std::uint64_t at) {
        log(What::Write, who, word, mask);
        Word &known = words_[word];
        std::uint8_t other = 0;
        for (std::uint64_t byte = at; byte < (word + 1) * kWord && byte < address + bytes; ++byte) {
            const auto bit = static_cast<std::uint8_t>(1u << (byte % kWord));
            std::uint8_t &held = known.values[byte % kWord];
            // The lanes of an instruction come here before any of them has written.
            if (!(known.known & bit)) held = *reinterpret_cast<const std::uint8_t *>(byte);
            const bool same = values != nullptr && held == values[byte - address];
            if (!same) other |= bit;
            if (values != nullptr) held = values[byte - address];
            known.known = static_cast<std::uint8_t>(values != nullptr ? known.known | bit
                                                                      : known.known & ~bit);
        }
        // Who writes what is there already disagrees only with those who change it later.
        if (mask != other) look(who, word, static_cast<std::uint8_t>(mask & ~other), false);
        if (other != 0) change(who, word, other);
    });
}

void ConflictTable::forget(std::uint64_t address, std::uint64_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    each_word(address, bytes, [&](std::uint64_t word, std::uint8_t mask, std::uint64_t) {
        if (const auto one = words_.find(word); one != words_.end())
            one->second.known = static_cast<std::uint8_t>(one->second.known & ~mask);
    });
}

void ConflictTable::meet_warp(const Actor &who) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (!unknown_) log(What::MeetWarp, who, 0, 0);
}

void ConflictTable::meet_block(std::uint32_t block) {
    const std::lock_guard<std::mutex> guard(lock_);
    Actor who;
    who.block = block;
    if (!unknown_) log(What::MeetBlock, who, 0, 0);
}

std::optional<ConflictTable::Words> ConflictTable::unsettled() const {
    if (unknown_) return std::nullopt;
    Words found = racing_;
    if (found.empty()) return found;
    std::unordered_map<std::uint64_t, std::uint32_t> warps;  // the lanes that have read such words
    std::unordered_map<std::uint32_t, std::vector<std::uint16_t>> blocks;
    std::unordered_map<std::uint32_t, bool> whole;           // all of a block has
    for (const Event &event : events_) {
        const std::uint64_t key = std::uint64_t{event.block} << 16 | event.warp;
        switch (event.what) {
            case What::Read:
                if (const auto one = found.find(event.word);
                    one != found.end() && (one->second & event.bytes) != 0) {
                    std::uint32_t &lanes = warps[key];
                    if (lanes == 0) blocks[event.block].push_back(event.warp);
                    lanes |= 1u << event.lane;
                }
                break;
            case What::Write: {
                const auto one = warps.find(key);
                if (whole.contains(event.block) ||
                    (one != warps.end() && (one->second >> event.lane & 1)))
                    found[event.word] |= event.bytes;
                break;
            }
            case What::MeetWarp:
                if (const auto one = warps.find(key); one != warps.end()) one->second = kFullMask;
                break;
            case What::MeetBlock:
                if (blocks.contains(event.block)) whole[event.block] = true;
                break;
        }
    }
    return found;
}

// ---- one block ----------------------------------------------------------------------------

Conflicts::Conflicts(const Observation &observation, ConflictTable &table, const Block &block)
    : observation_(observation),
      table_(table),
      block_(table.new_block()),
      meetings_(block.warps.size()) {}

Actor Conflicts::actor(const Machine &m, unsigned lane) const {
    const std::uint32_t warp = m.warp->index;
    return {block_, epoch_, meetings_[warp], static_cast<std::uint16_t>(warp),
            static_cast<std::uint8_t>(lane)};
}

void Conflicts::before(Machine &m, const Inst &inst, std::uint32_t lanes) {
    inst_ = &inst;
    facts_ = &observation_.facts_of(m, inst);
    if (lanes == 0) return;
    if (facts_->is(Facts::kFence | Facts::kStrong | Facts::kAcquire | Facts::kRelease))
        table_.give_up();
    if (facts_->members != kNoSlot || facts_->is(Facts::kWarpBarrier)) {
        ++meetings_[m.warp->index];
        table_.meet_warp(actor(m, 0));
    }
}

void Conflicts::access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                       std::uint64_t bytes, bool write) {
    if (space != Space::Global && space != Space::Generic) return;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t address = addresses[lane];
        if (!(lanes >> lane & 1)) continue;
        if (space == Space::Generic && (address & kWindowMask) != 0) continue;
        // Atomics come in any order, as they are meant to.
        if (facts_->is(Facts::kAtomic)) table_.forget(address, bytes);
        else if (write) this->write(m, actor(m, lane), address, bytes);
        else table_.read(actor(m, lane), address, bytes);
    }
}

void Conflicts::write(const Machine &m, const Actor &who, std::uint64_t address,
                      std::uint64_t bytes) {
    const unsigned size = std::max(1u, facts_->element);
    if (!facts_->is(Facts::kPlainStore) || bytes > std::uint64_t{size} * inst_->list_size) {
        table_.write(who, address, bytes, nullptr);
        return;
    }
    values_.resize(bytes);
    for (std::uint64_t byte = 0; byte < bytes; ++byte) {
        const std::uint32_t slot = m.function->lists[inst_->list + byte / size];
        values_[byte] =
            m.source<std::uint8_t>(slot)[std::size_t{inst_->width} * who.lane + byte % size];
    }
    table_.write(who, address, bytes, values_.data());
}

void Conflicts::release(Block &block, unsigned number) {
    std::uint32_t waiting = 0;
    for (const Warp &warp : block.warps)
        for (const Part &part : warp.parts)
            if (part.state == Part::State::AtBarrier && (part.wait_mask & 15u) == number)
                waiting += static_cast<std::uint32_t>(std::popcount(part.mask));
    if (waiting != block.live) {
        table_.give_up();
        return;
    }
    ++epoch_;
    table_.meet_block(block_);
}

void Conflicts::synchronize(Block &) { table_.give_up(); }

}  // namespace ptxkit::sim
