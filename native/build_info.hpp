#pragma once

#include <string_view>

namespace ptxkit {

/// How this library was compiled, for `ptxkit version` and bug reports.
struct BuildInfo {
    std::string_view compiler;    ///< name and version, "GNU 12.2.0"
    std::string_view build_type;  ///< CMake's name for it, "Release"
    std::string_view flags;       ///< optimisation and sanitizer flags
};

BuildInfo build_info() noexcept;

}  // namespace ptxkit
