#include "directives.hpp"

#include <algorithm>
#include <array>

namespace ptxkit::syntax {

namespace {

struct Entry {
    std::string_view text;
    Word word;
};

// Most frequent first: the table is searched in order.
constexpr Entry kWords[] = {
    {".reg", Word::Space},
    {".param", Word::Space},
    {".loc", Word::Loc},
    {".global", Word::Space},
    {".shared", Word::Space},
    {".local", Word::Space},
    {".const", Word::Space},
    {".visible", Word::Linkage},
    {".extern", Word::Linkage},
    {".weak", Word::Linkage},
    {".common", Word::Linkage},
    {".align", Word::Align},
    {".ptr", Word::Pointer},
    {".pragma", Word::Pragma},
    {".func", Word::Func},
    {".entry", Word::Entry},
    {".callprototype", Word::CallPrototype},
    {".branchtargets", Word::BranchTargets},
    {".calltargets", Word::CallTargets},
    {".attribute", Word::Attribute},
    {".v2", Word::Vector},
    {".v4", Word::Vector},
    {".v8", Word::Vector},
    {".file", Word::File},
    {".section", Word::Section},
    {".alias", Word::Alias},
    {".version", Word::Version},
    {".target", Word::Target},
    {".address_size", Word::AddressSize},
    {".sreg", Word::Space},
    {".tex", Word::Space},
    {".shared::cta", Word::Space},
    {".shared::cluster", Word::Space},
};

}  // namespace

Word classify(std::string_view word) {
    for (const Entry &entry : kWords)
        if (entry.text == word) return entry.word;
    return Word::Unknown;
}

std::string_view nearest(std::string_view word) {
    if (word.size() > 20) return {};
    std::string_view found;
    std::size_t least = word.size() < 5 ? 2 : 3;  // changes of one character: fewer than that
    for (const Entry &entry : kWords) {
        // The edit distance, row by row.
        std::array<std::size_t, 32> row{};
        for (std::size_t at = 0; at <= word.size(); ++at) row[at] = at;
        for (std::size_t line = 1; line <= entry.text.size(); ++line) {
            std::size_t diagonal = row[0];
            row[0] = line;
            for (std::size_t at = 1; at <= word.size(); ++at) {
                const std::size_t same = diagonal + (entry.text[line - 1] != word[at - 1]);
                diagonal = row[at];
                row[at] = std::min({same, row[at] + 1, row[at - 1] + 1});
            }
        }
        if (row[word.size()] < least) {
            least = row[word.size()];
            found = entry.text;
        }
    }
    return found;
}

}  // namespace ptxkit::syntax
