#include "plan.hpp"

#include <cstring>

namespace ptxkit::inject {

namespace {

bool is_foreign(const Site &site) {
    return !site.operands.empty() && !site.operands.front().foreign.empty();
}

// The declarations of a site's registers, those of one type on one line.
std::string declarations(const Site &site) {
    std::string made = "{ // " + std::string(site.name) + "\n";
    std::vector<bool> done(site.operands.size());
    for (std::size_t at = 0; at < site.operands.size(); ++at) {
        if (done[at]) continue;
        made += "\t.reg .";
        made += site.operands[at].register_type;
        for (std::size_t other = at; other < site.operands.size(); ++other) {
            if (site.operands[other].register_type != site.operands[at].register_type) continue;
            made += other == at ? " %_" : ", %_";
            made += site.operands[other].name;
            done[other] = true;
        }
        made += ";\n";
    }
    return made;
}

bool all_ascii(std::string_view text) {
    unsigned char seen = 0;
    for (const char c : text) seen = static_cast<unsigned char>(seen | static_cast<unsigned char>(c));
    return seen < 128;
}

const char *move(unsigned width) {
    switch (width) {
        case 16: return "\tmov.b16 ";
        case 32: return "\tmov.b32 ";
        case 64: return "\tmov.b64 ";
        default: return "\tmov.b128 ";
    }
}

// Text in which the registers of an occurrence are to be filled in.
struct Pattern {
    std::vector<std::string> pieces{""};
    std::vector<std::uint32_t> places;  // of the registers between the pieces

    void add(std::string_view text) { pieces.back() += text; }
    void add_register(std::uint32_t place) {
        places.push_back(place);
        pieces.emplace_back();
    }
    // Lines end as those of the text do.
    void end_lines(std::string_view line_end) {
        for (std::string &piece : pieces)
            for (std::size_t at = piece.find('\n'); at != piece.npos;
                 at = piece.find('\n', at + line_end.size()))
                piece.replace(at, 1, line_end);
    }
    void write(std::string &out, const std::string_view *registers) const {
        out += pieces[0];
        for (std::size_t at = 0; at < places.size(); ++at) {
            out += registers[places[at]];
            out += pieces[at + 1];
        }
    }
};

// What stands before the stub of a site: registers for it, and moves into them.
Pattern opening(const Site &site) {
    Pattern made;
    made.add(declarations(site));
    for (const Operand &operand : site.operands) {
        if (operand.direction == Direction::Out) continue;
        const unsigned width = register_width(operand.register_type);
        made.add(width == 1 ? "\tsetp.ne.b32 %_" : move(width) + std::string("%_"));
        made.add(operand.name);
        made.add(", ");
        made.add_register(operand.place);
        made.add(width == 1 ? ", 0;\n" : ";\n");
    }
    return made;
}

// What stands after it: moves out of them. A stub may end in a comment, so a line ends first.
Pattern closing(const Site &site) {
    Pattern made;
    made.add("\n");
    for (const Operand &operand : site.operands) {
        if (operand.direction == Direction::In) continue;
        const unsigned width = register_width(operand.register_type);
        made.add(width == 1 ? "\tselp.b32 " : move(width));
        made.add_register(operand.place);
        made.add(width == 1 ? ", 1, 0, %_" : ", %_");
        made.add(operand.name);
        made.add(";\n");
    }
    made.add("\t}");
    return made;
}

}  // namespace

Plan::Plan(std::string_view text, const Scan &scan) {
    const std::size_t line = text.find('\n');
    crlf_ = line != text.npos && line > 0 && text[line - 1] == '\r';
    std::vector<Pattern> opened, closed;
    std::size_t room = text.size();
    for (const Site &site : scan.sites) {
        opened.push_back(is_foreign(site) ? Pattern() : opening(site));
        closed.push_back(is_foreign(site) ? Pattern() : closing(site));
        if (crlf_) {
            opened.back().end_lines("\r\n");
            closed.back().end_lines("\r\n");
        }
        constexpr std::size_t kMove = 40;
        room += site.count * (opened.back().pieces[0].size() + site.operands.size() * kMove);
    }
    fixed_.reserve(room);
    ends_.reserve(scan.occurrences.size());
    std::size_t at = 0;
    for (const Occurrence &occurrence : scan.occurrences) {
        const std::string_view *registers = scan.registers.data() + occurrence.registers;
        fixed_ += text.substr(at, occurrence.start - at);
        opened[occurrence.site].write(fixed_, registers);
        ends_.push_back(fixed_.size());
        closed[occurrence.site].write(fixed_, registers);
        at = occurrence.end;
    }
    fixed_ += text.substr(at);
    ascii_ = all_ascii(fixed_);
}

std::size_t Plan::size(std::span<const std::uint32_t> slots,
                       std::span<const std::string_view> texts) const {
    std::size_t total = fixed_.size();
    for (const std::uint32_t slot : slots) total += texts[slot].size();
    return total;
}

void Plan::fill(std::span<const std::uint32_t> slots, std::span<const std::string_view> texts,
                char *out) const {
    const char *const fixed = fixed_.data();
    std::size_t at = 0;
    for (std::size_t hole = 0; hole < ends_.size(); ++hole) {
        const std::size_t length = ends_[hole] - at;
        std::memcpy(out, fixed + at, length);
        out += length;
        at = ends_[hole];
        const std::string_view text = texts[slots[hole]];
        std::memcpy(out, text.data(), text.size());
        out += text.size();
    }
    std::memcpy(out, fixed + at, fixed_.size() - at);
}

}  // namespace ptxkit::inject
