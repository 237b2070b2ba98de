#include "tree.hpp"

#include <algorithm>
#include <cstring>

namespace ptxkit::syntax {

Tree::Tree(std::string_view text, std::shared_ptr<const void> owner, std::string filename)
    : text_(text), owner_(std::move(owner)), filename_(std::move(filename)) {}

void Tree::index_lines() const {
    std::call_once(lines_once_, [this] {
        line_starts_.push_back(0);
        const char *base = text_.data();
        const char *end = base + text_.size();
        for (const char *at = base; at < end;) {
            const void *found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
            if (found == nullptr) break;
            at = static_cast<const char *>(found) + 1;
            line_starts_.push_back(static_cast<std::uint32_t>(at - base));
        }
    });
}

Position Tree::position(std::uint32_t offset) const {
    index_lines();
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
    return {line, offset - line_starts_[line - 1] + 1};
}

std::uint32_t Tree::line_count() const {
    index_lines();
    return static_cast<std::uint32_t>(line_starts_.size());
}

std::uint32_t Tree::line_start(std::uint32_t line) const {
    index_lines();
    line = std::clamp<std::uint32_t>(line, 1, line_count());
    return line_starts_[line - 1];
}

std::string_view Tree::line_text(std::uint32_t line) const {
    const std::uint32_t start = line_start(line);
    std::size_t end = text_.find('\n', start);
    if (end == std::string_view::npos) end = text_.size();
    if (end > start && text_[end - 1] == '\r') --end;
    return text(start, static_cast<std::uint32_t>(end));
}

std::string Tree::emit() const {
    std::string out;
    out.reserve(text_.size());
    std::vector<std::uint32_t> open;  // ancestors whose tail is still to be written
    std::uint32_t written = 0;
    const auto count = static_cast<std::uint32_t>(nodes_.size());
    const auto copy_to = [&](std::uint32_t to) {
        if (to > written) out.append(text_.substr(written, to - written));
        written = to;
    };
    for (std::uint32_t index = 0; index < count; ++index) {
        while (!open.empty() && nodes_[open.back()].next <= index) {
            copy_to(nodes_[open.back()].end);
            open.pop_back();
        }
        copy_to(nodes_[index].start);
        open.push_back(index);
    }
    while (!open.empty()) {
        copy_to(nodes_[open.back()].end);
        open.pop_back();
    }
    return out;
}

std::size_t Tree::memory() const {
    return sizeof(*this) + text_.size() + nodes_.capacity() * sizeof(Node) +
           line_starts_.capacity() * sizeof(std::uint32_t);
}

}  // namespace ptxkit::syntax
