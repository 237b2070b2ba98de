// Each room of the native core adds its names to the one extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace ptxkit {

void bind_syntax(nanobind::module_ &m);
void bind_sim(nanobind::module_ &m);
void bind_observe(nanobind::module_ &m);
void bind_launch(nanobind::module_ &m);
void bind_inject(nanobind::module_ &m);
void bind_stack(nanobind::module_ &m);
void bind_synth(nanobind::module_ &m);

}  // namespace ptxkit
