// The same entry as for the parser, with templates in its place: any bytes are searched for
// markers, and what was found is rendered.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "inject/plan.hpp"
#include "invariants.hpp"

namespace ptxkit::fuzz {

namespace {

using inject::Fault;
using inject::Occurrence;
using inject::Operand;
using inject::Plan;
using inject::Scan;
using inject::Site;

void require(bool holds, const char *what, std::size_t at) {
    if (holds) return;
    std::fprintf(stderr, "invariant broken: %s (at %zu)\n", what, at);
    std::abort();
}

bool lies_in(std::string_view part, std::string_view whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

std::optional<Scan> scan(std::string_view text) {
    try {
        return inject::scan(text);
    } catch (const Fault &fault) {
        require(fault.start <= text.size() && fault.start <= fault.end, "a fault has a place",
                fault.start);
        require(fault.end <= text.size() + 1, "a fault ends in the text", fault.end);
        require(fault.what()[0] != '\0' && !fault.code.empty(), "a fault is explained", 0);
        return std::nullopt;
    }
}

void check_sites(const Scan &found, std::string_view text) {
    std::vector<std::uint32_t> counts(found.sites.size());
    for (const Occurrence &one : found.occurrences) ++counts.at(one.site);
    for (std::size_t number = 0; number < found.sites.size(); ++number) {
        const Site &site = found.sites[number];
        require(!site.name.empty() && lies_in(site.name, text), "a site has a name", number);
        require(site.count == counts[number] && site.count > 0, "occurrences are counted", number);
        require(site.operands.size() <= inject::kMostOperands, "the limit holds", number);
        std::vector<bool> places(site.operands.size());
        for (const Operand &operand : site.operands) {
            require(lies_in(operand.name, text) && !operand.name.empty(), "an operand has a name",
                    number);
            require(inject::register_width(operand.register_type) != 0, "a known type", number);
            require(operand.place < places.size() && !places[operand.place],
                    "every operand has its own register", number);
            places[operand.place] = true;
        }
    }
}

void check_occurrences(const Scan &found, std::string_view text) {
    std::size_t end = 0;
    for (const Occurrence &one : found.occurrences) {
        require(one.start >= end && one.end > one.start && one.end <= text.size(),
                "occurrences stand one after another", one.start);
        require(one.function < found.functions.size(), "a function is around it", one.start);
        require(text.substr(one.start, 2) == "//", "a marker is a comment", one.start);
        const Site &site = found.sites[one.site];
        const bool foreign = !site.operands.empty() && !site.operands[0].foreign.empty();
        if (!foreign)
            require(one.registers + site.operands.size() <= found.registers.size(),
                    "every operand has a register", one.start);
        end = one.end;
    }
}

// Everything but the markers comes back, in order, with the stubs between.
void check_rendering(const Scan &found, std::string_view text) {
    const Plan plan(text, found);
    require(plan.holes() == found.occurrences.size(), "a hole for each occurrence", plan.holes());
    const std::string_view stubs[] = {"", "\x01stub\x01", text.substr(0, text.size() / 3)};
    std::vector<std::uint32_t> slots;
    for (std::size_t hole = 0; hole < plan.holes(); ++hole)
        slots.push_back(static_cast<std::uint32_t>(hole % std::size(stubs)));
    const std::size_t size = plan.size(slots, stubs);
    std::string out(size, '\x02');
    plan.fill(slots, stubs, out.data());
    std::size_t at = 0, from = 0;
    for (std::size_t hole = 0; hole < plan.holes(); ++hole) {
        const std::string_view piece = text.substr(from, found.occurrences[hole].start - from);
        at = out.find(piece, at);
        require(at != out.npos && (hole != 0 || at == 0), "the text before a marker stays", hole);
        at = out.find(stubs[slots[hole]], at + piece.size());
        require(at != out.npos, "the stub is in its place", hole);
        at += stubs[slots[hole]].size();
        from = found.occurrences[hole].end;
    }
    const std::string_view rest = text.substr(from);
    require(out.size() >= rest.size() + at && out.substr(out.size() - rest.size()) == rest,
            "the text after the last marker stays", from);
}

}  // namespace

void check_all(const std::string &text) {
    // Without the NUL byte that a std::string has after its end.
    const std::vector<char> bytes(text.begin(), text.end());
    const std::string_view view(bytes.data(), bytes.size());
    const std::optional<Scan> found = scan(view);
    if (!found) return;
    check_sites(*found, view);
    check_occurrences(*found, view);
    check_rendering(*found, view);
}

}  // namespace ptxkit::fuzz
