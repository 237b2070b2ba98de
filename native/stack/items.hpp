// What a stack program is made of: items of sixteen bytes, two words of 64 bits each.
#pragma once

#include <cstdint>
#include <span>

namespace ptxkit::stack {

enum class Kind : std::uint8_t {
    Nothing,      // does nothing
    Instruction,  // row `index`; `payload` is its immediate operand
    Constant,     // push the bits of `payload`
    Input,        // push input `index`
    Argument,     // push argument `index` of the routine that is running
    Call,         // run routine `index`
    Dup,          // push a copy of the value `index` below the top
    Swap,         // exchange the top with the value `index` + 1 below it
    Drop,         // take the top away
    Yank,         // move the value `index` below the top to the top
    Rotate,       // move the top `index` places down
    Reverse,      // turn the whole stack around
    Replace,      // take the top away and put it in the place of the value `index` below it
    Clear,        // take everything away
    ToSlot,       // take the top away and keep it in slot `index`
    FromSlot,     // push what slot `index` holds
    If,           // take a predicate; run what follows, up to Else or End, where it holds
    Else,
    End,
    Repeat,       // run what follows, up to End, `index` times
    While,        // take a predicate; at most `index` times: run what follows where it holds,
                  // and take the next one, which must hold as well
    Count,
};

constexpr std::uint8_t kGuarded = 1;  // take a predicate; the item takes effect where it holds
constexpr std::uint8_t kNegated = 2;  // ... where it does not hold

// The same layout as a row of two little-endian words in a numpy array.
struct Item {
    Kind kind = Kind::Nothing;
    std::uint8_t guard = 0;
    std::uint16_t stack = 0;
    std::uint32_t index = 0;
    std::uint64_t payload = 0;
};
static_assert(sizeof(Item) == 16);

using Items = std::span<const Item>;

constexpr unsigned kSlots = 16;      // numbered slots of each stack
constexpr unsigned kMostStacks = 32;
constexpr unsigned kMostOperands = 10;  // results and arguments of one instruction
constexpr unsigned kMostNeeds = 4;      // different stacks it takes arguments from
constexpr unsigned kFewArguments = 3;   // what most instructions have at most

}  // namespace ptxkit::stack
