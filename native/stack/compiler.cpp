#include "compiler.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace ptxkit::stack {

namespace {

constexpr std::uint32_t kForever = 0xFFFFFFFEu;  // used after the last instruction
constexpr std::size_t kLongestPrefix = 6;        // a name of ten digits more is one chunk
constexpr std::size_t kLine = 64;                // a move without its operands

// Copies a whole chunk, which costs less than copying the exact length.
inline char *write_chunk(char *out, const char *text, std::size_t length) {
    std::memcpy(out, text, kChunk);
    return out + length;
}
inline char *write_label(char *out, const Label &label) {
    if (label.more != nullptr) [[unlikely]] return write(out, *label.more);
    return write_chunk(out, label.text + 2, label.length - 2);
}
// With a comma before it.
inline char *write_next_label(char *out, const Label &label) {
    if (label.length > kChunk) [[unlikely]] return write(write(out, ", "), *label.more);
    return write_chunk(out, label.text, label.length);
}

}  // namespace

void finish(const Isa &isa, Interface &interface) {
    interface.longest = kLongestNumber + kChunk;
    for (const Input &input : interface.inputs) {
        if (input.stack >= isa.stacks.size()) throw std::invalid_argument("no such stack");
        interface.longest = std::max(interface.longest, input.text.size());
    }
    for (Output &output : interface.outputs) {
        if (output.stack >= isa.stacks.size()) throw std::invalid_argument("no such stack");
        if (output.slot != kNone && output.slot >= kSlots)
            throw std::invalid_argument("no such slot");
        output.aliased = kNone;
        for (std::size_t n = 0; n < interface.inputs.size(); ++n)
            if (interface.inputs[n].text == output.text)
                output.aliased = static_cast<std::uint32_t>(n);
        interface.longest = std::max(interface.longest, output.text.size());
    }
    if (interface.prefixes.size() != isa.class_types.size())
        throw std::invalid_argument("a register prefix for each class is needed");
    interface.opening.clear();
    for (std::size_t n = 0; n < interface.prefixes.size(); ++n) {
        if (interface.prefixes[n].size() > kLongestPrefix)
            throw std::invalid_argument("a prefix is too long");
        std::string opening = "\t.reg .";
        opening.append(isa.class_types[n]).append(" ").append(interface.prefixes[n]).append("<");
        interface.opening.push_back(std::move(opening));
    }
    interface.labels.clear();
    for (const Input &input : interface.inputs) interface.labels.emplace_back(input.text);
    for (const Output &output : interface.outputs) interface.labels.emplace_back(output.text);
    interface.line = kLine;
    for (const Shape &shape : isa.shapes)
        if (shape.head != 0)
            interface.line = std::max(interface.line, shape.longest + kLine +
                                                          shape.segments * interface.longest);
    static std::atomic<std::uint64_t> serial{0};
    interface.serial = ++serial;
}

void Compiler::start(const Isa &isa, const Interface &interface) {
    isa_ = &isa;
    interface_ = &interface;
    registers_.start(isa, interface);
}

Outcome Compiler::compile(const Isa &isa, const Interface &interface, Items items, Report &report,
                          Buffer &out, std::size_t &used, std::size_t &begin) {
    begin = used;
    start(isa, interface);
    out_ = &out;
    Outcome outcome = interpreter_.run(isa, interface, items, report);
    if (outcome.status != Status::Fine) return outcome;
    outcome = gather(report);
    if (outcome.status != Status::Fine) return outcome;
    mark_needed();
    settle_outputs();

    // The declarations come first but are known last: room is left for them.
    std::size_t room = kLine;
    for (const std::string &opening : interface.opening) room += opening.size() + kLongestNumber;
    const std::size_t body = used + room;
    char *cursor = out.room(out.at(used), room + kLine) + room;
    cursor = write_body(cursor, report);
    cursor = write_outputs(cursor, report);
    cursor = write(out.room(cursor, kLine), "}\n");
    used = static_cast<std::size_t>(cursor - out.data());
    begin = write_declarations(body);
    for (std::size_t n = 0; n < registers_.kinds(); ++n) report.registers += registers_.taken(n);
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

// From the last node to the first: what is needed, and where it is used last.
void Compiler::mark_needed() {
    Graph &graph = interpreter_.graph;
    Node *const nodes = graph.nodes.data();
    input_needed_.assign(interface_->inputs.size(), 0);
    for (std::uint32_t value : values_)
        if (value != kNone) nodes[value].last_use = kForever;
    for (std::uint32_t kept : graph.kept)
        if (nodes[kept].last_use == kNone) nodes[kept].last_use = kept;
    for (auto at = static_cast<std::uint32_t>(graph.nodes.size()); at-- > 0;) {
        const Node &node = nodes[at];
        if (node.last_use == kNone) continue;
        if (node.kind == NodeKind::Input) {
            input_needed_[node.row] = 1;
            nodes[at].place = node.row;
        } else if (node.kind == NodeKind::Result) {
            if (nodes[node.row].last_use == kNone) nodes[node.row].last_use = node.row;
        } else if (node.kind == NodeKind::Instruction) {
            const std::uint32_t *const arguments = graph.arguments(node);
            const std::uint32_t *const last = arguments + node.count;
            for (const std::uint32_t *one = arguments; one != last; ++one) {
                Node &argument = nodes[*one];
                if (argument.last_use == kNone) argument.last_use = at;
                if (argument.kind != NodeKind::Constant) [[likely]] continue;
                const std::vector<Argument> &taken = isa_->rows[node.row].arguments;
                const auto n = static_cast<std::size_t>(one - arguments);
                if (n >= taken.size() || !taken[n].literal ||
                    argument.payload > taken[n].largest)
                    argument.in_register = true;
            }
        }
    }
}

// A value is computed right into its output's register, unless the program reads that one.
void Compiler::settle_outputs() {
    NodeList &nodes = interpreter_.graph.nodes;
    moves_.clear();
    for (std::uint32_t n = 0; n < values_.size(); ++n) {
        const std::uint32_t value = values_[n];
        if (value == kNone) continue;
        const Output &output = interface_->outputs[n];
        Node &node = nodes[value];
        const bool is_read = output.aliased != kNone && input_needed_[output.aliased] != 0;
        const bool computed = node.kind == NodeKind::Instruction || node.kind == NodeKind::Result;
        if (computed && !is_read && node.place == kNone)
            node.place = static_cast<std::uint32_t>(interface_->inputs.size()) + n;
        else moves_.push_back({n, value});
    }
}

char *Compiler::write_literal(char *out, std::uint16_t stack, std::uint64_t bits) const {
    switch (isa_->stacks[stack].literal) {
        case Literal::Float32: return write_hex(write(out, "0f"), bits, 8);
        case Literal::Float64: return write_hex(write(out, "0d"), bits, 16);
        case Literal::Bits: return write_hex(write(out, "0x"), bits, isa_->stacks[stack].width / 4u);
        case Literal::Integer:
            // Decimals without a suffix are signed numbers of 64 bits.
            return bits >> 63 ? write_hex(write(out, "0x"), bits, 16) : write_number(out, bits);
        case Literal::Predicate: break;
    }
    return write_number(out, bits);
}

inline char *Compiler::write_operand(char *out, const Node &node) const {
    if (node.place != kNone) [[likely]] return write_label(out, registers_.labels()[node.place]);
    return write_literal(out, node.stack, node.payload);
}

// A constant into the register of a node.
char *Compiler::write_load(char *out, const Node &node, std::uint64_t bits) const {
    out = write(out, "\t");
    out = write(out, isa_->stacks[node.stack].move);
    out = write_operand(write(out, " "), node);
    out = write_literal(write(out, ", "), node.stack, bits);
    return write(out, ";\n");
}

// Where the guard does not hold, results are zero.
char *Compiler::write_zeros(char *out, const Node &node, std::uint32_t at) {
    const NodeList &nodes = interpreter_.graph.nodes;
    const std::uint32_t *arguments = interpreter_.graph.arguments(node);
    for (std::uint8_t n = 0; n < isa_->shapes[node.row].results; ++n) {
        out = out_->room(out, 2 * interface_->longest + kLine);
        out = write_load(out, nodes[at + n], 0);
    }
    out = out_->room(out, interface_->longest + kLine);
    return write_operand(write(out, "\t@"), nodes[arguments[node.count - 1]]);
}

// An instruction whose text is its opcode and its operands; see Shape::head.
inline char *Compiler::write_plain(char *out, std::uint32_t at, Node *nodes, const Shape &shape,
                                   const char *head) {
    Node &node = nodes[at];
    const std::uint32_t *const arguments = interpreter_.graph.arguments(node);
    const std::uint32_t *const last = arguments + node.count;
    for (const std::uint32_t *one = arguments; one != last; ++one)
        registers_.give_back(nodes[*one], at);
    registers_.take(node);
    const Label *const labels = registers_.labels();
    char *const operands = out + shape.head;
    do {
        std::memcpy(out, head, kChunk);
        out += kChunk;
        head += kChunk;
    } while (out < operands);
    out = write_label(operands, labels[node.place]);
    for (const std::uint32_t *number = arguments; number != last; ++number) {
        const Node &one = nodes[*number];
        if (one.place != kNone) [[likely]] out = write_next_label(out, labels[one.place]);
        else out = write_literal(write(out, ", "), one.stack, one.payload);
    }
    if (node.last_use == at) registers_.give_back(node, at);  // nobody needs its result
    return write(out, ";\n");
}

char *Compiler::write_instruction(char *out, std::uint32_t at) {
    Node *const nodes = interpreter_.graph.nodes.data();
    const Node &node = nodes[at];
    const Shape shape = isa_->shapes[node.row];
    const std::uint32_t *const arguments = interpreter_.graph.arguments(node);
    const std::uint8_t count = node.count;
    const bool separate = shape.separate || node.guarded;
    if (separate)
        for (std::uint8_t n = 0; n < shape.results; ++n) registers_.take(nodes[at + n]);
    for (std::uint8_t n = 0; n < count; ++n) registers_.give_back(nodes[arguments[n]], at);
    if (!separate)
        for (std::uint8_t n = 0; n < shape.results; ++n) registers_.take(nodes[at + n]);

    if (node.guarded) out = write_zeros(out, node, at);
    out = out_->room(out, shape.longest + shape.segments * interface_->longest + kLine);
    const Segment *segment = isa_->segments.data() + shape.first_segment;
    const Segment *const end = segment + shape.segments;
    const char *const text = isa_->text.data();
    const Label *const labels = registers_.labels();
    for (; segment != end; ++segment) {
        const std::uint8_t operand = segment->operand;
        out = write_chunk(out, text + segment->begin, segment->length);
        if (operand < kImmediate) {
            const Node &one = nodes[operand < shape.results ? at + operand
                                                            : arguments[operand - shape.results]];
            if (one.place != kNone) [[likely]] out = write_label(out, labels[one.place]);
            else out = write_literal(out, one.stack, one.payload);
        } else if (operand == kImmediate) {
            out = write_number(out, node.payload);
        }
    }
    // Results that nobody needs give their registers back at once.
    for (std::uint8_t n = 0; n < shape.results; ++n) {
        Node &result = nodes[at + n];
        if (n == 0 ? result.last_use == at : result.last_use == kNone) {
            result.last_use = at;
            registers_.give_back(result, at);
        }
    }
    return out;
}

char *Compiler::write_body(char *out, Report &report) {
    // Plain locals: text is written through char pointers, which may alias any member.
    Node *const nodes = interpreter_.graph.nodes.data();
    const auto count = static_cast<std::uint32_t>(interpreter_.graph.nodes.size());
    const Shape *const shapes = isa_->shapes.data();
    const char *const text = isa_->text.data();
    const auto line = static_cast<std::ptrdiff_t>(interface_->line);
    const char *limit = out_->end();
    std::uint32_t emitted = 0;
    for (std::uint32_t at = 0; at < count; ++at) {
        Node &node = nodes[at];
        if (node.last_use == kNone) continue;
        if (node.kind == NodeKind::Instruction) {
            const Shape &shape = shapes[node.row];
            ++emitted;
            if (shape.head != 0 && !node.guarded) [[likely]] {
                if (limit - out < line) [[unlikely]] {
                    out = out_->room(out, interface_->line);
                    limit = out_->end();
                }
                out = write_plain(out, at, nodes, shape, text + shape.text);
                continue;
            }
            out = write_instruction(out, at);
        } else if (node.kind == NodeKind::Constant && node.in_register) {
            registers_.take(node);
            out = write_load(out_->room(out, 2 * interface_->longest + kLine), node, node.payload);
            ++report.moves;
        }
        limit = out_->end();
    }
    report.emitted += emitted;
    return out;
}

// All moves to outputs happen at once: none may overwrite what another one still reads.
char *Compiler::write_outputs(char *out, Report &report) {
    NodeList &nodes = interpreter_.graph.nodes;
    const auto is_self = [&](const Move &move) {
        const Node &node = nodes[move.value];
        return node.kind == NodeKind::Input && interface_->outputs[move.output].aliased == node.row;
    };
    std::erase_if(moves_, is_self);
    const auto blocked = [&](const Move &move) {
        const std::uint32_t overwritten = interface_->outputs[move.output].aliased;
        if (overwritten == kNone) return false;
        // The label of an input is its number; one that has moved has another.
        return std::any_of(moves_.begin(), moves_.end(), [&](const Move &other) {
            return nodes[other.value].place == overwritten;
        });
    };
    const auto write_move = [&](const std::string &move, const Label &to, const Label *from,
                                const Node &node) {
        out = out_->room(out, 2 * interface_->longest + kLine);
        out = write(write(out, "\t"), move);
        out = write_label(write(out, " "), to);
        out = write(out, ", ");
        out = from != nullptr ? write_label(out, *from) : write_operand(out, node);
        out = write(out, ";\n");
        ++report.moves;
    };
    while (!moves_.empty()) {
        const std::size_t before = moves_.size();
        for (std::size_t n = 0; n < moves_.size();) {
            if (blocked(moves_[n])) {
                ++n;
                continue;
            }
            const Output &output = interface_->outputs[moves_[n].output];
            write_move(isa_->stacks[output.stack].move,
                       registers_.labels()[interface_->inputs.size() + moves_[n].output], nullptr,
                       nodes[moves_[n].value]);
            moves_.erase(moves_.begin() + static_cast<std::ptrdiff_t>(n));
        }
        if (moves_.size() < before) continue;
        // A ring: one of its values waits in a register of its own.
        Node &node = nodes[moves_.front().value];
        const std::uint32_t from = node.place;
        node.place = kNone;
        registers_.take(node);
        const Label was = registers_.labels()[from], now = registers_.labels()[node.place];
        write_move(isa_->stacks[node.stack].move, now, &was, node);
    }
    return out;
}

// Right before the body; gives the place where they begin.
std::size_t Compiler::write_declarations(std::size_t body) {
    char *cursor = head_.room(head_.at(0), body);  // no longer than the room before the body
    cursor = write(cursor, "{\n");
    for (std::size_t n = 0; n < registers_.kinds(); ++n) {
        if (registers_.taken(n) == 0) continue;
        cursor = write(cursor, interface_->opening[n]);
        cursor = write(write_number(cursor, registers_.taken(n)), ">;\n");
    }
    const auto size = static_cast<std::size_t>(cursor - head_.data());
    std::memcpy(out_->data() + body - size, head_.data(), size);
    return body - size;
}

}  // namespace ptxkit::stack
