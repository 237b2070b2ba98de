#include "isa.hpp"

#include <algorithm>
#include <stdexcept>

namespace ptxkit::stack {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw std::invalid_argument(message); }

void finish_row(Row &row, std::size_t stacks) {
    if (row.arguments.size() + row.results.size() > kMostOperands)
        refuse("the instruction '" + row.name + "' has too many operands");
    row.needs.clear();
    for (const Argument &argument : row.arguments) {
        if (argument.stack >= stacks) refuse("'" + row.name + "' uses a stack that is not there");
        const auto same = [&](const Row::Need &need) { return need.stack == argument.stack; };
        const auto found = std::find_if(row.needs.begin(), row.needs.end(), same);
        if (found == row.needs.end()) row.needs.push_back({argument.stack, 1});
        else found->count = static_cast<std::uint16_t>(found->count + 1);
    }
    for (std::uint16_t result : row.results)
        if (result >= stacks) refuse("'" + row.name + "' uses a stack that is not there");
    const std::size_t operands = row.results.size() + row.arguments.size();
    for (const Piece &piece : row.pieces) {
        if (std::size_t{piece.begin} + piece.length > row.text.size())
            refuse("the text of '" + row.name + "' is damaged");
        if (piece.operand < kImmediate && piece.operand >= operands)
            refuse("the text of '" + row.name + "' names an operand that is not there");
    }
    if (row.commutes && row.arguments.size() < 2)
        refuse("'" + row.name + "' has no two arguments to exchange");
    if (row.effect == Effect::Pure && row.results.empty())
        refuse("the pure instruction '" + row.name + "' has no result");
}

}  // namespace

void Isa::finish() {
    if (stacks.empty() || stacks.size() > kMostStacks) refuse("there must be 1 to 32 stacks");
    if (predicates >= stacks.size()) refuse("there is no stack of predicates");
    class_types.clear();
    classes.clear();
    for (StackType &stack : stacks) {
        if (stack.select != kNone && stack.select >= rows.size())
            refuse("the select of '" + stack.name + "' is not there");
        auto found = std::find(class_types.begin(), class_types.end(), stack.register_type);
        classes.push_back(static_cast<std::uint8_t>(found - class_types.begin()));
        if (found == class_types.end()) class_types.push_back(stack.register_type);
    }
    for (std::uint32_t row : {and_row, or_row, not_row})
        if (row >= rows.size()) refuse("the logic of predicates is not there");
    for (Row &row : rows) {
        finish_row(row, stacks.size());
        if (row.fold.is_set()) {
            if (folds == nullptr || (row.fold.exact && row.effect != Effect::Pure) ||
                row.fold.sources.size() != row.arguments.size() ||
                row.fold.destinations.size() != row.results.size())
                refuse("'" + row.name + "' can't be folded that way");
            folds->check(row.fold);
        }
    }
    routine_jumps.assign(routines.size(), {});
    for (std::size_t n = 0; n < routines.size(); ++n) {
        for (std::uint16_t stack : routines[n].arguments)
            if (stack >= stacks.size()) refuse("a routine uses a stack that is not there");
        for (std::uint16_t stack : routines[n].results)
            if (stack >= stacks.size()) refuse("a routine uses a stack that is not there");
        match_blocks(routines[n].items, routine_jumps[n]);
    }
}

void match_blocks(Items items, std::vector<Jump> &jumps) {
    const auto size = static_cast<std::uint32_t>(items.size());
    jumps.assign(size, Jump{size, size});
    std::vector<std::uint32_t> open;
    for (std::uint32_t at = 0; at < size; ++at) {
        switch (items[at].kind) {
            case Kind::If:
            case Kind::Repeat:
            case Kind::While: open.push_back(at); break;
            case Kind::Else:
                // The first one of an innermost `if` counts.
                if (!open.empty() && items[open.back()].kind == Kind::If &&
                    jumps[open.back()].other == size)
                    jumps[open.back()].other = at;
                break;
            case Kind::End:
                if (!open.empty()) {
                    Jump &jump = jumps[open.back()];
                    jump.end = at;
                    if (jump.other == size) jump.other = at;
                    open.pop_back();
                }
                break;
            default: break;
        }
    }
}

}  // namespace ptxkit::stack
