#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "build_info.hpp"

namespace nb = nanobind;

namespace {

nb::str to_python(std::string_view text) { return nb::str(text.data(), text.size()); }

nb::dict build_info() {
    const ptxkit::BuildInfo info = ptxkit::build_info();
    nb::dict result;
    result["compiler"] = to_python(info.compiler);
    result["build_type"] = to_python(info.build_type);
    result["flags"] = to_python(info.flags);
    return result;
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core of ptxkit.";
    // Caches in Python may still hold modules when the interpreter ends, which is no leak.
    nb::set_leak_warnings(false);
    m.def("build_info", &build_info,
          "How this extension was compiled: compiler, build_type and flags.");
    ptxkit::bind_syntax(m);
    ptxkit::bind_sim(m);
    ptxkit::bind_observe(m);
    ptxkit::bind_launch(m);
    ptxkit::bind_inject(m);
    ptxkit::bind_stack(m);
    ptxkit::bind_synth(m);
}
