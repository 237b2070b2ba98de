// A PTX text and the flat tree over it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kinds.hpp"

namespace ptxkit::syntax {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// Flags of a node; what they mean depends on its kind.
enum NodeFlag : std::uint8_t {
    kNegated = 1,     // Guard: @!p
    kHasOffset = 2,   // Address: the second child is the offset
    kReturnList = 4,  // ParameterList: before the function's name
    kIsEntry = 8,     // Function: .entry
    kHasBody = 16,    // Function: a body follows
};

// Nodes stand in pre-order: a node's first child, if it has one, is the next node, and
// `next` is the first node after its subtree.
struct Node {
    std::uint32_t start;
    std::uint32_t end;
    std::uint32_t parent;
    std::uint32_t next;
    Kind kind;
    std::uint8_t flags;
    std::uint16_t selector;  // Name: length of the selector with what stands before it
};
static_assert(sizeof(Node) == 20);

struct Diagnostic {
    std::string code;
    std::string message;
    std::string hint;
    std::uint32_t start;
    std::uint32_t end;
};

struct Position {
    std::uint32_t line;
    std::uint32_t column;
};

class Tree {
  public:
    // The text is not copied: `owner` keeps it alive. A NUL byte must follow it.
    Tree(std::string_view text, std::shared_ptr<const void> owner, std::string filename);

    std::string_view text() const { return text_; }
    std::string_view text(std::uint32_t start, std::uint32_t end) const {
        return text_.substr(start, end - start);
    }
    const std::string &filename() const { return filename_; }
    const std::vector<Node> &nodes() const { return nodes_; }
    const Node &node(std::uint32_t index) const { return nodes_[index]; }
    const std::vector<Diagnostic> &diagnostics() const { return diagnostics_; }

    // Line and column of a byte offset, both from 1; columns count bytes.
    Position position(std::uint32_t offset) const;
    std::string_view line_text(std::uint32_t line) const;
    std::uint32_t line_count() const;
    std::uint32_t line_start(std::uint32_t line) const;

    // The text written out of the tree: every node's own bytes between its children's.
    std::string emit() const;

    std::size_t memory() const;

  private:
    friend class Parser;
    void index_lines() const;

    std::string_view text_;
    std::shared_ptr<const void> owner_;
    std::string filename_;
    std::vector<Node> nodes_;
    std::vector<Diagnostic> diagnostics_;
    mutable std::once_flag lines_once_;
    mutable std::vector<std::uint32_t> line_starts_;
};

}  // namespace ptxkit::syntax
