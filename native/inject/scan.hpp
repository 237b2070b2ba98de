// Finds the injection sites of a PTX text: one pass over its bytes, no tree.
//
// A site is a comment that an inline asm statement leaves in the PTX:
//
//     // PTX_INJECT func in:f32:f32:x out:f32:f32:z @12 volatile = %f2 %f1
//
// name, operands (direction:type:register type:name), line in the CUDA source, flags, and
// after '=' the register of every operand: first those of mod and out operands, then those of
// in operands, as an asm statement numbers them. The markers of mm-ptx are read as well:
//
//     // PTX_INJECT_START func
//     // _x0 o f32 F32 z
//     // PTX_INJECT_END
//
// There the text around the marker has declared %_x0 and moves values to and from it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.hpp"

namespace ptxkit::inject {

inline constexpr std::uint32_t kNowhere = UINT32_MAX;
// More operands than any compiler takes for one asm statement.
inline constexpr std::size_t kMostOperands = 256;

enum class Direction : std::uint8_t { In, Mod, Out };

enum Flag : std::uint8_t { kPure = 1, kMemory = 2 };

struct Operand {
    Direction direction;
    std::string_view type;           // as the annotation names it
    std::string_view register_type;  // of the register that a stub uses
    std::string_view name;
    std::string_view foreign;        // mm-ptx: the register that the text around has declared
    std::uint32_t place;             // among the registers of an occurrence
};

struct Site {
    std::string_view name;
    std::string_view signature;  // the operands as the marker writes them
    std::uint32_t first;         // offset of the marker that was met first
    std::uint32_t source_line;   // of that one; 0 where the marker has none
    std::vector<Operand> operands;
    std::vector<std::uint32_t> by_place;  // the operands as an asm statement numbers them
    std::uint32_t count = 0;     // occurrences
};

struct Occurrence {
    std::uint32_t site;
    std::uint32_t function;  // kNowhere outside of any
    std::uint32_t start;     // the bytes that a stub takes the place of
    std::uint32_t end;
    std::uint32_t source_line;
    std::uint32_t registers;  // index of the first in Scan::registers
    std::uint8_t flags;
};

struct Scan {
    std::vector<std::string_view> functions;
    std::vector<Site> sites;
    std::vector<Occurrence> occurrences;
    std::vector<std::string_view> registers;
};

// What is wrong with a marker, and where.
struct Fault : std::runtime_error {
    Fault(std::string code_, const std::string &message, std::string hint_, std::size_t start_,
          std::size_t end_)
        : std::runtime_error(message), code(std::move(code_)), hint(std::move(hint_)),
          start(start_), end(end_) {}
    std::string code;
    std::string hint;
    std::size_t start;
    std::size_t end;
};

// The views in the result are into the text. Throws Fault.
Scan scan(std::string_view text);

// Throws Fault for a marker in the middle of a statement, where a stub would tear it apart. The
// tree is that of the text.
void refuse_torn_statements(const Scan &scan, const syntax::Tree &tree);

// Bits of a register type that an operand may have, 1 for .pred; 0 for what is none.
unsigned register_width(std::string_view type);

}  // namespace ptxkit::inject
