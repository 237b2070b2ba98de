// The values of a program as a graph: every node once, operands before their users.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "isa.hpp"

namespace ptxkit::stack {

struct Node : Tag {                  // Input: `row` is its number; Result: its instruction's node
    std::uint64_t payload = 0;       // constant, immediate; Result: which of its instruction
    std::uint32_t few[kFewArguments] = {};  // its arguments, then zeros; if there are more, few[0]
                                            // is the first's place in Graph::pool
    std::uint32_t last_use = kNone;  // kNone: not needed
    std::uint32_t place = kNone;     // label of its register
    bool guarded = false;            // the last argument is the guard
    bool in_register = false;        // Constant: some use takes no constant
};

// Nodes in a row, and room for one more to be written in its place.
class NodeList {
  public:
    std::size_t size() const { return size_; }
    Node *data() { return nodes_.get(); }
    Node &operator[](std::size_t n) { return nodes_[n]; }
    const Node &operator[](std::size_t n) const { return nodes_[n]; }
    Node *begin() { return nodes_.get(); }
    Node *end() { return nodes_.get() + size_; }
    void clear() { size_ = 0; }

    Node &spare(const Tag &tag, std::uint64_t payload) {
        if (size_ == capacity_) [[unlikely]] grow();
        // Field by field: what is read soon as it was written need not wait for the cache.
        Node &node = nodes_[size_];
        static_cast<Tag &>(node) = tag;
        node.payload = payload;
        node.few[0] = node.few[1] = node.few[2] = 0;
        node.last_use = node.place = kNone;
        node.guarded = node.in_register = false;
        return node;
    }
    std::uint32_t add_spare() { return static_cast<std::uint32_t>(size_++); }

  private:
    void grow() {
        const std::size_t capacity = std::max<std::size_t>(256, 2 * capacity_);
        auto nodes = std::make_unique_for_overwrite<Node[]>(capacity);
        std::copy_n(nodes_.get(), size_, nodes.get());
        nodes_ = std::move(nodes);
        capacity_ = capacity;
    }

    std::unique_ptr<Node[]> nodes_;
    std::size_t size_ = 0, capacity_ = 0;
};

// Nodes and the table that finds equal ones.
class Graph {
  public:
    NodeList nodes;
    std::vector<std::uint32_t> pool;   // arguments of nodes that have many
    std::vector<std::uint32_t> kept;   // nodes that stay whatever happens
    std::uint32_t reused = 0;
    bool fresh = false;                // whether the last node that was asked for is new

    void clear(std::size_t expected) {
        // What the table holds up to here is of earlier programs: it need not be cleared.
        before_ += static_cast<std::uint32_t>(nodes.size());
        nodes.clear();
        pool.clear();
        kept.clear();
        reused = 0;
        std::size_t wanted = 64;
        while (wanted < expected * 2) wanted *= 2;
        if (table_.size() < wanted || table_.size() > wanted * 16 || before_ > kOldest) {
            table_.assign(wanted, 0);
            before_ = 0;
        }
    }

    // The equal node there is, or a new one.
    std::uint32_t constant(std::uint16_t stack, std::uint64_t bits) {
        return intern(nodes.spare({0, stack, NodeKind::Constant, 0}, bits));
    }
    // The same for a spare node, which has its few arguments.
    std::uint32_t intern(const Node &spare) {
        const std::uint64_t tag = tag_of(spare), first = first_of(spare);
        const auto equals = [&](const Node &node) {
            // All at once: the rare case is that it differs.
            return ((tag_of(node) ^ tag) | (first_of(node) ^ first) |
                    (node.payload ^ spare.payload) | (node.few[2] ^ spare.few[2])) == 0;
        };
        return find(finish(hash(spare) ^ few_of(spare)), equals);
    }
    // The same for any number of arguments.
    std::uint32_t intern(const Tag &tag, std::uint64_t payload, const std::uint32_t *arguments) {
        Node &spare = nodes.spare(tag, payload);
        if (tag.count <= kFewArguments) {
            for (std::uint8_t n = 0; n < tag.count; ++n) spare.few[n] = arguments[n];
            return intern(spare);
        }
        spare.few[0] = static_cast<std::uint32_t>(pool.size());
        const auto equals = [&](const Node &node) {
            return tag_of(node) == tag_of(spare) && node.payload == payload &&
                   std::equal(arguments, arguments + tag.count, pool.data() + node.few[0]);
        };
        const std::uint32_t found =
            find(finish(hash(spare) ^ many_of(arguments, tag.count)), equals);
        if (fresh) pool.insert(pool.end(), arguments, arguments + tag.count);
        return found;
    }
    std::uint32_t append(const Tag &tag, std::uint64_t payload) {
        nodes.spare(tag, payload);
        return nodes.add_spare();
    }
    std::uint32_t append(const Tag &tag, std::uint64_t payload, const std::uint32_t *arguments) {
        Node &spare = nodes.spare(tag, payload);
        if (tag.count <= kFewArguments) {
            for (std::uint8_t n = 0; n < tag.count; ++n) spare.few[n] = arguments[n];
        } else {
            spare.few[0] = static_cast<std::uint32_t>(pool.size());
            pool.insert(pool.end(), arguments, arguments + tag.count);
        }
        return nodes.add_spare();
    }
    // Stays where it is until a node is added.
    const std::uint32_t *arguments(const Node &node) const {
        return node.count <= kFewArguments ? node.few : pool.data() + node.few[0];
    }

  private:
    static constexpr std::uint32_t kOldest = 1u << 30;

    static std::uint64_t tag_of(const Node &node) {
        return std::bit_cast<std::uint64_t>(static_cast<const Tag &>(node));
    }
    static std::uint64_t first_of(const Node &node) {
        return node.few[0] | std::uint64_t{node.few[1]} << 32;
    }
    // Every part is multiplied on its own, so that the products need not wait for each other.
    static std::uint64_t hash(const Node &node) {
        return tag_of(node) * 0x9E3779B97F4A7C15ull ^ node.payload * 0xE7037ED1A0B428DBull;
    }
    static std::uint64_t few_of(const Node &node) {
        return first_of(node) * 0xD6E8FEB86659FD93ull ^ node.few[2] * 0xA0761D6478BD642Full;
    }
    static std::uint64_t many_of(const std::uint32_t *arguments, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t n = 0; n < count; ++n)
            value = (value ^ arguments[n]) * 0xD6E8FEB86659FD93ull;
        return value;
    }
    static std::size_t finish(std::uint64_t value) {
        value ^= value >> 32;
        value *= 0xC2B2AE3D27D4EB4Full;
        return static_cast<std::size_t>(value >> 32);
    }

    // The node that is equal, or else the spare one; `fresh` tells which.
    template <typename Equals>
    std::uint32_t find(std::size_t hashed, const Equals &equals) {
        std::uint32_t *const table = table_.data();
        const std::size_t mask = table_.size() - 1;
        const std::uint32_t before = before_;
        std::size_t at = hashed & mask;
        for (; table[at] > before; at = (at + 1) & mask) {
            const std::uint32_t number = table[at] - before - 1;
            if (equals(nodes[number])) {
                fresh = false;
                return number;
            }
        }
        fresh = true;
        const std::uint32_t made = nodes.add_spare();
        table[at] = before + made + 1;
        if (made * 2u >= mask) [[unlikely]] grow();
        return made;
    }
    void grow() {
        // Nodes that were appended count as well, and may be many since the last time.
        std::size_t wanted = table_.size() * 2;
        while (wanted <= nodes.size() * 2) wanted *= 2;
        table_.assign(wanted, 0);
        before_ = 0;
        const std::size_t mask = table_.size() - 1;
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const Node &node = nodes[n];
            if (node.kind == NodeKind::Result || node.kind == NodeKind::Input) continue;
            const std::uint64_t rest = node.count <= kFewArguments
                                           ? few_of(node)
                                           : many_of(arguments(node), node.count);
            std::size_t at = finish(hash(node) ^ rest) & mask;
            while (table_[at] != 0) at = (at + 1) & mask;
            table_[at] = n + 1;
        }
    }

    std::vector<std::uint32_t> table_;  // the number of a node from 1 on, and `before_`
    std::uint32_t before_ = 0;
};

}  // namespace ptxkit::stack
