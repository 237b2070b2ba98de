// Changes to whole tokens. Byte changes mostly break a text; these often keep it PTX, so
// that the formatter is reached.
#pragma once

#include <random>
#include <string>

namespace ptxkit::fuzz {

// One random change.
void mutate_tokens(std::string &text, std::mt19937_64 &random);

}  // namespace ptxkit::fuzz
