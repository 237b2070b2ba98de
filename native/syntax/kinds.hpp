// The node kinds of the PTX tree, on one page.
#pragma once

#include <cstdint>

namespace ptxkit::syntax {

// name in Python, what it stands for
#define PTXKIT_NODE_KINDS(X)                                                     \
    X(Module, "the whole file")                                                  \
    X(Version, ".version 9.0")                                                   \
    X(Target, ".target sm_90a, debug")                                           \
    X(AddressSize, ".address_size 64")                                           \
    X(File, ".file 1 \"k.cu\", 0, 0")                                            \
    X(Section, ".section .debug_info { ... }")                                   \
    X(SectionLabel, "a label inside a section")                                  \
    X(SectionData, ".b8 1, 2 or .b32 $end - $start")                             \
    X(DwarfLine, "@@DWARF line of PTX 1.x")                                      \
    X(Loc, ".loc 1 2 3, function_name $s, inlined_at 1 4 5")                     \
    X(Pragma, ".pragma \"nounroll\";")                                           \
    X(Alias, ".alias a, b;")                                                     \
    X(Variable, "a declaration: .global .align 4 .u32 x, y[3] = {1, 2, 3};")     \
    X(Declarator, "one name of a declaration, with range, sizes and initialiser") \
    X(Attribute, ".attribute(.managed)")                                         \
    X(InitializerList, "{ ... } of an initialiser")                              \
    X(FieldInitializer, "name = value in a texture or sampler initialiser")      \
    X(Function, ".entry or .func, with or without a body")                       \
    X(ParameterList, "( ... ) of a function or prototype")                       \
    X(Parameter, ".param .u64 .ptr .global .align 8 p")                          \
    X(FunctionDirective, ".maxntid 32, 1, 1 between header and body")            \
    X(Block, "{ ... } of statements")                                            \
    X(Label, "name:")                                                            \
    X(BranchTargets, ".branchtargets a, b;")                                     \
    X(CallTargets, ".calltargets f, g;")                                         \
    X(CallPrototype, ".callprototype (.param .b32 _) _ (.param .b32 _);")        \
    X(Instruction, "guard, opcode, operands and semicolon")                      \
    X(Guard, "@p or @!p")                                                        \
    X(Opcode, "ld.global.f32")                                                   \
    X(Name, "a register, variable, function or label, with its selector")        \
    X(Sink, "the operand _")                                                     \
    X(Integer, "an integer literal")                                             \
    X(Float, "a float literal: 1.5, 0f3F800000, 0d3FF0000000000000")             \
    X(SectionName, "a section named in section data")                            \
    X(Expression, "operands joined by binary operators, flat, in source order")  \
    X(Parenthesized, "( ... ) inside an expression")                             \
    X(Unary, "!x, -x, ~x, +x or a cast (.s64)x")                                 \
    X(Application, "generic(x) or 0xff(x)")                                      \
    X(Subscript, "x[3] as an operand")                                           \
    X(Vector, "{a, b, c, d}")                                                    \
    X(Pair, "p|q")                                                               \
    X(Address, "[base + offset] or [texture, {x, y}]")                           \
    X(ArgumentList, "( ... ) of a call")                                         \
    X(Error, "text that is not PTX, skipped to go on; never in a parsed Module")

enum class Kind : std::uint8_t {
#define PTXKIT_ENUMERATOR(name, meaning) name,
    PTXKIT_NODE_KINDS(PTXKIT_ENUMERATOR)
#undef PTXKIT_ENUMERATOR
};

inline constexpr const char *kKindNames[] = {
#define PTXKIT_NAME(name, meaning) #name,
    PTXKIT_NODE_KINDS(PTXKIT_NAME)
#undef PTXKIT_NAME
};

inline constexpr const char *kKindMeanings[] = {
#define PTXKIT_MEANING(name, meaning) meaning,
    PTXKIT_NODE_KINDS(PTXKIT_MEANING)
#undef PTXKIT_MEANING
};

inline constexpr unsigned kKindCount = sizeof(kKindNames) / sizeof(kKindNames[0]);

}  // namespace ptxkit::syntax
