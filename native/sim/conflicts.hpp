// Global memory that threads of a launch race for, and what depends on how that ends: bytes that
// one thread changes and another touches though nothing puts the two in an order, and bytes that
// threads write after they have read such ones.
//
// What orders threads is followed only as far as barriers of whole blocks go. A launch with fences,
// volatile or synchronising accesses, or barriers of parts of a block, has no answer. Whatever lanes
// of a warp do together puts all of its lanes in order.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "observer.hpp"

namespace ptxkit::sim {

class Observation;

// Who does something, and when: how often its block, and its warp, have met before.
struct Actor {
    std::uint32_t block = 0, epoch = 0, meetings = 0;
    std::uint16_t warp = 0;
    std::uint8_t lane = 0;
    bool unordered(const Actor &other) const {
        if (block != other.block) return true;
        if (epoch != other.epoch) return false;
        return warp != other.warp || (lane != other.lane && meetings == other.meetings);
    }
};

// What is known of one launch; several blocks may run at once.
class ConflictTable {
  public:
    std::uint32_t new_block();
    void give_up();                      // something orders threads that is not followed
    void read(const Actor &who, std::uint64_t address, std::uint64_t bytes);
    // Before the bytes are there; without values where they are not known yet.
    void write(const Actor &who, std::uint64_t address, std::uint64_t bytes,
               const std::uint8_t *values);
    void forget(std::uint64_t address, std::uint64_t bytes);  // an atomic leaves something there
    void meet_warp(const Actor &who);    // lanes of a warp learn from each other
    void meet_block(std::uint32_t block);

    // Words of four bytes and which of these depend on races, or nothing where it is not known.
    using Words = std::unordered_map<std::uint64_t, std::uint8_t>;
    std::optional<Words> unsettled() const;

  private:
    struct Mark {
        Actor who;
        std::uint8_t bytes = 0;
    };
    struct Word {
        std::array<Actor, 4> changers;   // the last of each byte
        std::uint8_t changed = 0;        // which of them were changed
        Mark looked[2];
        std::uint8_t values[4] = {};     // those last written
        std::uint8_t known = 0;          // and of which bytes they are
    };
    enum class What : std::uint8_t { Read, Write, MeetWarp, MeetBlock };
    struct Event {
        std::uint64_t word = 0;
        std::uint32_t block = 0;
        std::uint16_t warp = 0;
        std::uint8_t lane = 0;
        What what : 4;
        std::uint8_t bytes : 4;
    };

    // Those of some bytes that somebody changed whom nothing puts in an order with another one.
    static std::uint8_t raced(const Word &known, const Actor &who, std::uint8_t bytes);
    void log(What what, const Actor &who, std::uint64_t word, std::uint8_t bytes);
    void look(const Actor &who, std::uint64_t word, std::uint8_t bytes, bool check);
    void change(const Actor &who, std::uint64_t word, std::uint8_t bytes);

    std::unordered_map<std::uint64_t, Word> words_;
    Words racing_;
    std::vector<Event> events_;
    std::uint32_t blocks_ = 0;
    bool unknown_ = false;
    std::mutex lock_;
};

// Watches one block for the table of its launch.
class Conflicts : public Observer {
  public:
    Conflicts(const Observation &observation, ConflictTable &table, const Block &block);
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) override;
    void release(Block &block, unsigned number) override;
    void synchronize(Block &block) override;

  private:
    Actor actor(const Machine &m, unsigned lane) const;
    void write(const Machine &m, const Actor &who, std::uint64_t address, std::uint64_t bytes);

    const Observation &observation_;
    ConflictTable &table_;
    std::uint32_t block_;
    std::uint32_t epoch_ = 0;
    std::vector<std::uint32_t> meetings_;  // of each warp
    const Inst *inst_ = nullptr;
    const Facts *facts_ = nullptr;
    std::vector<std::uint8_t> values_;
};

}  // namespace ptxkit::sim
