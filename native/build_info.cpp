#include "build_info.hpp"

namespace ptxkit {

// The three macros come from CMakeLists.txt.
BuildInfo build_info() noexcept { return {PTXKIT_COMPILER, PTXKIT_BUILD_TYPE, PTXKIT_FLAGS}; }

}  // namespace ptxkit
