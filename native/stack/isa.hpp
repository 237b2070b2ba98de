// What a program may use: stacks, instructions, routines; and what it reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fold.hpp"
#include "items.hpp"

namespace ptxkit::stack {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// How constants of a stack are written.
enum class Literal : std::uint8_t { Integer, Float32, Float64, Predicate, Bits };

struct StackType {
    std::string name;
    std::string register_type;   // of .reg, without the dot
    std::string move;            // "mov.b32"
    Literal literal = Literal::Integer;
    std::uint8_t width = 32;     // bits of a value
    std::uint32_t select = kNone;  // row that chooses between two values; none for predicates
};

enum class Effect : std::uint8_t {
    Pure,     // a function of its operands: computed once, and only if it is needed
    Ordered,  // keeps its place among its like, and goes if nobody needs its results
    Kept,     // keeps its place and always stays
};

struct Argument {
    std::uint16_t stack = 0;
    bool literal = false;        // a constant may stand there as it is ...
    std::uint64_t largest = 0;   // ... up to this
};

// A stretch of an instruction's text, then an operand. `operand` counts results, then
// arguments; kImmediate is the item's payload, kNoOperand nothing.
constexpr std::uint8_t kImmediate = 0xFE, kNoOperand = 0xFF;
struct Piece {
    std::string text;
    std::uint8_t operand = kNoOperand;
};

struct Row {
    std::string name;
    std::vector<Piece> pieces;
    std::vector<Argument> arguments;
    std::vector<std::uint16_t> results;
    Effect effect = Effect::Pure;
    bool guardable = false;      // stands under the condition of the `if` it is in
    bool commutes = false;       // its first two arguments may change places
    bool separate = false;       // results must not share registers with arguments
    std::uint64_t lowest = 0, span = 0;  // of the immediate; span 0: there is none
    Fold fold;
};

enum class NodeKind : std::uint8_t { Input, Constant, Instruction, Result };

// What a value is, in eight bytes.
struct Tag {
    std::uint32_t row = 0;
    std::uint16_t stack = 0;
    NodeKind kind = NodeKind::Input;
    std::uint8_t count = 0;            // of arguments, the guard included
};

// What the hot loops need of a row, on one cache line.
struct Shape {
    Tag tag;                           // of its first result
    std::uint8_t arguments = 0, results = 0, needs = 0;
    bool pure = false, foldable = false, commutes = false, immediate = false, separate = false;
    std::uint8_t need_stack[kMostNeeds] = {}, need_count[kMostNeeds] = {};
    std::uint8_t argument_stack[kMostOperands] = {}, result_stack[kMostOperands] = {};
    std::uint16_t segments = 0;
    bool simple = false;               // pure, one result, few arguments, all from one stack
    std::uint8_t head = 0;             // bytes before the operands, where the text is an opcode
                                       // and the operands in their order, one result first; or 0
    std::uint32_t first_segment = 0;
    std::uint32_t text = 0;            // where its text begins in Isa::text
    std::uint32_t longest = 0;         // bytes of all its stretches, padded
};
static_assert(sizeof(Shape) <= 64);

// A piece of at most 16 bytes, padded to that in Isa::text.
struct Segment {
    std::uint32_t begin = 0;
    std::uint8_t length = 0;
    std::uint8_t operand = kNoOperand;
};
constexpr unsigned kChunk = 16;

struct Routine {
    std::string name;
    std::vector<Item> items;
    bool closed = false;         // sees its arguments only
    std::vector<std::uint16_t> arguments;
    std::vector<std::uint16_t> results;
    bool gives_all = true;       // what it leaves; else `results` from the tops
};

// Where the block that an item opens goes on and ends.
struct Jump {
    std::uint32_t other;         // Else, or the end
    std::uint32_t end;
};

struct Isa {
    std::vector<StackType> stacks;
    std::vector<Row> rows;
    std::vector<Routine> routines;
    std::uint16_t predicates = 0;       // the stack of predicates
    std::uint32_t and_row = kNone, or_row = kNone, not_row = kNone;
    std::shared_ptr<const FoldProgram> folds;

    // Filled by finish(), which checks every index. Throws std::invalid_argument.
    std::vector<Shape> shapes;          // of the rows
    std::vector<Segment> segments;
    std::vector<char> text;
    std::vector<std::vector<Jump>> routine_jumps;
    std::vector<std::uint8_t> classes;  // stack -> register class
    std::vector<std::string> class_types;
    void finish();
};

// Find the partners of all block items; items that match nothing do nothing.
void match_blocks(Items items, std::vector<Jump> &jumps);

struct Input {
    std::uint16_t stack = 0;
    std::string text;
};

struct Output {
    std::uint16_t stack = 0;
    std::uint32_t slot = kNone;    // kNone: from the top of the stack
    std::string text;
    std::uint32_t aliased = kNone; // input with the same register
};

// The name of a register after a comma and a space. Short ones are copied as a whole chunk,
// long ones from `more`, which must stay where it is.
struct Label {
    explicit Label(const std::string &name);
    char text[kChunk + 4] = {};         // so that a chunk can be read from behind the comma
    std::uint32_t length = 0;           // of the whole
    const std::string *more = nullptr;  // where it is longer than a chunk
};

enum class Missing : std::uint8_t { Error, Zero, Keep };

struct Limits {
    std::uint32_t steps = 1u << 16;   // items executed
    std::uint32_t nesting = 64;       // blocks and routines within each other
};

struct Interface {
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<std::string> prefixes;  // of registers, by class
    std::vector<std::string> opening;   // "\t.reg .f32 %f<", by class
    std::vector<Label> labels;          // of the inputs, then of the outputs
    std::size_t longest = 0;            // most bytes an operand takes, padded
    std::size_t line = 0;               // most bytes an instruction with a Shape::head takes
    std::uint64_t serial = 0;           // no two interfaces have the same
    Missing missing = Missing::Error;
    Limits limits;
    bool strict = true;                 // a limit is an error
};

}  // namespace ptxkit::stack
