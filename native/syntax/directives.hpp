// The words that begin statements and declarations.
#pragma once

#include <string_view>

namespace ptxkit::syntax {

enum class Word : unsigned char {
    Unknown,
    Version,
    Target,
    AddressSize,
    File,
    Section,
    Loc,
    Pragma,
    Alias,
    Linkage,  // .extern .visible .weak .common
    Entry,
    Func,
    Space,  // .global .shared ...
    Align,
    Attribute,
    Vector,  // .v2 .v4 .v8
    Pointer, // .ptr
    BranchTargets,
    CallTargets,
    CallPrototype,
};

// What a word with its dot means as a directive.
Word classify(std::string_view word);

// The directive that a misspelled word is nearest to; empty where none is near.
std::string_view nearest(std::string_view word);

}  // namespace ptxkit::syntax
