// What must hold of the tree of any bytes, PTX or not. A breach prints one line and aborts,
// which is how both fuzzing drivers notice it.
#pragma once

#include <string>

namespace ptxkit::fuzz {

void check_all(const std::string &text);

}  // namespace ptxkit::fuzz
