#include "directives.hpp"

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

}  // namespace ptxkit::syntax
