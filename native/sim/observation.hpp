// What is asked of the observers of a launch, and what they found.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_set>

#include "conflicts.hpp"
#include "machine.hpp"
#include "observer.hpp"

namespace ptxkit::sim {

// An instruction: a function and a place in its code.
struct Where {
    std::uint32_t function = 0;
    std::uint32_t instruction = 0;
    auto operator<=>(const Where &) const = default;
};

struct Finding {
    std::string kind;
    std::string message;
    std::string severity = "error";
    Where where;
    Dim3 thread{0, 0, 0}, block{0, 0, 0};
    std::string space;              // of the address; empty: there is none
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    bool has_other = false;         // a second access or thread that has a part in it
    Where other;
    Dim3 other_thread{0, 0, 0};
    std::uint64_t count = 1;        // how often it was seen
};

// Sums over all executions of one instruction.
struct ProfileCounts {
    std::uint64_t warps = 0;             // executions by a warp or a part of it
    std::uint64_t lanes = 0;             // executions by a thread
    std::uint64_t divergent = 0;         // branches whose lanes went different ways
    std::uint64_t requests = 0;          // accesses of global memory
    std::uint64_t sectors = 0, ideal_sectors = 0;
    std::uint64_t shared_requests = 0;
    std::uint64_t wavefronts = 0, ideal_wavefronts = 0;
};
using Profile = std::vector<std::vector<ProfileCounts>>;  // by function and instruction

struct TraceAccess {
    std::string space;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    bool write = false;
};

struct TraceEvent {
    Where where;
    bool active = true;                  // false: its guard was false
    std::vector<std::uint8_t> reads, writes;  // 16 bytes a register, as Facts lists them
    std::vector<TraceAccess> accesses;
};

struct TraceRequest {
    Dim3 thread{0, 0, 0}, block{0, 0, 0};
    std::size_t limit = 0;
    bool keep_last = false;              // of more than `limit` events, keep the last ones
};

// A place before or after an instruction, and registers that are looked at there.
struct Point {
    bool after = false;
    bool tuples = false;
    std::vector<RegisterPlace> places;
    bool running = false;                // only threads for which the guard holds
};

// Sums over all threads that come to a point; `spread` has a bit for some of the values.
struct Digest {
    struct Value {
        std::uint64_t sum = 0, spread = 0;
    };
    std::uint64_t visits = 0;
    std::vector<Value> values;
    std::unordered_set<std::uint64_t> tuples;  // all values of a thread together, where asked for
    bool full = false;                         // there were more of them
};

// A range of shared memory that belongs to no variable.
struct RedZone {
    std::uint32_t begin = 0, end = 0;
};

class Observation {
  public:
    // Asked for.
    bool sanitize = false;
    bool profile = false;
    bool trace = false;
    bool conflicts = false;
    std::size_t finding_limit = 0;
    TraceRequest trace_request;
    std::vector<RedZone> red_zones;
    std::vector<std::vector<Facts>> facts;     // by function and instruction
    std::vector<Point> points;
    std::multimap<Where, std::size_t> points_at;

    // Found.
    std::vector<Finding> findings;
    std::uint64_t findings_left_out = 0;
    Profile counts;
    std::deque<TraceEvent> events;
    std::uint64_t events_left_out = 0;
    std::vector<Digest> digests;               // for each point
    ConflictTable conflict_table;

    // The observers of a block of a program, or none.
    std::unique_ptr<Observers> observe(const Program &program, const Dim3 &shape, const Block &block);

    void report(Finding finding);
    void add(const Profile &more);
    void add(const std::vector<Digest> &more);
    void set_trace(std::deque<TraceEvent> traced, std::uint64_t left_out);

    const Facts &facts_of(const Machine &m, const Inst &inst) const;
    static Where where(const Machine &m, const Inst &inst);

  private:
    using Key = std::tuple<std::string, Where, Where>;
    std::map<Key, std::size_t> seen_;
    std::mutex lock_;
};

// The thread of a block with a number, as its three coordinates.
Dim3 thread_place(const Dim3 &shape, std::uint32_t linear);

}  // namespace ptxkit::sim
