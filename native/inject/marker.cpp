#include "marker.hpp"

#include <algorithm>
#include <array>

#include "syntax/lexer.hpp"

namespace ptxkit::inject {

namespace {

using syntax::is;

constexpr const char *kForm =
    "a marker is '// PTX_INJECT name direction:type:register:name ... @line flags = registers'";
constexpr std::string_view kForeignEnd = "PTX_INJECT_END";

struct RegisterType {
    std::string_view name;
    unsigned width;
};
constexpr std::array kRegisterTypes{
    RegisterType{"pred", 1},  RegisterType{"b16", 16},  RegisterType{"u16", 16},
    RegisterType{"s16", 16},  RegisterType{"f16", 16},  RegisterType{"b32", 32},
    RegisterType{"u32", 32},  RegisterType{"s32", 32},  RegisterType{"f32", 32},
    RegisterType{"f16x2", 32}, RegisterType{"b64", 64}, RegisterType{"u64", 64},
    RegisterType{"s64", 64},  RegisterType{"f64", 64},  RegisterType{"b128", 128},
};

bool is_identifier(std::string_view word) {
    if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
    return std::all_of(word.begin(), word.end(),
                       [](char c) { return is(c, syntax::kFollow) && c != '$'; });
}

bool is_constant(std::string_view word) {
    if (!word.empty() && word[0] == '-') word.remove_prefix(1);
    return !word.empty() && is(word[0], syntax::kDigit);
}

// Letters, digits, '_', '$', and '%' at the front: a register. A constant may stand for one.
bool is_register(std::string_view word) {
    if (!word.empty() && (word[0] == '%' || is_constant(word))) word.remove_prefix(1);
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return is(c, syntax::kFollow); });
}

std::string quoted(std::string_view word) {
    constexpr std::size_t kShown = 60;
    std::string result = "'";
    result += word.substr(0, kShown);
    if (word.size() > kShown) result += "...";
    return result + "'";
}

}  // namespace

unsigned register_width(std::string_view type) {
    for (const RegisterType &one : kRegisterTypes)
        if (one.name == type) return one.width;
    return 0;
}

void MarkerReader::fail(const char *code, const std::string &message, const char *hint,
                        Word word) const {
    throw Fault(code, message, hint, word.start, std::max(word.end, word.start + 1));
}

void MarkerReader::begin_line(std::size_t at) {
    at_ = at;
    line_end_ = std::min(text_.find('\n', at), text_.size());
    if (line_end_ > at && text_[line_end_ - 1] == '\r') --line_end_;
}

MarkerReader::Word MarkerReader::next() {
    while (at_ < line_end_ && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t start = at_;
    while (at_ < line_end_ && text_[at_] != ' ' && text_[at_] != '\t') ++at_;
    return {start, at_};
}

MarkerReader::Word MarkerReader::site_name() {
    const Word name = next();
    const std::string_view text = view(name);
    if (text.empty() || text.find(':') != text.npos || text[0] == '@' || text[0] == '=')
        fail("inject-marker", "the marker of an injection site has no name", kForm, name);
    if (!is_identifier(text))
        fail("inject-marker", quoted(text) + " is not the name of an injection site",
             "write letters, digits and '_'", name);
    return name;
}

const std::uint32_t *MarkerReader::known(std::string_view name) const {
    const auto found = sites_.find(name);
    return found == sites_.end() ? nullptr : &found->second;
}

// Most occurrences repeat a signature byte for byte.
bool MarkerReader::skip_signature(const Site &site) {
    const std::size_t size = site.signature.size();
    if (text_.compare(at_, size, site.signature) != 0) return false;
    const std::size_t after = at_ + size;
    if (after > line_end_ || text_.substr(after, 2) != " @") return false;
    at_ = after;
    return true;
}

Operand MarkerReader::operand(Word word, std::size_t number) {
    std::array<std::string_view, 4> fields;
    std::string_view rest = view(word);
    for (std::size_t at = 0; at < fields.size(); ++at) {
        const std::size_t colon = at + 1 < fields.size() ? rest.find(':') : rest.npos;
        fields[at] = rest.substr(0, colon);
        rest.remove_prefix(colon == rest.npos ? rest.size() : colon + 1);
    }
    const auto &[direction, type, register_type, name] = fields;
    Operand made{Direction::In, type, register_type, name, {}, static_cast<std::uint32_t>(number)};
    if (direction == "mod") {
        made.direction = Direction::Mod;
    } else if (direction == "out") {
        made.direction = Direction::Out;
    } else if (direction != "in") {
        fail("inject-direction", quoted(direction) + " is no direction of an operand",
             "it is 'in', 'mod' or 'out'", word);
    }
    return made;
}

Operand MarkerReader::foreign_operand(Word first, std::size_t number) {
    const Word kind = next(), register_type = next(), type = next(), name = next();
    if (name.empty())
        fail("inject-marker", "the marker's operand is not whole",
             "mm-ptx writes '// register i|m|o type TYPE name'", first);
    if (!is_identifier(view(first)))
        fail("inject-marker", quoted(view(first)) + " is no register", "mm-ptx writes '_x0'", first);
    const std::string_view letter = view(kind);
    if (letter != "i" && letter != "m" && letter != "o")
        fail("inject-direction", quoted(letter) + " is no direction of an operand",
             "it is 'i', 'm' or 'o'", kind);
    const Direction direction = letter == "i"   ? Direction::In
                                : letter == "m" ? Direction::Mod
                                                : Direction::Out;
    return {direction,  view(type),  view(register_type), view(name),
            view(first), static_cast<std::uint32_t>(number)};
}

void MarkerReader::add_operand(Site &site, Operand operand, Word word) const {
    if (operand.name.empty())
        fail("inject-marker", "the operand has no name",
             "an operand is 'direction:type:register:name'", word);
    if (!is_identifier(operand.name))
        fail("inject-marker", quoted(operand.name) + " is not the name of an operand",
             "write letters, digits and '_'", word);
    if (register_width(operand.register_type) == 0)
        fail("inject-type", quoted(operand.register_type) + " is no type of a register",
             "it is one of pred, b16 to b128, u16 to u64, s16 to s64, f16, f16x2, f32, f64", word);
    for (const Operand &other : site.operands)
        if (other.name == operand.name)
            fail("inject-operand", "the site has two operands called " + quoted(operand.name),
                 "give each its own name", word);
    if (site.operands.size() == kMostOperands)
        fail("inject-limit", "the site has more than 256 operands", "pass an array in memory",
             word);
    site.operands.push_back(operand);
}

Site MarkerReader::parse_signature(Word name, std::size_t start) {
    Site site{view(name), {}, static_cast<std::uint32_t>(start), 0, {}, {}};
    while (at_ < line_end_ && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t begin = at_;
    std::size_t end = begin;
    for (;;) {
        const std::size_t before = at_;
        const Word word = next();
        if (word.empty() || view(word).find(':') == std::string_view::npos) {
            at_ = before;
            break;
        }
        add_operand(site, operand(word, site.operands.size()), word);
        end = word.end;
    }
    site.signature = text_.substr(begin, end - begin);
    // An asm statement numbers its outputs first.
    for (const bool inputs : {false, true}) {
        for (std::size_t at_operand = 0; at_operand < site.operands.size(); ++at_operand) {
            Operand &one = site.operands[at_operand];
            if ((one.direction == Direction::In) != inputs) continue;
            one.place = static_cast<std::uint32_t>(site.by_place.size());
            site.by_place.push_back(static_cast<std::uint32_t>(at_operand));
        }
    }
    return site;
}

MarkerReader::Tail MarkerReader::tail() {
    Tail found;
    for (;;) {
        const Word word = next();
        const std::string_view text = view(word);
        if (text == "=") return found;
        if (text == "pure") {
            found.flags |= kPure;
        } else if (text == "memory") {
            found.flags |= kMemory;
        } else if (!text.empty() && text[0] == '@' && text.size() < 11) {
            std::uint64_t line = 0;
            for (const char c : text.substr(1)) {
                if (!is(c, syntax::kDigit))
                    fail("inject-marker", quoted(text) + " is not a line of the source", kForm,
                         word);
                line = line * 10 + static_cast<std::uint64_t>(c - '0');
            }
            found.source_line = static_cast<std::uint32_t>(line);
        } else if (text != "volatile") {
            fail("inject-marker",
                 text.empty() ? "the marker ends before its registers"
                              : quoted(text) + " is not part of a marker",
                 kForm, word);
        }
    }
}

void MarkerReader::check_register(const Site &site, const Operand &operand, Word word) const {
    const std::string_view text = view(word);
    if (text.empty())
        fail("inject-marker", "the marker has no register for " + quoted(operand.name), kForm, word);
    if (!is_register(text) || (operand.direction != Direction::In && is_constant(text)))
        fail("inject-marker", quoted(text) + " is no register", kForm, word);
    if (text.substr(0, 2) != "%_") return;
    for (const Operand &other : site.operands)
        if (other.name == text.substr(2))
            fail("inject-register",
                 "the register " + quoted(text) + " has the name that stubs use for " +
                     quoted(other.name),
                 "rename the operand or the register", word);
}

void MarkerReader::registers(const Site &site) {
    for (const std::uint32_t number : site.by_place) {
        const Word word = next();
        check_register(site, site.operands[number], word);
        scan_.registers.push_back(view(word));
    }
    const Word more = next();
    if (!more.empty())
        fail("inject-marker", quoted(view(more)) + " is one register too many", kForm, more);
}

std::uint32_t MarkerReader::add_site(Site site) {
    const auto index = static_cast<std::uint32_t>(scan_.sites.size());
    sites_.emplace(site.name, index);
    scan_.sites.push_back(std::move(site));
    return index;
}

void MarkerReader::note(std::uint32_t site, std::uint32_t function, std::size_t start,
                        std::size_t end, Tail tail, std::size_t first_register) {
    if (function == kNowhere)
        throw Fault("inject-marker",
                    "the injection site " + quoted(scan_.sites[site].name) +
                        " is outside of any function",
                    "a site is a statement in the body of a kernel or function", start, end);
    ++scan_.sites[site].count;
    scan_.occurrences.push_back({site, function, static_cast<std::uint32_t>(start),
                                 static_cast<std::uint32_t>(end), tail.source_line,
                                 static_cast<std::uint32_t>(first_register), tail.flags});
}

void MarkerReader::expect_same(const Site &one, const Site &other, Word name) const {
    bool same = one.operands.size() == other.operands.size();
    for (std::size_t at = 0; same && at < one.operands.size(); ++at) {
        const Operand &a = one.operands[at], &b = other.operands[at];
        same = a.direction == b.direction && a.type == b.type && a.name == b.name &&
               a.register_type == b.register_type && a.foreign == b.foreign;
    }
    if (same) return;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + one.first, '\n');
    fail("inject-signature",
         "the injection site " + quoted(one.name) + " has other operands here than at line " +
             std::to_string(line) +
             (one.source_line ? " (line " + std::to_string(one.source_line) + " of the source)"
                              : ""),
         "a name stands for one list of operands: give one of the two another name", name);
}

std::size_t MarkerReader::read(std::size_t start, std::size_t words, std::uint32_t function) {
    begin_line(words);
    const Word name = site_name();
    const std::size_t end = line_end_;
    std::uint32_t index = kNowhere;
    while (at_ < line_end_ && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (const std::uint32_t *found = known(view(name))) {
        index = *found;
        if (!skip_signature(scan_.sites[index]))
            expect_same(scan_.sites[index], parse_signature(name, start), name);
    } else {
        index = add_site(parse_signature(name, start));
    }
    const Tail rest = tail();
    Site &site = scan_.sites[index];
    if (site.count == 0) site.source_line = rest.source_line;
    const std::size_t first = scan_.registers.size();
    registers(site);
    note(index, function, start, end, rest, first);
    return end;
}

std::size_t MarkerReader::read_foreign(std::size_t start, std::size_t words,
                                       std::uint32_t function) {
    begin_line(words);
    const Word name = site_name();
    const std::size_t body = line_end_;
    const std::uint32_t *found = known(view(name));
    if (found != nullptr) {
        const std::string_view block = scan_.sites[*found].signature;
        if (!block.empty() && text_.compare(body, block.size(), block) == 0) {
            note(*found, function, start, body + block.size(), {}, scan_.registers.size());
            return body + block.size();
        }
    }
    Site site{view(name), {}, static_cast<std::uint32_t>(start), 0, {}, {}};
    for (;;) {
        begin_line(std::min(line_end_ + (text_.substr(line_end_, 1) == "\r") + 1, text_.size()));
        const Word slashes = next(), first = next();
        if (view(slashes) != "//")
            fail("inject-marker", "the marker of " + quoted(site.name) + " has no end",
                 "mm-ptx closes it by '// PTX_INJECT_END'", name);
        if (view(first) == kForeignEnd) break;
        add_operand(site, foreign_operand(first, site.operands.size()), first);
    }
    const std::size_t end = line_end_;
    site.signature = text_.substr(body, end - body);
    if (found != nullptr) expect_same(scan_.sites[*found], site, name);
    const std::uint32_t index = found != nullptr ? *found : add_site(std::move(site));
    note(index, function, start, end, {}, scan_.registers.size());
    return end;
}

}  // namespace ptxkit::inject
