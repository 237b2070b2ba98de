// The values of a program as a graph: every node once, operands before their users.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "isa.hpp"

namespace ptxkit::stack {

enum class NodeKind : std::uint8_t { Input, Constant, Instruction, Result };

struct Node {
    std::uint64_t payload = 0;       // constant, immediate; Result: which of its instruction
    std::uint32_t row = 0;           // Input: its number; Result: its instruction's node
    std::uint32_t few[3] = {};       // its arguments; if there are more, few[0] is the first's
                                     // place in Graph::pool
    std::uint32_t last_use = kNone;  // kNone: not needed
    std::uint32_t place = kNone;     // label of its register
    std::uint16_t stack = 0;
    NodeKind kind = NodeKind::Input;
    std::uint8_t count = 0;          // of arguments, the guard included
    bool guarded = false;            // the last argument is the guard
    bool in_register = false;        // Constant: some use takes no constant
};

// Nodes and the table that finds equal ones.
class Graph {
  public:
    std::vector<Node> nodes;
    std::vector<std::uint32_t> pool;   // arguments of nodes that have many
    std::vector<std::uint32_t> kept;   // nodes that stay whatever happens
    std::uint32_t reused = 0;

    void clear(std::size_t expected) {
        nodes.clear();
        pool.clear();
        kept.clear();
        reused = 0;
        std::size_t wanted = 64;
        while (wanted < expected * 2) wanted *= 2;
        if (table_.size() < wanted || table_.size() > wanted * 16) table_.resize(wanted);
        std::memset(table_.data(), 0, table_.size() * sizeof table_[0]);
    }

    std::uint32_t constant(std::uint16_t stack, std::uint64_t bits) {
        return intern(NodeKind::Constant, 0, stack, bits, nullptr, 0);
    }
    // The equal node there is, or a new one; `fresh` tells which.
    std::uint32_t intern(NodeKind kind, std::uint32_t row, std::uint16_t stack,
                         std::uint64_t payload, const std::uint32_t *arguments,
                         std::uint8_t count) {
        const std::size_t mask = table_.size() - 1;
        std::size_t at = hash(kind, row, stack, payload, arguments, count) & mask;
        while (table_[at] != 0) {
            const Node &node = nodes[table_[at] - 1];
            if (node.row == row && node.kind == kind && node.stack == stack &&
                node.payload == payload && node.count == count &&
                same(this->arguments(node), arguments, count)) {
                fresh = false;
                return table_[at] - 1;
            }
            at = (at + 1) & mask;
        }
        fresh = true;
        const std::uint32_t made = append(kind, row, stack, payload, arguments, count);
        table_[at] = made + 1;
        if (nodes.size() * 2 > table_.size()) grow();
        return made;
    }
    std::uint32_t append(NodeKind kind, std::uint32_t row, std::uint16_t stack,
                         std::uint64_t payload, const std::uint32_t *arguments,
                         std::uint8_t count) {
        Node &node = nodes.emplace_back();
        node.payload = payload;
        node.row = row;
        node.stack = stack;
        node.kind = kind;
        node.count = count;
        if (count <= std::size(node.few)) {
            for (std::uint8_t n = 0; n < count; ++n) node.few[n] = arguments[n];
        } else {
            node.few[0] = static_cast<std::uint32_t>(pool.size());
            pool.insert(pool.end(), arguments, arguments + count);
        }
        return static_cast<std::uint32_t>(nodes.size() - 1);
    }
    // Stays where it is until a node is added.
    const std::uint32_t *arguments(const Node &node) const {
        return node.count <= std::size(node.few) ? node.few : pool.data() + node.few[0];
    }

    bool fresh = false;

  private:
    static bool same(const std::uint32_t *a, const std::uint32_t *b, std::uint8_t count) {
        for (std::uint8_t n = 0; n < count; ++n)
            if (a[n] != b[n]) return false;
        return true;
    }
    static std::uint64_t mix(std::uint64_t value) {
        value *= 0x9E3779B97F4A7C15ull;
        return value ^ value >> 29;
    }
    static std::size_t hash(NodeKind kind, std::uint32_t row, std::uint16_t stack,
                            std::uint64_t payload, const std::uint32_t *arguments,
                            std::uint8_t count) {
        // Every part is multiplied on its own, so that the products need not wait for
        // each other.
        std::uint64_t value = (std::uint64_t{row} << 24 ^ std::uint64_t{stack} << 8 ^
                               static_cast<std::uint64_t>(kind)) * 0x9E3779B97F4A7C15ull ^
                              mix(payload);
        for (std::uint8_t n = 0; n < count; ++n)
            value ^= (arguments[n] + 1) * (0xD6E8FEB86659FD93ull + 2 * n * 0xA0761D6478BD642Full);
        value ^= value >> 32;
        value *= 0xE7037ED1A0B428DBull;
        return static_cast<std::size_t>(value >> 32);
    }
    void grow() {
        table_.assign(table_.size() * 2, 0);
        const std::size_t mask = table_.size() - 1;
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const Node &node = nodes[n];
            if (node.kind == NodeKind::Result || node.kind == NodeKind::Input) continue;
            std::size_t at = hash(node.kind, node.row, node.stack, node.payload, arguments(node),
                                  node.count) & mask;
            while (table_[at] != 0) at = (at + 1) & mask;
            table_[at] = n + 1;
        }
    }

    std::vector<std::uint32_t> table_;
};

}  // namespace ptxkit::stack
