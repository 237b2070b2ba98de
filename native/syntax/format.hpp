// One canonical layout: the same tokens and comments, other white space.
#pragma once

#include <string>

#include "tree.hpp"

namespace ptxkit::syntax {

// Lay the text of an error-free tree out anew. Lines are broken at commas past `width`
// columns. Throws std::logic_error if the result would not have the same tokens.
std::string format(const Tree &tree, unsigned width);

}  // namespace ptxkit::syntax
