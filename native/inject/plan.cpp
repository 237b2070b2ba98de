#include "plan.hpp"

#include <cstring>

namespace ptxkit::inject {

namespace {

bool is_foreign(const Site &site) {
    return !site.operands.empty() && !site.operands.front().foreign.empty();
}

// The declarations of a site's registers, those of one type on one line.
std::string declarations(const Site &site) {
    std::string made = "{ // ";
    made += site.name;
    made += '\n';
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

}  // namespace

Plan::Plan(std::string_view text, const Scan &scan) {
    std::vector<std::string> opened;
    std::size_t room = text.size();
    for (const Site &site : scan.sites) {
        opened.push_back(is_foreign(site) ? std::string() : declarations(site));
        constexpr std::size_t kMove = 40;
        room += site.count * (opened.back().size() + site.operands.size() * kMove);
    }
    fixed_.reserve(room);
    ends_.reserve(scan.occurrences.size());
    std::size_t at = 0;
    for (const Occurrence &occurrence : scan.occurrences) {
        fixed_ += text.substr(at, occurrence.start - at);
        open_scope(scan, occurrence, opened[occurrence.site]);
        ends_.push_back(fixed_.size());
        close_scope(scan, occurrence);
        at = occurrence.end;
    }
    fixed_ += text.substr(at);
    ascii_ = all_ascii(fixed_);
}

void Plan::open_scope(const Scan &scan, const Occurrence &occurrence,
                      const std::string &registers) {
    fixed_ += registers;
    const Site &site = scan.sites[occurrence.site];
    if (is_foreign(site)) return;
    for (const Operand &operand : site.operands) {
        if (operand.direction == Direction::Out) continue;
        const std::string_view from = scan.registers[occurrence.registers + operand.place];
        const unsigned width = register_width(operand.register_type);
        fixed_ += width == 1 ? "\tsetp.ne.b32 " : move(width);
        fixed_ += "%_";
        fixed_ += operand.name;
        fixed_ += ", ";
        fixed_ += from;
        fixed_ += width == 1 ? ", 0;\n" : ";\n";
    }
}

void Plan::close_scope(const Scan &scan, const Occurrence &occurrence) {
    const Site &site = scan.sites[occurrence.site];
    // A stub may end in a comment.
    fixed_ += '\n';
    if (is_foreign(site)) return;
    for (const Operand &operand : site.operands) {
        if (operand.direction == Direction::In) continue;
        const std::string_view to = scan.registers[occurrence.registers + operand.place];
        const unsigned width = register_width(operand.register_type);
        fixed_ += width == 1 ? "\tselp.b32 " : move(width);
        fixed_ += to;
        fixed_ += width == 1 ? ", 1, 0, %_" : ", %_";
        fixed_ += operand.name;
        fixed_ += ";\n";
    }
    fixed_ += "\t}";
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
