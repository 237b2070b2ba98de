// Integers of 128 bits, which GCC and Clang have as an extension.
#pragma once

namespace ptxkit::sim {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace ptxkit::sim
