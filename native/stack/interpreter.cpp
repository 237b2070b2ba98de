#include "interpreter.hpp"

#include <algorithm>

namespace ptxkit::stack {

Outcome Interpreter::run(const Isa &isa, const Interface &interface, Items items, Report &report) {
    isa_ = &isa;
    interface_ = &interface;
    report_ = &report;
    outcome_ = {};
    graph.clear(items.size());
    if (stacks_.size() != isa.stacks.size()) stacks_.resize(isa.stacks.size());
    for (Stack &stack : stacks_) {
        stack.values.clear();
        stack.base = 0;
    }
    slots_.assign(isa.stacks.size() * kSlots, kNone);
    inputs_.assign(interface.inputs.size(), {});
    matched_ = false;
    guard_ = kNone;
    if (folds_ != isa.folds) {
        machine_.reset();
        folds_ = isa.folds;
    }
    const Code code{items, nullptr, kNone, nullptr, 0};
    range(code, 0, static_cast<std::uint32_t>(items.size()), 0);
    report.reused = graph.reused;
    if (outcome_.status == Status::StepLimit || outcome_.status == Status::NestingLimit) {
        report.limit = static_cast<std::uint32_t>(outcome_.status);
        // A routine that was cut short leaves its frame; the caller's values are still below.
        for (Stack &stack : stacks_) stack.base = 0;
        if (!interface.strict) outcome_ = {};
    }
    return outcome_;
}

std::uint32_t Interpreter::on_stack(std::uint16_t stack, std::uint32_t depth) const {
    const std::vector<std::uint32_t> &values = stacks_[stack].values;
    return depth < values.size() ? values[values.size() - 1 - depth] : kNone;
}

std::uint32_t Interpreter::in_slot(std::uint16_t stack, std::uint32_t slot) const {
    return slots_[std::size_t{stack} * kSlots + slot];
}

bool Interpreter::stop(Status status, const Code &code, std::uint32_t at, std::uint32_t detail) {
    outcome_ = {status, at, code.routine, detail};
    return false;
}

// False when the program stops here.
bool Interpreter::range(const Code &code, std::uint32_t begin, std::uint32_t end,
                        unsigned nesting) {
    const Item *const items = code.items.data();
    const Shape *const shapes = isa_->shapes.data();
    const std::size_t rows = isa_->shapes.size(), inputs = inputs_.size();
    // What most items are comes first, and counts its steps in a register.
    std::uint32_t left = interface_->limits.steps - report_->steps;
    const auto count = [&] { report_->steps = interface_->limits.steps - left; };
    for (std::uint32_t at = begin; at < end; ++at) {
        const Item &item = items[at];
        if (left-- == 0) {
            left = 0;
            count();
            return stop(Status::StepLimit, code, at);
        }
        if (item.kind == Kind::Instruction && item.guard == 0 && item.index < rows) {
            const Shape &shape = shapes[item.index];
            if (shape.simple) simple(item.index, shape);
            else instruction(item);
        } else if (item.kind == Kind::Input && item.guard == 0 && item.index < inputs) {
            push_input(item.index);
        } else {
            count();
            if (!other(code, at, nesting)) return false;
            left = interface_->limits.steps - report_->steps;
        }
    }
    count();
    return true;
}

// Any item; `at` moves to the end of the block it opens.
bool Interpreter::other(const Code &code, std::uint32_t &at, unsigned nesting) {
    const Item &item = code.items[at];
    if (item.kind == Kind::If || item.kind == Kind::Repeat || item.kind == Kind::While) {
        const std::vector<Jump> *jumps = code.jumps;
        if (jumps == nullptr) {
            if (!matched_) match_blocks(code.items, jumps_);
            matched_ = true;
            jumps = &jumps_;
        }
        const Jump jump = (*jumps)[at];
        if (!block(code, at, jump, nesting)) return false;
        at = jump.end;
        return true;
    }
    if ((item.guard & kGuarded) && item.kind != Kind::Else && item.kind != Kind::End)
        return guarded(code, at, nesting);
    return one(code, at, nesting);
}

inline void Interpreter::push_input(std::uint32_t number) {
    Pushed &input = inputs_[number];
    if (input.node == kNone) [[unlikely]] {
        input.stack = interface_->inputs[number].stack;
        input.node = graph.append({number, input.stack, NodeKind::Input, 0}, 0);
    }
    stacks_[input.stack].values.push_back(input.node);
}

// A pure instruction of one result with few arguments, all from one stack.
inline void Interpreter::simple(std::uint32_t number, const Shape &shape) {
    Stack &stack = stacks_[shape.argument_stack[0]];
    std::vector<std::uint32_t> &values = stack.values;
    const std::uint8_t count = shape.arguments;
    if (stack.depth() < count) {
        ++report_->idle;
        return;
    }
    ++report_->executed;
    Node &node = graph.nodes.spare(shape.tag, 0);
    const std::uint32_t *const arguments = values.data() + values.size() - count;
    node.few[0] = arguments[0];
    if (count > 1) node.few[1] = arguments[1];
    if (count > 2) node.few[2] = arguments[2];
    values.resize(values.size() - count);
    std::uint32_t made;
    if (shape.foldable && is_constant(node.few[0]) && fold(number, node.few)) [[unlikely]] {
        made = results_[0];
    } else {
        if (shape.commutes && node.few[0] > node.few[1]) std::swap(node.few[0], node.few[1]);
        made = graph.intern(node);
        graph.reused += !graph.fresh;
    }
    stacks_[shape.result_stack[0]].values.push_back(made);
}

// One item that opens no block, whatever its guard says.
bool Interpreter::one(const Code &code, std::uint32_t at, unsigned nesting) {
    const Item &item = code.items[at];
    switch (item.kind) {
        case Kind::Nothing:
        case Kind::Else:
        case Kind::End: ++report_->idle; return true;
        case Kind::Instruction:
            if (item.index >= isa_->rows.size()) return stop(Status::UnknownRow, code, at);
            instruction(item);
            return true;
        case Kind::Constant: {
            if (item.stack >= stacks_.size()) return stop(Status::UnknownStack, code, at);
            const unsigned width = isa_->stacks[item.stack].width;
            if (width < 64 && item.payload >> width)
                return stop(Status::ConstantTooWide, code, at);
            stacks_[item.stack].values.push_back(graph.constant(item.stack, item.payload));
            return true;
        }
        case Kind::Input: {
            if (item.index >= interface_->inputs.size())
                return stop(Status::UnknownInput, code, at);
            push_input(item.index);
            return true;
        }
        case Kind::Argument: {
            if (item.index >= code.argument_count) return stop(Status::UnknownArgument, code, at);
            const std::uint32_t value = code.arguments[item.index];
            stacks_[graph.nodes[value].stack].values.push_back(value);
            return true;
        }
        case Kind::Call:
            if (item.index >= isa_->routines.size())
                return stop(Status::UnknownRoutine, code, at);
            if (nesting >= interface_->limits.nesting)
                return stop(Status::NestingLimit, code, at);
            return call(item.index, nesting + 1);
        case Kind::Count:
        case Kind::If:
        case Kind::Repeat:
        case Kind::While: break;
        default:
            if (item.kind > Kind::Count) break;
            if (item.stack >= stacks_.size()) return stop(Status::UnknownStack, code, at);
            if ((item.kind == Kind::ToSlot || item.kind == Kind::FromSlot) &&
                item.index >= kSlots)
                return stop(Status::UnknownSlot, code, at);
            if (!meta(item)) ++report_->idle;
            return true;
    }
    return stop(Status::UnknownItem, code, at, static_cast<std::uint32_t>(item.kind));
}

// False where the stack does not hold enough.
bool Interpreter::meta(const Item &item) {
    Stack &stack = stacks_[item.stack];
    std::vector<std::uint32_t> &values = stack.values;
    std::uint32_t &slot = slots_[std::size_t{item.stack} * kSlots + item.index % kSlots];
    const std::uint32_t depth = stack.depth();
    const std::uint64_t index = item.index;
    if (item.kind == Kind::FromSlot) {
        if (slot == kNone) return false;
        values.push_back(slot);
        return true;
    }
    if (item.kind == Kind::Clear) {
        values.resize(stack.base);
        return depth != 0;
    }
    if (depth == 0) return false;
    const auto end = values.end();
    switch (item.kind) {
        case Kind::Dup:
            if (index >= depth) return false;
            values.push_back(stack.at(item.index));
            return true;
        case Kind::Swap:
            if (index + 1 >= depth) return false;
            std::swap(stack.at(0), stack.at(item.index + 1));
            return true;
        case Kind::Drop: values.pop_back(); return true;
        case Kind::Yank:
            if (index >= depth) return false;
            std::rotate(end - 1 - item.index, end - item.index, end);
            return true;
        case Kind::Rotate:
            if (index >= depth) return false;
            std::rotate(end - 1 - item.index, end - 1, end);
            return true;
        case Kind::Reverse: std::reverse(values.begin() + stack.base, end); return true;
        case Kind::Replace:
            if (index + 1 >= depth) return false;
            stack.at(item.index + 1) = values.back();
            values.pop_back();
            return true;
        case Kind::ToSlot:
            slot = values.back();
            values.pop_back();
            return true;
        default: return false;
    }
}

bool Interpreter::instruction(const Item &item) {
    const Shape &shape = isa_->shapes[item.index];
    for (std::uint8_t n = 0; n < shape.needs; ++n)
        if (stacks_[shape.need_stack[n]].depth() < shape.need_count[n]) {
            ++report_->idle;
            return false;
        }
    std::uint32_t arguments[kMostOperands + 1];
    for (std::uint8_t n = shape.arguments; n-- > 0;) {
        std::vector<std::uint32_t> &values = stacks_[shape.argument_stack[n]].values;
        arguments[n] = values.back();
        values.pop_back();
    }
    ++report_->executed;
    std::uint64_t payload = 0;
    if (shape.immediate) {
        const Row &row = isa_->rows[item.index];
        payload = row.lowest + item.payload % row.span;
    }
    apply(item.index, payload, arguments);
    for (std::uint8_t n = 0; n < shape.results; ++n)
        stacks_[shape.result_stack[n]].values.push_back(results_[n]);
    return true;
}

// Make the node of an instruction, or find the value it has; results_ receives its results.
std::uint32_t Interpreter::apply(std::uint32_t number, std::uint64_t payload,
                                 std::uint32_t *arguments) {
    const Shape &shape = isa_->shapes[number];
    if (shape.pure) {
        if (shape.foldable && is_constant(arguments[0]) && fold(number, arguments))
            return results_[0];
        if (shape.commutes && arguments[0] > arguments[1]) std::swap(arguments[0], arguments[1]);
        results_[0] = graph.intern(shape.tag, payload, arguments);
        graph.reused += !graph.fresh;
    } else {
        append_impure(number, payload, arguments);
    }
    // Further results follow their instruction.
    for (std::uint8_t n = 1; n < shape.results; ++n)
        results_[n] = graph.fresh ? graph.append({results_[0], shape.result_stack[n],
                                                  NodeKind::Result, 0}, n)
                                  : results_[0] + n;
    return results_[0];
}

// Compute with constants; false where that can't be.
bool Interpreter::fold(std::uint32_t number, const std::uint32_t *arguments) {
    const Row &row = isa_->rows[number];
    std::uint64_t in[kMostOperands], out[kMostOperands];
    for (std::size_t n = 0; n < row.arguments.size(); ++n) {
        if (!is_constant(arguments[n])) return false;
        in[n] = graph.nodes[arguments[n]].payload;
    }
    if (!machine_) machine_ = std::make_unique<FoldMachine>(*folds_);
    if (!machine_->run(row.fold, in, out)) return false;
    for (std::size_t n = 0; n < row.results.size(); ++n)
        results_[n] = graph.constant(row.results[n], out[n]);
    ++report_->folded;
    return true;
}

void Interpreter::append_impure(std::uint32_t number, std::uint64_t payload,
                                std::uint32_t *arguments) {
    const Row &row = isa_->rows[number];
    Tag tag = isa_->shapes[number].tag;
    const bool conditional = row.guardable && guard_ != kNone;
    graph.fresh = true;
    // Under a condition that never holds, it is there but never executed: still a node, so
    // that further results follow it.
    const bool guarded = conditional && !(is_constant(guard_) && graph.nodes[guard_].payload);
    if (guarded) arguments[tag.count++] = guard_;
    results_[0] = graph.append(tag, payload, arguments);
    graph.nodes[results_[0]].guarded = guarded;
    if (row.effect == Effect::Kept) graph.kept.push_back(results_[0]);
}

std::uint32_t Interpreter::logic(std::uint32_t row, std::uint32_t a, std::uint32_t b) {
    std::uint32_t arguments[kMostOperands + 1] = {a, b};
    return apply(row, 0, arguments);
}

std::uint32_t Interpreter::negate(std::uint32_t predicate) {
    const Node &node = graph.nodes[predicate];
    if (node.kind == NodeKind::Instruction && node.row == isa_->not_row)
        return graph.arguments(node)[0];
    std::uint32_t arguments[kMostOperands + 1] = {predicate};
    return apply(isa_->not_row, 0, arguments);
}

// a where the condition holds, else b.
std::uint32_t Interpreter::choose(std::uint32_t condition, std::uint32_t a, std::uint32_t b) {
    if (a == b) return a;
    if (is_constant(condition)) return graph.nodes[condition].payload ? a : b;
    const std::uint16_t stack = graph.nodes[a].stack;
    if (stack == isa_->predicates) {
        const std::uint32_t left = logic(isa_->and_row, condition, a);
        const std::uint32_t right = logic(isa_->and_row, negate(condition), b);
        return logic(isa_->or_row, left, right);
    }
    std::uint32_t arguments[kMostOperands + 1] = {a, b, condition};
    return apply(isa_->stacks[stack].select, 0, arguments);
}

// ---- blocks ---------------------------------------------------------------------------------

Interpreter::Snapshot &Interpreter::snapshot(unsigned nesting, unsigned which) {
    const std::size_t at = std::size_t{nesting} * 2 + which;
    while (snapshots_.size() <= at) snapshots_.push_back(std::make_unique<Snapshot>());
    snapshots_[at]->stacks.resize(stacks_.size());
    return *snapshots_[at];
}

void Interpreter::save(Snapshot &snapshot) const {
    for (std::size_t n = 0; n < stacks_.size(); ++n)
        snapshot.stacks[n].assign(stacks_[n].values.begin() + stacks_[n].base,
                                  stacks_[n].values.end());
    snapshot.slots = slots_;
}

void Interpreter::exchange(Snapshot &snapshot) {
    for (std::size_t n = 0; n < stacks_.size(); ++n) {
        std::vector<std::uint32_t> &values = stacks_[n].values;
        std::vector<std::uint32_t> &other = snapshot.stacks[n];
        if (stacks_[n].base == 0) {
            values.swap(other);
            continue;
        }
        std::vector<std::uint32_t> mine(values.begin() + stacks_[n].base, values.end());
        values.resize(stacks_[n].base);
        values.insert(values.end(), other.begin(), other.end());
        other = std::move(mine);
    }
    slots_.swap(snapshot.slots);
}

// What is here is the state where the condition fails; `then` is the one where it holds.
// Stacks keep the depth of the shallower one; a slot is filled if both filled it.
void Interpreter::merge(std::uint32_t condition, const Snapshot &then) {
    for (std::size_t n = 0; n < stacks_.size(); ++n) {
        Stack &stack = stacks_[n];
        const std::vector<std::uint32_t> &other = then.stacks[n];
        const std::size_t depth = std::min<std::size_t>(stack.depth(), other.size());
        stack.values.resize(stack.base + depth);
        for (std::size_t at = 0; at < depth; ++at) {
            const std::uint32_t here = stack.values[stack.base + at];
            if (other[at] != here)
                stack.values[stack.base + at] = choose(condition, other[at], here);
        }
    }
    for (std::size_t n = 0; n < slots_.size(); ++n) {
        const std::uint32_t other = then.slots[n];
        if (slots_[n] == other) continue;
        slots_[n] = slots_[n] == kNone || other == kNone ? kNone
                                                          : choose(condition, other, slots_[n]);
    }
}

bool Interpreter::either(const Code &code, std::uint32_t condition, std::uint32_t then_begin,
                         std::uint32_t then_end, std::uint32_t else_begin,
                         std::uint32_t else_end, unsigned nesting, std::uint32_t *left) {
    const std::uint32_t outer = guard_;
    Snapshot &other = snapshot(nesting, 0);
    save(other);
    guard_ = outer == kNone ? condition : logic(isa_->and_row, outer, condition);
    if (!range(code, then_begin, then_end, nesting)) return false;
    if (left != nullptr) *left = take_predicate();
    exchange(other);  // now it holds what `then` left, and here is what was before
    if (else_begin < else_end) {
        const std::uint32_t inverse = negate(condition);
        guard_ = outer == kNone ? inverse : logic(isa_->and_row, outer, inverse);
        if (!range(code, else_begin, else_end, nesting)) return false;
    }
    guard_ = outer;
    merge(condition, other);
    return true;
}

bool Interpreter::block(const Code &code, std::uint32_t at, const Jump &jump, unsigned nesting) {
    const Item &item = code.items[at];
    if (nesting >= interface_->limits.nesting) return stop(Status::NestingLimit, code, at);
    std::uint32_t condition = kNone;
    if (item.kind != Kind::Repeat) {
        condition = take_predicate();
        if (condition == kNone) {
            ++report_->idle;
            return true;
        }
    }
    if (item.kind == Kind::If) {
        const std::uint32_t else_begin = jump.other < jump.end ? jump.other + 1 : jump.end;
        return either(code, condition, at + 1, jump.other, else_begin, jump.end, nesting + 1);
    }
    for (std::uint32_t turn = 0; turn < item.index; ++turn) {
        if (report_->steps >= interface_->limits.steps) return stop(Status::StepLimit, code, at);
        ++report_->steps;  // so that an empty block ends as well
        if (item.kind == Kind::Repeat) {
            if (!range(code, at + 1, jump.end, nesting + 1)) return false;
            continue;
        }
        // The predicate that the block leaves says where it runs once more.
        std::uint32_t next = kNone;
        if (!either(code, condition, at + 1, jump.end, jump.end, jump.end, nesting + 1, &next))
            return false;
        if (next == kNone) break;
        condition = logic(isa_->and_row, condition, next);
    }
    return true;
}

std::uint32_t Interpreter::take_predicate() {
    Stack &predicates = stacks_[isa_->predicates];
    if (predicates.depth() == 0) return kNone;
    const std::uint32_t found = predicates.values.back();
    predicates.values.pop_back();
    return found;
}

// A guarded item is an `if` around it.
bool Interpreter::guarded(const Code &code, std::uint32_t at, unsigned nesting) {
    std::uint32_t condition = take_predicate();
    if (condition == kNone) {
        ++report_->idle;
        return true;
    }
    if (code.items[at].guard & kNegated) condition = negate(condition);
    if (nesting >= interface_->limits.nesting) return stop(Status::NestingLimit, code, at);
    const std::uint32_t outer = guard_;
    guard_ = outer == kNone ? condition : logic(isa_->and_row, outer, condition);
    Snapshot &other = snapshot(nesting + 1, 0);
    save(other);
    if (!one(code, at, nesting + 1)) return false;
    exchange(other);
    guard_ = outer;
    merge(condition, other);
    return true;
}

bool Interpreter::call(std::uint32_t number, unsigned nesting) {
    const Routine &routine = isa_->routines[number];
    Code code{routine.items, &isa_->routine_jumps[number], number, nullptr, 0};
    const auto size = static_cast<std::uint32_t>(routine.items.size());
    if (!routine.closed) return range(code, 0, size, nesting);
    std::vector<std::uint32_t> counts(stacks_.size(), 0), bases(stacks_.size());
    for (std::uint16_t stack : routine.arguments)
        if (++counts[stack] > stacks_[stack].depth()) {
            ++report_->idle;
            return true;
        }
    // The arguments are the bottom of the routine's own stacks.
    std::vector<std::uint32_t> arguments(routine.arguments.size());
    for (std::size_t n = 0; n < stacks_.size(); ++n) {
        bases[n] = stacks_[n].base;
        stacks_[n].base = static_cast<std::uint32_t>(stacks_[n].values.size()) - counts[n];
        counts[n] = 0;
    }
    for (std::size_t n = 0; n < arguments.size(); ++n) {
        const Stack &stack = stacks_[routine.arguments[n]];
        arguments[n] = stack.values[stack.base + counts[routine.arguments[n]]++];
    }
    code.arguments = arguments.data();
    code.argument_count = static_cast<std::uint32_t>(arguments.size());
    if (!range(code, 0, size, nesting)) return false;
    if (!routine.gives_all) {
        std::fill(counts.begin(), counts.end(), 0);
        for (std::uint16_t stack : routine.results) ++counts[stack];
        for (std::size_t n = 0; n < stacks_.size(); ++n) {
            std::vector<std::uint32_t> &values = stacks_[n].values;
            const std::uint32_t given = std::min(counts[n], stacks_[n].depth());
            values.erase(values.begin() + stacks_[n].base, values.end() - given);
        }
    }
    for (std::size_t n = 0; n < stacks_.size(); ++n) stacks_[n].base = bases[n];
    return true;
}

}  // namespace ptxkit::stack
