#include "scan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "marker.hpp"
#include "syntax/lexer.hpp"

namespace ptxkit::inject {

namespace {

constexpr std::string_view kMarker = "PTX_INJECT";
constexpr std::string_view kForeignMarker = "PTX_INJECT_START";

// Bytes at which something may begin or end that matters here; all others are passed over.
constexpr std::array<bool, 256> kStops = [] {
    std::array<bool, 256> stops{};
    for (const char c : {'/', '"', '{', '}'}) stops[static_cast<unsigned char>(c)] = true;
    return stops;
}();

bool stops(char c) { return kStops[static_cast<unsigned char>(c)]; }

// Keeps track of braces, comments and strings, and of the function that a place is in.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text), reader_(text, scan_) {}

    Scan run() {
        while (at_ < text_.size()) {
            if (depth_ == 0) step_outside();
            else step_inside();
        }
        return std::move(scan_);
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    void step_inside() {
        const char *at = text_.data() + at_, *const end = text_.data() + text_.size();
        while (at < end && !stops(*at)) ++at;
        at_ = static_cast<std::size_t>(at - text_.data());
        if (at_ >= text_.size()) return;
        switch (*at) {
            case '{': ++depth_, ++at_; break;
            case '}':
                ++at_;
                if (--depth_ == 0) function_ = kNowhere;
                break;
            default: step_common();
        }
    }

    // Between functions: every word counts, to find the name of the next function.
    void step_outside() {
        const char c = text_[at_];
        if (syntax::is(c, syntax::kFollow) || c == '.' || c == '%') {
            word();
        } else if (c == '{') {
            // Without a name it is an initialiser or a section, and holds no statements.
            if (!name_.empty()) {
                function_ = static_cast<std::uint32_t>(scan_.functions.size());
                scan_.functions.push_back(name_);
            }
            forget();
            ++depth_, ++at_;
        } else if (c == '(') {
            ++parentheses_, ++at_;
        } else if (c == ')') {
            if (parentheses_ > 0) --parentheses_;
            ++at_;
        } else if (c == ';') {
            if (parentheses_ == 0) forget();
            ++at_;
        } else {
            step_common();
        }
    }

    void word() {
        const std::size_t start = at_++;
        while (at_ < text_.size() && syntax::is(text_[at_], syntax::kFollow)) ++at_;
        const std::string_view found = text_.substr(start, at_ - start);
        if (found == ".entry" || found == ".func") {
            forget();
            expects_name_ = true;
        } else if (expects_name_ && parentheses_ == 0 && found[0] != '.') {
            name_ = found;
            expects_name_ = false;
        }
    }

    void forget() {
        name_ = {};
        expects_name_ = false;
        parentheses_ = 0;
    }

    // What means the same everywhere: comments and strings.
    void step_common() {
        const char c = text_[at_];
        if (c == '/' && peek(1) == '/') {
            line_comment();
        } else if (c == '/' && peek(1) == '*') {
            const std::size_t end = text_.find("*/", at_ + 2);
            at_ = end == text_.npos ? text_.size() : end + 2;
        } else if (c == '"') {
            ++at_;
            while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
                at_ += text_[at_] == '\\' ? 2 : 1;
            ++at_;
        } else {
            ++at_;
        }
    }

    void line_comment() {
        const std::size_t start = at_;
        at_ += 2;
        while (peek() == ' ' || peek() == '\t') ++at_;
        const std::string_view rest = text_.substr(at_);
        if (rest.substr(0, kMarker.size()) == kMarker) {
            const char after = peek(kMarker.size());
            if (!syntax::is(after, syntax::kFollow)) {
                at_ = reader_.read(start, at_ + kMarker.size(), function_);
                return;
            }
            if (rest.substr(0, kForeignMarker.size()) == kForeignMarker) {
                at_ = reader_.read_foreign(start, at_ + kForeignMarker.size(), function_);
                return;
            }
        }
        const void *end = std::memchr(rest.data(), '\n', rest.size());
        at_ = end == nullptr
                  ? text_.size()
                  : static_cast<std::size_t>(static_cast<const char *>(end) - text_.data());
    }

    std::string_view text_;
    Scan scan_;
    MarkerReader reader_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::size_t parentheses_ = 0;
    std::uint32_t function_ = kNowhere;
    std::string_view name_;
    bool expects_name_ = false;
};

}  // namespace

Scan scan(std::string_view text) {
    if (text.size() >= kNowhere)
        throw Fault("inject-limit", "a PTX text of 4 GiB or more", "split it", 0, 0);
    return Scanner(text).run();
}

void refuse_torn_statements(const Scan &scan, const syntax::Tree &tree) {
    const std::vector<syntax::Node> &nodes = tree.nodes();
    auto from = nodes.begin();
    for (const Occurrence &one : scan.occurrences) {
        // Nodes stand by their starts, and so do the markers.
        from = std::partition_point(from, nodes.end(), [&](const syntax::Node &node) {
            return node.start <= one.start;
        });
        if (from == nodes.begin()) continue;
        const syntax::Node *at = &*(from - 1);
        while (at->end <= one.start && at->parent != syntax::kNone) at = &nodes[at->parent];
        // The innermost node around a site holds statements, and is not one.
        if (at->kind == syntax::Kind::Block) continue;
        throw Fault("inject-marker",
                    "the injection site '" + std::string(scan.sites[one.site].name) +
                        "' is in the middle of a statement",
                    "a site is a statement of its own: put the marker before or after this one",
                    one.start, one.end);
    }
}

}  // namespace ptxkit::inject
