// A small instruction set for fuzzing and profiling the stack compiler without Python.
#pragma once

#include "stack/compiler.hpp"

namespace ptxkit::fuzz {

stack::Isa small_isa();
stack::Interface small_interface(const stack::Isa &isa, stack::Missing missing, bool strict,
                                 std::uint32_t steps);

}  // namespace ptxkit::fuzz
