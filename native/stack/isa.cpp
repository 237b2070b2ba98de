#include "isa.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ptxkit::stack {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw std::invalid_argument(message); }

// See Shape::head.
std::uint8_t head_of(const Row &row) {
    const std::vector<Piece> &pieces = row.pieces;
    const std::size_t operands = row.arguments.size() + 1;
    if (row.results.size() != 1 || row.separate || pieces.size() != operands + 1) return 0;
    for (std::size_t n = 0; n < operands; ++n)
        if (pieces[n].operand != n || (n != 0 && pieces[n].text != ", ")) return 0;
    if (pieces[operands].operand != kNoOperand || pieces[operands].text != ";") return 0;
    const std::size_t head = pieces[0].text.size() + 1;  // a tab stands before it
    return head < 256 ? static_cast<std::uint8_t>(head) : std::uint8_t{0};
}

Shape shape_of(const Row &row, std::size_t stacks) {
    const auto check = [&](std::size_t stack) {
        if (stack >= stacks) refuse("'" + row.name + "' uses a stack that is not there");
        return static_cast<std::uint8_t>(stack);
    };
    const std::size_t operands = row.results.size() + row.arguments.size();
    if (operands > kMostOperands) refuse("the instruction '" + row.name + "' has too many operands");
    Shape shape;
    for (const Argument &argument : row.arguments) {
        const std::uint8_t stack = check(argument.stack);
        shape.argument_stack[shape.arguments++] = stack;
        std::uint8_t at = 0;
        while (at < shape.needs && shape.need_stack[at] != stack) ++at;
        if (at == kMostNeeds) refuse("'" + row.name + "' takes from more than four stacks");
        if (at == shape.needs) shape.need_stack[shape.needs++] = stack;
        ++shape.need_count[at];
    }
    for (std::uint16_t result : row.results) shape.result_stack[shape.results++] = check(result);
    for (const Piece &piece : row.pieces)
        if (piece.operand < kImmediate && piece.operand >= operands)
            refuse("the text of '" + row.name + "' names an operand that is not there");
    if (row.commutes && row.arguments.size() < 2)
        refuse("'" + row.name + "' has no two arguments to exchange");
    shape.pure = row.effect == Effect::Pure;
    if (shape.pure && row.results.empty())
        refuse("the pure instruction '" + row.name + "' has no result");
    shape.commutes = row.commutes;
    shape.immediate = row.span != 0;
    shape.separate = row.separate;
    shape.foldable = row.fold.is_set() && row.fold.exact && !row.arguments.empty();
    shape.simple = shape.pure && shape.results == 1 && !shape.immediate && shape.needs == 1 &&
                   shape.arguments <= kFewArguments;
    shape.head = head_of(row);
    return shape;
}

}  // namespace

void Isa::finish() {
    if (stacks.empty() || stacks.size() > kMostStacks) refuse("there must be 1 to 32 stacks");
    if (predicates >= stacks.size()) refuse("there is no stack of predicates");
    class_types.clear();
    classes.clear();
    for (StackType &stack : stacks) {
        if (&stack != &stacks[predicates] && stack.select >= rows.size())
            refuse("the select of '" + stack.name + "' is not there");
        auto found = std::find(class_types.begin(), class_types.end(), stack.register_type);
        classes.push_back(static_cast<std::uint8_t>(found - class_types.begin()));
        if (found == class_types.end()) class_types.push_back(stack.register_type);
    }
    for (std::uint32_t row : {and_row, or_row, not_row})
        if (row >= rows.size()) refuse("the logic of predicates is not there");
    shapes.clear();
    segments.clear();
    text.clear();
    for (const Row &row : rows) {
        Shape shape = shape_of(row, stacks.size());
        shape.first_segment = static_cast<std::uint32_t>(segments.size());
        shape.text = static_cast<std::uint32_t>(text.size());
        shape.tag = {static_cast<std::uint32_t>(shapes.size()), shape.result_stack[0],
                     NodeKind::Instruction, shape.arguments};
        const auto add = [&](const char *data, std::size_t size, std::uint8_t operand) {
            segments.push_back({static_cast<std::uint32_t>(text.size()),
                                static_cast<std::uint8_t>(size), operand});
            text.insert(text.end(), data, data + size);
            text.resize(text.size() + kChunk - size, ' ');
        };
        for (std::size_t n = 0; n < row.pieces.size(); ++n) {
            std::string whole(n == 0 ? "\t" : "");
            whole.append(row.pieces[n].text).append(n + 1 == row.pieces.size() ? "\n" : "");
            std::size_t at = 0;
            for (; whole.size() - at > kChunk; at += kChunk)
                add(whole.data() + at, kChunk, kNoOperand);
            add(whole.data() + at, whole.size() - at, row.pieces[n].operand);
        }
        const std::size_t count = segments.size() - shape.first_segment;
        if (count == 0 || count > 4096) refuse("the text of '" + row.name + "' is too long");
        shape.segments = static_cast<std::uint16_t>(count);
        shape.longest = static_cast<std::uint32_t>(count * kChunk);
        shapes.push_back(shape);
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
