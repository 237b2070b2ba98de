// Runs a stack program at compile time: its values become nodes of a graph.
#pragma once

#include <memory>
#include <vector>

#include "graph.hpp"

namespace ptxkit::stack {

enum class Status : std::uint8_t {
    Fine,
    UnknownItem,      // detail: its kind
    UnknownRow,
    UnknownStack,
    UnknownInput,
    UnknownSlot,
    UnknownRoutine,
    UnknownArgument,
    ConstantTooWide,
    StepLimit,
    NestingLimit,
    MissingOutput,    // detail: its number
};

// What happened, and at which item of the program or of a routine.
struct Outcome {
    Status status = Status::Fine;
    std::uint32_t item = 0;
    std::uint32_t routine = kNone;
    std::uint32_t detail = 0;
};

struct Report {
    std::uint32_t steps = 0;         // items executed
    std::uint32_t executed = 0;      // instructions that found their operands
    std::uint32_t idle = 0;          // items that did not
    std::uint32_t reused = 0;        // instructions whose value was there already
    std::uint32_t folded = 0;        // instructions on constants, computed here
    std::uint32_t emitted = 0;       // instructions in the stub, without moves
    std::uint32_t moves = 0;         // moves to outputs and of constants
    std::uint32_t registers = 0;     // declared
    std::uint32_t missing = 0;       // outputs without a value
    std::uint32_t limit = 0;         // Status of the limit that stopped the program
};

class Interpreter {
  public:
    Graph graph;

    // Everything on the stacks and in the slots is there afterwards.
    Outcome run(const Isa &isa, const Interface &interface, Items items, Report &report);

    // The value of an output: `depth` counts from the top of its stack.
    std::uint32_t on_stack(std::uint16_t stack, std::uint32_t depth) const;
    std::uint32_t in_slot(std::uint16_t stack, std::uint32_t slot) const;

  private:
    struct Stack {
        std::vector<std::uint32_t> values;
        std::uint32_t base = 0;      // what lies below belongs to the caller
        std::uint32_t depth() const { return static_cast<std::uint32_t>(values.size()) - base; }
        std::uint32_t &at(std::uint32_t below) { return values[values.size() - 1 - below]; }
    };
    // The stacks of the running frame and the slots, kept while one side of an `if` runs.
    struct Snapshot {
        std::vector<std::vector<std::uint32_t>> stacks;
        std::vector<std::uint32_t> slots;
    };
    struct Pushed {
        std::uint32_t node = kNone;  // of the input, once it was pushed
        std::uint16_t stack = 0;
    };
    struct Code {
        Items items;
        const std::vector<Jump> *jumps;
        std::uint32_t routine;
        const std::uint32_t *arguments;
        std::uint32_t argument_count;
    };

    bool range(const Code &code, std::uint32_t begin, std::uint32_t end, unsigned nesting);
    bool other(const Code &code, std::uint32_t &at, unsigned nesting);
    bool one(const Code &code, std::uint32_t at, unsigned nesting);
    bool instruction(const Item &item);
    bool meta(const Item &item);
    bool guarded(const Code &code, std::uint32_t at, unsigned nesting);
    bool block(const Code &code, std::uint32_t at, const Jump &jump, unsigned nesting);
    bool either(const Code &code, std::uint32_t condition, std::uint32_t then_begin,
                std::uint32_t then_end, std::uint32_t else_begin, std::uint32_t else_end,
                unsigned nesting, std::uint32_t *left = nullptr);
    std::uint32_t take_predicate();   // kNone where there is none
    bool call(std::uint32_t number, unsigned nesting);
    bool stop(Status status, const Code &code, std::uint32_t at, std::uint32_t detail = 0);

    std::uint32_t apply(std::uint32_t row, std::uint64_t payload, std::uint32_t *arguments);
    bool fold(std::uint32_t row, const std::uint32_t *arguments);
    void append_impure(std::uint32_t row, std::uint64_t payload, std::uint32_t *arguments);
    void push_input(std::uint32_t number);
    void simple(std::uint32_t number, const Shape &shape);
    std::uint32_t logic(std::uint32_t row, std::uint32_t a, std::uint32_t b);
    std::uint32_t negate(std::uint32_t predicate);
    std::uint32_t choose(std::uint32_t condition, std::uint32_t a, std::uint32_t b);
    bool is_constant(std::uint32_t node) const {
        return graph.nodes[node].kind == NodeKind::Constant;
    }

    Snapshot &snapshot(unsigned nesting, unsigned which);
    void save(Snapshot &snapshot) const;
    void exchange(Snapshot &snapshot);
    void merge(std::uint32_t condition, const Snapshot &then);

    const Isa *isa_ = nullptr;
    const Interface *interface_ = nullptr;
    Report *report_ = nullptr;
    Outcome outcome_;
    std::vector<Stack> stacks_;
    std::vector<std::uint32_t> slots_;
    std::vector<Pushed> inputs_;
    std::vector<std::unique_ptr<Snapshot>> snapshots_;
    std::vector<Jump> jumps_;
    bool matched_ = false;
    std::uint32_t guard_ = kNone;     // condition of the blocks around
    std::shared_ptr<const FoldProgram> folds_;
    std::unique_ptr<FoldMachine> machine_;
    std::uint32_t results_[kMostOperands] = {};  // of the last apply()
};

}  // namespace ptxkit::stack
