// Programs the simulator runs: decoded instructions over numbered register slots.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxkit::sim {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kFullMask = 0xFFFFFFFFu;
constexpr std::uint32_t kNoSlot = 0xFFFFFFFFu;

class Machine;
struct Inst;

// An operation works on the active lanes of the machine's current warp.
using Operation = void (*)(Machine &machine, const Inst &inst);

// The sides that an operation shows in some lanes, told before it runs in them, as bits; see
// sides.hpp.
using Judge = std::uint8_t (*)(Machine &machine, const Inst &inst, std::uint32_t lanes);

struct Sides {
    Judge judge = nullptr;  // none: it has but one side
    std::uint8_t all = 0;   // the sides that there are
};

// A slot names 32 values: a byte offset into the frame's registers, or, with the top bit
// set, into the program's constants. Every slot begins at a multiple of 64 bytes.
constexpr std::uint32_t kConstantSlot = 0x80000000u;

struct Inst {
    Operation operation = nullptr;
    std::uint32_t guard = kNoSlot;  // slot of a predicate
    bool negated = false;           // run where the guard is false
    bool leader = false;            // control may come here from elsewhere
    std::uint8_t width = 0;         // bytes of the register an access reads or writes
    std::uint8_t count = 1;         // elements of a vector
    std::uint32_t slots[6] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
    std::int64_t immediate = 0;     // address offset, table index, mode bits
    std::uint32_t list = 0;         // first entry in Function::lists
    std::uint32_t list_size = 0;
    std::uint32_t target = 0;       // branch target or called function
    std::uint32_t node = 0;         // index of the instruction's node in the tree
    Sides sides;                    // those that are counted where executions are
};

// Where a function's parameter or return value lies in a thread's local memory.
struct Place {
    std::uint32_t offset;
    std::uint32_t size;
};

struct Function {
    std::string name;
    std::vector<Inst> code;
    std::vector<std::uint32_t> lists;      // slots of vectors, branch tables, call places
    std::uint32_t register_bytes = 0;      // of one warp's frame
    std::uint32_t local_bytes = 0;         // of one thread's frame
    std::vector<Place> parameters;
    std::vector<Place> results;
};

struct Program {
    std::vector<Function> functions;
    std::vector<std::uint8_t> constants;   // 32 lanes of every constant
    std::uint32_t entry = 0;
    std::uint32_t static_shared = 0;
    std::uint32_t parameter_bytes = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> addresses;  // of functions, for calls through them
    bool uses_alloca = false;
    bool prints = false;
};

// The operation of a name such as "add.s32"; nullptr where there is none.
Operation find_operation(const std::string &name);
std::vector<std::string> operation_names();

// Called by the files that define operations, once each.
struct NamedOperation {
    std::string name;
    Operation operation;
};
using OperationList = std::vector<NamedOperation>;

}  // namespace ptxkit::sim
