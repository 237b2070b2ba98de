#include "compiler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace ptxkit::stack {

namespace {

constexpr std::uint32_t kForever = 0xFFFFFFFEu;  // used after the last instruction
constexpr std::size_t kLongestNumber = 24;
constexpr std::size_t kLongestPrefix = 12;

constexpr std::array<char, 200> kPairs = [] {
    std::array<char, 200> pairs{};
    for (unsigned n = 0; n < 100; ++n) {
        pairs[2 * n] = static_cast<char>('0' + n / 10);
        pairs[2 * n + 1] = static_cast<char>('0' + n % 10);
    }
    return pairs;
}();

}  // namespace

void Writer::number(std::uint64_t value) {
    if (value < 10) return byte(static_cast<char>('0' + value));
    if (value < 100) return text(&kPairs[2 * value], 2);
    char digits[kLongestNumber];
    std::size_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        std::memcpy(digits + at, &kPairs[2 * (value % 100)], 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        std::memcpy(digits + at, &kPairs[2 * value], 2);
    } else {
        digits[--at] = static_cast<char>('0' + value);
    }
    text(digits + at, sizeof digits - at);
}

void Writer::hex(std::uint64_t value, unsigned digits) {
    for (unsigned n = digits; n-- > 0;) byte("0123456789ABCDEF"[value >> (4 * n) & 15]);
}

void finish(const Isa &isa, Interface &interface) {
    for (const Input &input : interface.inputs)
        if (input.stack >= isa.stacks.size()) throw std::invalid_argument("no such stack");
    for (Output &output : interface.outputs) {
        if (output.stack >= isa.stacks.size()) throw std::invalid_argument("no such stack");
        if (output.slot != kNone && output.slot >= kSlots)
            throw std::invalid_argument("no such slot");
        output.aliased = kNone;
        for (std::size_t n = 0; n < interface.inputs.size(); ++n)
            if (interface.inputs[n].text == output.text)
                output.aliased = static_cast<std::uint32_t>(n);
    }
    if (interface.prefixes.size() != isa.class_types.size())
        throw std::invalid_argument("a register prefix for each class is needed");
    interface.longest = kLongestPrefix + kLongestNumber;
    for (const Input &input : interface.inputs)
        interface.longest = std::max(interface.longest, input.text.size());
    for (const Output &output : interface.outputs)
        interface.longest = std::max(interface.longest, output.text.size());
    interface.opening.clear();
    for (std::size_t n = 0; n < interface.prefixes.size(); ++n) {
        if (interface.prefixes[n].size() > kLongestPrefix) throw std::invalid_argument("a prefix is too long");
        interface.opening.push_back("\t.reg ." + isa.class_types[n] + " " + interface.prefixes[n] +
                                    "<");
    }
}

Outcome Compiler::compile(const Isa &isa, const Interface &interface, Items items, Report &report,
                          std::vector<char> &out, std::size_t &used) {
    isa_ = &isa;
    interface_ = &interface;
    Outcome outcome = interpreter_.run(isa, interface, items, report);
    if (outcome.status != Status::Fine) return outcome;
    outcome = gather(report);
    if (outcome.status != Status::Fine) return outcome;
    mark_needed();
    settle_outputs();

    // The declarations come first but are known last: room is left for them.
    std::size_t room = 16;
    for (const std::string &opening : interface.opening) room += opening.size() + kLongestNumber;
    Writer writer(out);
    writer.start_at(used);
    writer.reserve(room + 64);
    writer.start_at(used + room);
    write_body(writer, report);
    write_outputs(writer, report);
    writer.reserve(8);
    writer.text("}\n", 2);
    const std::size_t begin = write_declarations(out, used + room);
    // The stub begins where it should: the gap is closed.
    std::memmove(out.data() + used, out.data() + begin, writer.used() - begin);
    used += writer.used() - begin;
    for (std::uint32_t count : taken_) report.registers += count;
    return outcome;
}

// The value of every output. Outputs of one stack are its topmost values in their order.
Outcome Compiler::gather(Report &report) {
    const std::vector<Output> &outputs = interface_->outputs;
    values_.assign(outputs.size(), kNone);
    std::uint32_t taken[kMostStacks] = {};
    std::uint32_t missing = kNone;
    for (std::size_t n = outputs.size(); n-- > 0;) {
        const Output &output = outputs[n];
        values_[n] = output.slot == kNone
                         ? interpreter_.on_stack(output.stack, taken[output.stack]++)
                         : interpreter_.in_slot(output.stack, output.slot);
        if (values_[n] != kNone) continue;
        missing = static_cast<std::uint32_t>(n);
        ++report.missing;
        if (interface_->missing == Missing::Zero)
            values_[n] = interpreter_.graph.constant(output.stack, 0);
    }
    if (missing != kNone && interface_->missing == Missing::Error)
        return {Status::MissingOutput, 0, kNone, missing};
    return {};
}

bool Compiler::stands_as_literal(const Argument &argument, const Node &node) const {
    return argument.literal && node.payload <= argument.largest;
}

// From the last node to the first: what is needed, and where it is used last.
void Compiler::mark_needed() {
    Graph &graph = interpreter_.graph;
    std::vector<Node> &nodes = graph.nodes;
    input_needed_.assign(interface_->inputs.size(), false);
    for (std::uint32_t value : values_)
        if (value != kNone) nodes[value].last_use = kForever;
    for (std::uint32_t kept : graph.kept)
        if (nodes[kept].last_use == kNone) nodes[kept].last_use = kept;
    for (auto at = static_cast<std::uint32_t>(nodes.size()); at-- > 0;) {
        const Node &node = nodes[at];
        if (node.last_use == kNone) continue;
        if (node.kind == NodeKind::Input) {
            input_needed_[node.row] = true;
        } else if (node.kind == NodeKind::Result) {
            if (nodes[node.row].last_use == kNone) nodes[node.row].last_use = node.row;
        } else if (node.kind == NodeKind::Instruction) {
            const Row &row = isa_->rows[node.row];
            const std::uint32_t *arguments = graph.arguments(node);
            for (std::uint8_t n = 0; n < node.count; ++n) {
                Node &argument = nodes[arguments[n]];
                if (argument.last_use == kNone) argument.last_use = at;
                if (argument.kind == NodeKind::Constant &&
                    (n >= row.arguments.size() || !stands_as_literal(row.arguments[n], argument)))
                    argument.in_register = true;
            }
        }
    }
}

// A value is computed right into its output's register, unless the program reads that one.
void Compiler::settle_outputs() {
    std::vector<Node> &nodes = interpreter_.graph.nodes;
    moves_.clear();
    for (std::uint32_t n = 0; n < values_.size(); ++n) {
        const std::uint32_t value = values_[n];
        if (value == kNone) continue;
        const Output &output = interface_->outputs[n];
        Node &node = nodes[value];
        const bool is_read = output.aliased != kNone && input_needed_[output.aliased];
        const bool computed = node.kind == NodeKind::Instruction || node.kind == NodeKind::Result;
        if (computed && !is_read && node.place == kNone) node.place = kFixed | n;
        else moves_.push_back({n, value});
    }
}

void Compiler::take_register(Node &node) {
    if (node.place != kNone) return;
    const std::uint8_t kind = isa_->classes[node.stack];
    std::vector<std::uint32_t> &unused = free_[kind];
    if (unused.empty()) {
        node.place = taken_[kind]++;
    } else {
        node.place = unused.back();
        unused.pop_back();
    }
}

// At the last use of a value its register is free again.
void Compiler::give_back(Node &node, std::uint32_t at) {
    if (node.last_use != at || node.place == kNone || (node.place & kFixed)) return;
    free_[isa_->classes[node.stack]].push_back(node.place);
    node.last_use = kNone;  // once, though it may be an argument twice
}

void Compiler::write_literal(Writer &writer, std::uint16_t stack, std::uint64_t bits) {
    switch (isa_->stacks[stack].literal) {
        case Literal::Float32:
            writer.text("0f", 2);
            return writer.hex(bits, 8);
        case Literal::Float64:
            writer.text("0d", 2);
            return writer.hex(bits, 16);
        case Literal::Bits:
            writer.text("0x", 2);
            return writer.hex(bits, isa_->stacks[stack].width / 4u);
        case Literal::Integer:
            // PTX has no unsigned decimal of 64 bits without a suffix.
            if (bits >> 63) {
                writer.text("0x", 2);
                return writer.hex(bits, 16);
            }
            return writer.number(bits);
        case Literal::Predicate: return writer.number(bits);
    }
}

void Compiler::write_place(Writer &writer, const Node &node) {
    if (node.place & kFixed) return writer.text(interface_->outputs[node.place & ~kFixed].text);
    const std::string &prefix = interface_->prefixes[isa_->classes[node.stack]];
    writer.text(prefix);
    writer.number(node.place);
}

void Compiler::write_operand(Writer &writer, std::uint32_t at) {
    const Node &node = interpreter_.graph.nodes[at];
    if (node.place != kNone) write_place(writer, node);
    else if (node.kind == NodeKind::Input) writer.text(interface_->inputs[node.row].text);
    else write_literal(writer, node.stack, node.payload);
}

void Compiler::write_constant(Writer &writer, const Node &node) {
    writer.reserve(2 * interface_->longest + 64);
    writer.byte('\t');
    writer.text(isa_->stacks[node.stack].move);
    writer.byte(' ');
    write_place(writer, node);
    writer.text(", ", 2);
    write_literal(writer, node.stack, node.payload);
    writer.text(";\n", 2);
}

void Compiler::write_instruction(Writer &writer, std::uint32_t at) {
    Graph &graph = interpreter_.graph;
    std::vector<Node> &nodes = graph.nodes;
    const Node node = nodes[at];
    const Row &row = isa_->rows[node.row];
    const std::uint32_t *arguments = graph.arguments(node);
    const auto results = static_cast<std::uint32_t>(row.results.size());
    // Operands as they are now: a result may take over the register of an argument.
    struct Shown {
        std::uint32_t node;
        bool literal;
    } shown[kMostOperands];
    for (std::uint32_t n = 0; n < results; ++n) shown[n] = {at + n, false};
    for (std::uint32_t n = 0; n < row.arguments.size(); ++n) {
        const Node &argument = nodes[arguments[n]];
        const bool literal = argument.kind == NodeKind::Constant &&
                             stands_as_literal(row.arguments[n], argument);
        shown[results + n] = {arguments[n], literal};
    }
    const bool separate = row.separate || node.guarded;
    if (separate)
        for (std::uint32_t n = 0; n < results; ++n) take_register(nodes[at + n]);
    for (std::uint8_t n = 0; n < node.count; ++n) give_back(nodes[arguments[n]], at);
    if (!separate)
        for (std::uint32_t n = 0; n < results; ++n) take_register(nodes[at + n]);

    writer.reserve(row.text.size() + (row.pieces.size() + 2) * interface_->longest +
                   results * (interface_->longest + 64) + 64);
    if (node.guarded) {
        // Where the guard does not hold, results are zero.
        for (std::uint32_t n = 0; n < results; ++n) {
            writer.byte('\t');
            writer.text(isa_->stacks[row.results[n]].move);
            writer.byte(' ');
            write_place(writer, nodes[at + n]);
            writer.text(", ", 2);
            write_literal(writer, row.results[n], 0);
            writer.text(";\n", 2);
        }
        writer.text("\t@", 2);
        write_operand(writer, arguments[node.count - 1]);
        writer.byte(' ');
    } else {
        writer.byte('\t');
    }
    for (const Piece &piece : row.pieces) {
        writer.text(row.text.data() + piece.begin, piece.length);
        if (piece.operand < kImmediate) {
            const Shown &one = shown[piece.operand];
            if (one.literal) write_literal(writer, nodes[one.node].stack, nodes[one.node].payload);
            else write_operand(writer, one.node);
        } else if (piece.operand == kImmediate) {
            writer.number(node.payload);
        }
    }
    writer.byte('\n');
    // Results that nobody needs give their registers back at once.
    for (std::uint32_t n = 0; n < results; ++n) {
        Node &result = nodes[at + n];
        if (n == 0 ? result.last_use == at : result.last_use == kNone) {
            result.last_use = at;
            give_back(result, at);
        }
    }
}

void Compiler::write_body(Writer &writer, Report &report) {
    std::vector<Node> &nodes = interpreter_.graph.nodes;
    const std::size_t classes = isa_->class_types.size();
    if (free_.size() < classes) free_.resize(classes);
    for (std::vector<std::uint32_t> &unused : free_) unused.clear();
    taken_.assign(classes, 0);
    const auto count = static_cast<std::uint32_t>(nodes.size());
    for (std::uint32_t at = 0; at < count; ++at) {
        Node &node = nodes[at];
        if (node.last_use == kNone) continue;
        if (node.kind == NodeKind::Instruction) {
            write_instruction(writer, at);
            ++report.emitted;
        } else if (node.kind == NodeKind::Constant && node.in_register) {
            take_register(node);
            write_constant(writer, node);
            ++report.moves;
        }
    }
}

void Compiler::write_move(Writer &writer, std::uint32_t output, std::uint32_t value) {
    const Output &to = interface_->outputs[output];
    writer.reserve(2 * interface_->longest + 64);
    writer.byte('\t');
    writer.text(isa_->stacks[to.stack].move);
    writer.byte(' ');
    writer.text(to.text);
    writer.text(", ", 2);
    write_operand(writer, value);
    writer.text(";\n", 2);
}

// All moves to outputs happen at once: none may overwrite what another one still reads.
void Compiler::write_outputs(Writer &writer, Report &report) {
    std::vector<Node> &nodes = interpreter_.graph.nodes;
    const auto is_self = [&](const Move &move) {
        const Node &node = nodes[move.value];
        return node.kind == NodeKind::Input && interface_->outputs[move.output].aliased == node.row;
    };
    std::erase_if(moves_, is_self);
    const auto blocked = [&](const Move &move) {
        const std::uint32_t overwritten = interface_->outputs[move.output].aliased;
        if (overwritten == kNone) return false;
        return std::any_of(moves_.begin(), moves_.end(), [&](const Move &other) {
            const Node &node = nodes[other.value];
            return node.kind == NodeKind::Input && node.place == kNone && node.row == overwritten;
        });
    };
    while (!moves_.empty()) {
        const std::size_t before = moves_.size();
        for (std::size_t n = 0; n < moves_.size();) {
            if (blocked(moves_[n])) {
                ++n;
                continue;
            }
            write_move(writer, moves_[n].output, moves_[n].value);
            ++report.moves;
            moves_.erase(moves_.begin() + static_cast<std::ptrdiff_t>(n));
        }
        if (moves_.size() < before || moves_.empty()) continue;
        // A ring: one of its values waits in a register of its own.
        Node &node = nodes[moves_.front().value];
        const std::string &from = interface_->inputs[node.row].text;
        take_register(node);
        writer.reserve(2 * interface_->longest + 64);
        writer.byte('\t');
        writer.text(isa_->stacks[node.stack].move);
        writer.byte(' ');
        write_place(writer, node);
        writer.text(", ", 2);
        writer.text(from);
        writer.text(";\n", 2);
        ++report.moves;
    }
}

// Right before the body; gives the place where they begin.
std::size_t Compiler::write_declarations(std::vector<char> &out, std::size_t body) {
    Writer writer(head_);
    writer.reserve(body);  // no longer than the room before the body
    writer.text("{\n", 2);
    for (std::size_t n = 0; n < taken_.size(); ++n) {
        if (taken_[n] == 0) continue;
        writer.text(interface_->opening[n]);
        writer.number(taken_[n]);
        writer.text(">;\n", 3);
    }
    const std::size_t begin = body - writer.used();
    std::memcpy(out.data() + begin, head_.data(), writer.used());
    return begin;
}

void compile_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                  unsigned threads, std::vector<Part> &parts, std::vector<Report> &reports,
                  std::vector<Outcome> &outcomes) {
    constexpr std::size_t kShare = 64;  // programs a thread takes at a time
    const std::size_t count = programs.size();
    parts.resize((count + kShare - 1) / kShare);
    reports.assign(count, {});
    outcomes.assign(count, {});
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto share = [&] {
        Compiler compiler;
        for (std::size_t n = next++; n < parts.size(); n = next++) {
            Part &part = parts[n];
            part.first = n * kShare;
            const std::size_t end = std::min(count, part.first + kShare);
            std::size_t used = 0;
            for (std::size_t at = part.first; at < end; ++at) {
                outcomes[at] = compiler.compile(isa, interface, programs[at], reports[at],
                                                part.text, used);
                part.ends.push_back(used);
            }
        }
    };
    const auto work = [&] {
        try {
            share();
        } catch (...) {  // out of memory; the caller's thread tells
            const std::lock_guard<std::mutex> guard(failure_lock);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, threads), parts.size());
    for (std::size_t n = 1; n < wanted; ++n) others.emplace_back(work);
    work();
    for (std::thread &other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ptxkit::stack
