// Reading a launch's arguments from Python objects, as fast as their types allow.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "launch/plan.hpp"

namespace ptxkit {

// What the arrays among the arguments say about the launch.
struct Origin {
    std::int32_t device = -1;  // -1: no array was seen
    bool has_stream = false;
    void *stream = nullptr;
};

// Write one argument's bytes to its place. False: it needs the general way, in Python, which also
// words the errors; nothing is raised here. `wants_stream` asks for the current stream of the
// library that the first array belongs to.
bool pack_argument(PyObject *value, const launch::Parameter &parameter, std::uint8_t *parameters,
                   bool wants_stream, Origin &origin);

// The stream of a launch without arrays: torch's current one where torch works on the GPU.
// False: an exception was raised.
bool default_stream(std::int32_t device, void *&stream);

void bind_arguments(nanobind::module_ &m);

}  // namespace ptxkit
