#include "stack_table.hpp"

#include <stdexcept>

namespace ptxkit::fuzz {

using namespace stack;

namespace {

enum : std::uint16_t { kPredicate, kWord, kLong, kFloat, kHalf };

// Registers of the simulator: three sources and two results of each stack.
struct Layout {
    std::shared_ptr<sim::Program> program = std::make_shared<sim::Program>();

    std::uint32_t slot(std::uint16_t type, unsigned number) const {
        return (type * 5u + number) * 256u + 64u;
    }
    std::uint8_t bytes(std::uint16_t type) const {
        constexpr std::uint8_t kBytes[] = {0, 4, 8, 4, 2};
        return kBytes[type];
    }
    Layout() {
        program->functions.emplace_back();
        program->functions[0].register_bytes = slot(kHalf, 5) + 256;
    }
    Fold fold(const char *operation, const Row &row, bool divides) {
        sim::Inst inst;
        inst.operation = sim::find_operation(operation);
        if (inst.operation == nullptr) throw std::runtime_error(operation);
        Fold made;
        std::size_t at = 0;
        for (std::size_t n = 0; n < row.results.size(); ++n) {
            made.destinations.push_back({slot(row.results[n], 3u + static_cast<unsigned>(n)),
                                         bytes(row.results[n])});
            inst.slots[at++] = made.destinations.back().slot;
        }
        for (std::size_t n = 0; n < row.arguments.size(); ++n) {
            const std::uint16_t type = row.arguments[n].stack;
            made.sources.push_back({slot(type, static_cast<unsigned>(n)), bytes(type)});
            inst.slots[at++] = made.sources.back().slot;
        }
        std::vector<sim::Inst> &code = program->functions[0].code;
        made.begin = static_cast<std::uint32_t>(code.size());
        code.push_back(inst);
        made.end = made.begin + 1;
        made.exact = true;
        made.divides = divides;
        return made;
    }
};

Row make(const std::string &name, std::vector<std::uint16_t> arguments,
         std::vector<std::uint16_t> results, Effect effect = Effect::Pure) {
    Row row;
    row.name = name;
    for (std::uint16_t stack : arguments)
        row.arguments.push_back({stack, stack == kWord || stack == kLong || stack == kFloat,
                                 ~std::uint64_t{0}});
    row.results = std::move(results);
    row.effect = effect;
    row.guardable = effect != Effect::Pure;
    std::string text = name + " ";
    const std::size_t operands = row.results.size() + row.arguments.size();
    for (std::size_t n = 0; n < operands; ++n) {
        row.pieces.push_back({text, static_cast<std::uint8_t>(n)});
        text = ", ";
    }
    row.pieces.push_back({operands ? ";" : name + ";", kNoOperand});
    return row;
}

}  // namespace

Isa small_isa() {
    Isa isa;
    isa.stacks = {{"pred", "pred", "mov.pred", Literal::Predicate, 1, kNone},
                  {"b32", "b32", "mov.b32", Literal::Integer, 32, kNone},
                  {"b64", "b64", "mov.b64", Literal::Integer, 64, kNone},
                  {"f32", "f32", "mov.f32", Literal::Float32, 32, kNone},
                  {"f16", "b16", "mov.b16", Literal::Bits, 16, kNone}};
    Layout layout;
    const auto add = [&](Row row, const char *operation = nullptr, bool divides = false) {
        if (operation != nullptr) row.fold = layout.fold(operation, row, divides);
        isa.rows.push_back(std::move(row));
        return static_cast<std::uint32_t>(isa.rows.size() - 1);
    };
    isa.rows.reserve(32);
    add(make("add.rn.f32", {kFloat, kFloat}, {kFloat}), "add.f32");
    add(make("mul.rn.f32", {kFloat, kFloat}, {kFloat}), "mul.f32");
    add(make("fma.rn.f32", {kFloat, kFloat, kFloat}, {kFloat}), "fma.f32");
    isa.rows[add(make("add.u32", {kWord, kWord}, {kWord}), "add.u32")].commutes = true;
    add(make("div.u32", {kWord, kWord}, {kWord}), "div.u32", true);
    add(make("mul.wide.u32", {kWord, kWord}, {kLong}), "mul.wide.u32");
    add(make("sub.s64", {kLong, kLong}, {kLong}), "sub.s64");
    add(make("setp.lt.f32", {kFloat, kFloat}, {kPredicate}));
    add(make("shfl.pair", {kWord, kWord}, {kWord, kPredicate}, Effect::Ordered));
    add(make("ld.global.f32", {kLong}, {kFloat}, Effect::Ordered));
    add(make("st.global.f32", {kLong, kFloat}, {}, Effect::Kept));
    add(make("ld.pair", {kLong}, {kWord, kWord}, Effect::Ordered));
    add(make("%clock", {}, {kWord}, Effect::Ordered));
    add(make("bar.sync", {}, {}, Effect::Kept));
    add(make("unpack", {kLong}, {kWord, kWord}));
    add(make("neg.f16", {kHalf}, {kHalf}));
    Row immediate = make("lop3.b32", {kWord, kWord, kWord}, {kWord});
    immediate.pieces.back() = {", ", kImmediate};
    immediate.pieces.push_back({";", kNoOperand});
    immediate.span = 256;
    add(immediate);
    Row several = make("several", {kFloat, kFloat}, {kFloat});
    several.separate = true;
    several.pieces.push_back({std::string(300, 'x') + ";", kNoOperand});
    add(several);
    isa.and_row = add(make("and.pred", {kPredicate, kPredicate}, {kPredicate}), "and.pred");
    isa.or_row = add(make("or.pred", {kPredicate, kPredicate}, {kPredicate}), "or.pred");
    isa.not_row = add(make("not.pred", {kPredicate}, {kPredicate}), "not.pred");
    for (std::uint16_t stack = kWord; stack <= kHalf; ++stack)
        isa.stacks[stack].select =
            add(make("selp." + isa.stacks[stack].register_type, {stack, stack, kPredicate},
                     {stack}));
    isa.folds = std::make_shared<const FoldProgram>(layout.program);
    const auto item = [](Kind kind, std::uint16_t stack, std::uint32_t index) {
        return Item{kind, 0, stack, index, 0};
    };
    isa.routines.push_back({"open", {item(Kind::Dup, kFloat, 0), item(Kind::Instruction, 0, 0)},
                            false, {}, {}, true});
    isa.routines.push_back({"closed",
                            {item(Kind::Argument, 0, 1), item(Kind::Call, 0, 0),
                             item(Kind::If, 0, 0), item(Kind::Clear, kFloat, 0)},
                            true, {kPredicate, kFloat}, {kFloat, kFloat}, false});
    isa.finish();
    return isa;
}

Interface small_interface(const Isa &isa, Missing missing, bool strict, std::uint32_t steps) {
    Interface interface;
    interface.inputs = {{kFloat, "x"}, {kFloat, "y"}, {kWord, "n"}, {kLong, "address"},
                        {kHalf, "h"}, {kPredicate, "a_rather_long_name_of_a_predicate"}};
    interface.outputs = {{kFloat, kNone, "y"}, {kFloat, kNone, "x"}, {kFloat, kNone, "z"},
                         {kWord, kNone, "m"}, {kWord, 3, "slot_three"}, {kHalf, kNone, "h"},
                         {kPredicate, kNone, "p"}};
    for (const std::string &type : isa.class_types)
        interface.prefixes.push_back("%" + type.substr(0, 1) + type.substr(1, 2));
    interface.missing = missing;
    interface.strict = strict;
    interface.limits = {steps, 32};
    finish(isa, interface);
    return interface;
}

}  // namespace ptxkit::fuzz
