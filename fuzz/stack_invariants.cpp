// Any bytes as a stack program: compiled under every rule, evaluated, and the text looked at.
#include "invariants.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stack_table.hpp"

namespace ptxkit::fuzz {

namespace {

using namespace stack;

void demand(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "stack: %s\n", what);
    std::abort();
}

// Sixteen bytes an item, as they are, but that most of them mean something.
std::vector<Item> items_of(const std::string &text, const Isa &isa) {
    std::vector<Item> items(std::min<std::size_t>(text.size() / sizeof(Item), 400));
    if (!items.empty()) std::memcpy(items.data(), text.data(), items.size() * sizeof(Item));
    for (Item &item : items) {
        const std::uint32_t wild = item.payload % 251;  // a few stay as they are
        if (wild == 0) continue;
        item.kind = static_cast<Kind>(static_cast<unsigned>(item.kind) %
                                      static_cast<unsigned>(Kind::Count));
        item.guard = item.guard < 40 ? item.guard : std::uint8_t{0};
        item.stack = static_cast<std::uint16_t>(item.stack % isa.stacks.size());
        if (item.kind == Kind::Instruction)
            item.index %= static_cast<std::uint32_t>(isa.rows.size());
        else item.index %= 6;
        if (item.kind == Kind::Call) item.index %= 2;
        if (item.kind == Kind::Constant && isa.stacks[item.stack].width < 64)
            item.payload &= (std::uint64_t{1} << isa.stacks[item.stack].width) - 1;
    }
    return items;
}

// Every register of ours is declared, and braces are where they belong.
void look_at(const std::string &stub) {
    demand(stub.starts_with("{\n") && stub.ends_with("}\n"), "the stub has no braces");
    std::vector<std::pair<std::string, unsigned long>> declared;
    for (std::size_t at = stub.find(".reg ."); at != std::string::npos;
         at = stub.find(".reg .", at + 1)) {
        const std::size_t name = stub.find('%', at), open = stub.find('<', at);
        demand(name < open, "a declaration is damaged");
        declared.emplace_back(stub.substr(name, open - name), std::stoul(stub.substr(open + 1)));
    }
    for (std::size_t at = stub.find('%'); at != std::string::npos; at = stub.find('%', at + 1)) {
        for (const auto &[prefix, count] : declared)
            if (stub.compare(at, prefix.size(), prefix) == 0 &&
                std::isdigit(static_cast<unsigned char>(stub[at + prefix.size()])))
                demand(std::stoul(stub.substr(at + prefix.size())) < count,
                       "a register is not declared");
    }
    demand(stub.find('\0') == std::string::npos, "the stub has a NUL");
}

}  // namespace

void check_all(const std::string &text) {
    static const Isa isa = small_isa();
    static const Interface rules[] = {small_interface(isa, Missing::Zero, true, 2000),
                                      small_interface(isa, Missing::Keep, false, 200),
                                      small_interface(isa, Missing::Error, true, 2000)};
    static Compiler compiler;
    static Buffer buffer;
    const std::vector<Item> items = items_of(text, isa);
    const std::vector<std::uint64_t> inputs(6 * 40, 0x3F8000003F800000ull);
    for (const Interface &interface : rules) {
        Report report;
        std::size_t begin = 0, end = 0;
        const Outcome outcome = compiler.compile(isa, interface, items, report, buffer, end, begin);
        if (outcome.status == Status::Fine)
            look_at(std::string(buffer.data() + begin, end - begin));
        std::vector<std::uint64_t> out(interface.outputs.size() * 40);
        Outcome told;
        const Evaluation evaluation = compiler.evaluate(isa, interface, items,
                                                        {inputs.data(), 40}, out.data(), told);
        demand((evaluation == Evaluation::Faulty) == (outcome.status != Status::Fine),
               "compiling and evaluating disagree");
        // A second time, what the first one left behind must not matter.
        Report again;
        std::size_t more = end, second = 0;
        compiler.compile(isa, interface, items, again, buffer, more, second);
        demand(std::memcmp(&report, &again, sizeof report) == 0, "two runs report two things");
        if (outcome.status == Status::Fine)
            demand(more - second == end - begin &&
                       std::memcmp(buffer.data() + begin, buffer.data() + second, end - begin) == 0,
                   "two runs give two texts");
    }
}

}  // namespace ptxkit::fuzz
