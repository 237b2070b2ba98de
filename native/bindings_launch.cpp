// Launching a kernel with as little Python as possible. `k[grid, block]` is one lookup in a
// dictionary, and the call packs its arguments and launches here. What is not common (numpy
// arrays, structs, a device not used before) and everything that goes wrong is left to the
// methods of the Python classes that derive from these.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "bindings_arguments.hpp"
#include "launch/driver.hpp"
#include "launch/plan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using launch::Kind;
using launch::Place;
using launch::Plan;
using launch::Shape;
using Triple = std::array<std::uint32_t, 3>;
using Row = std::tuple<std::uint32_t, std::uint32_t, std::string, std::string>;  // with a label

Kind kind_of(const std::string &name) {
    if (name == "integer") return Kind::integer;
    if (name == "float") return Kind::floating;
    if (name == "bits") return Kind::bits;
    if (name == "struct") return Kind::structure;
    throw nb::value_error("an unknown kind of parameter");
}

// The kernel: its parameters, and the launchers made of it so far.
struct Kernel {
    Kernel(std::string name, const std::vector<Row> &rows, std::uint32_t bytes) {
        if (bytes > launch::kParameterBytes) throw nb::value_error("too many bytes of parameters");
        auto made = std::make_shared<Plan>();
        made->name = std::move(name);
        made->bytes = bytes;
        for (const auto &[offset, size, kind, label] : rows) {
            if (offset > bytes || size > bytes - offset)
                throw nb::value_error("a parameter is out of range");
            made->parameters.push_back({offset, size, kind_of(kind)});
            made->labels.push_back(label);
        }
        plan = std::move(made);
    }

    std::shared_ptr<const Plan> plan;
    nb::dict launchers;
};

constexpr Py_ssize_t kMostLaunchers = 256;  // of one kernel; then the dictionary starts anew

PyObject *call_method(PyObject *self, PyObject *name, PyObject *argument) {
    return PyObject_CallMethodOneArg(self, name, argument);
}

PyObject *kernel_subscript(PyObject *self, PyObject *key) {
    static PyObject *const make = PyUnicode_InternFromString("_launcher");
    Kernel &kernel = *nb::inst_ptr<Kernel>(self);
    PyObject *known = PyDict_GetItemWithError(kernel.launchers.ptr(), key);
    if (known != nullptr) return Py_NewRef(known);
    const bool hashable = !PyErr_Occurred();
    PyErr_Clear();
    PyObject *made = call_method(self, make, key);
    if (made == nullptr || !hashable) return made;
    if (PyDict_Size(kernel.launchers.ptr()) >= kMostLaunchers) kernel.launchers.clear();
    if (PyDict_SetItem(kernel.launchers.ptr(), key, made) != 0) {
        Py_DECREF(made);
        return nullptr;
    }
    return made;
}

int kernel_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<Kernel>(self)->launchers.ptr());
    return 0;
}

int kernel_clear(PyObject *self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Kernel>(self)->launchers = nb::dict();
    return 0;
}

// A kernel with the shape of its launch.
struct Launcher {
    Launcher(const Kernel &kernel, const Triple &grid, const Triple &block, std::uint32_t shared,
             const Triple &cluster, bool cooperative, std::optional<std::uint64_t> stream_handle,
             std::int32_t default_device)
        : plan(kernel.plan),
          shape{grid, block, cluster, shared, cooperative},
          has_stream(stream_handle.has_value()),
          stream(reinterpret_cast<void *>(stream_handle.value_or(0))),
          device(default_device) {}

    int run(const Place &place, void *on, std::uint8_t *parameters) const {
        int status = 0;
        // The driver waits where a stream is full; a callback of that stream may want the GIL.
        Py_BEGIN_ALLOW_THREADS
        status = launch::launch(*plan, shape, place, on, parameters);
        Py_END_ALLOW_THREADS
        if (status == 0) launch::history().add(plan, shape, place.context, on, parameters);
        return status;
    }

    // Launch with parameters that were packed in Python.
    int run_packed(std::int32_t on_device, std::uint64_t on, const nb::bytes &parameters) const {
        if (parameters.size() != plan->bytes) throw nb::value_error("wrong bytes of parameters");
        if (!is_ready(on_device)) throw nb::value_error("the device was not made ready");
        alignas(16) std::uint8_t buffer[launch::kParameterBytes];
        std::memcpy(buffer, parameters.c_str(), parameters.size());
        return run(places[static_cast<std::size_t>(on_device)], reinterpret_cast<void *>(on),
                   buffer);
    }

    void make_ready(std::int32_t on_device, std::uint64_t context, std::uint64_t function) {
        if (on_device < 0 || on_device > 1023) throw nb::value_error("no such device");
        const auto index = static_cast<std::size_t>(on_device);
        if (places.size() <= index) places.resize(index + 1);
        places[index] = {reinterpret_cast<void *>(context), reinterpret_cast<void *>(function)};
    }

    bool is_ready(std::int32_t on_device) const {
        const auto index = static_cast<std::size_t>(on_device);
        return on_device >= 0 && index < places.size() && places[index].function != nullptr;
    }

    std::shared_ptr<const Plan> plan;
    Shape shape;
    bool has_stream;
    void *stream;
    std::int32_t device;  // of a launch without arrays; -1 where it has to be asked for
    std::vector<Place> places;
};

// The arguments in `buffer` and where they are to go; false where Python has to do it.
bool prepare(const Launcher &launcher, PyObject *arguments, std::uint8_t *buffer, Origin &origin) {
    const auto &parameters = launcher.plan->parameters;
    if (static_cast<std::size_t>(PyTuple_GET_SIZE(arguments)) != parameters.size()) return false;
    std::memset(buffer, 0, launcher.plan->bytes);
    for (std::size_t n = 0; n < parameters.size(); ++n)
        if (!pack_argument(PyTuple_GET_ITEM(arguments, static_cast<Py_ssize_t>(n)), parameters[n],
                           buffer, !launcher.has_stream, origin))
            return false;
    if (origin.device < 0) origin.device = launcher.device;
    if (!launcher.is_ready(origin.device)) return false;
    if (launcher.has_stream)
        origin.stream = launcher.stream;
    else if (!origin.has_stream)
        return default_stream(origin.device, origin.stream);
    return true;
}

PyObject *launcher_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static PyObject *const general = PyUnicode_InternFromString("_general");
    static PyObject *const failed = PyUnicode_InternFromString("_failed");
    static PyObject *const refuse = PyUnicode_InternFromString("_refuse");
    if (keywords != nullptr && PyDict_GET_SIZE(keywords) != 0)
        return call_method(self, refuse, keywords);
    const Launcher &launcher = *nb::inst_ptr<Launcher>(self);
    alignas(16) std::uint8_t buffer[launch::kParameterBytes];
    Origin origin;
    if (!prepare(launcher, arguments, buffer, origin)) return call_method(self, general, arguments);
    const Place place = launcher.places[static_cast<std::size_t>(origin.device)];
    const int status = launcher.run(place, origin.stream, buffer);
    if (status == 0) Py_RETURN_NONE;
    const nb::object about = nb::make_tuple(status, origin.device, nb::handle(arguments));
    return call_method(self, failed, about.ptr());
}

nb::list pending_launches(std::uint64_t context) {
    nb::list found;
    for (const launch::Record &record :
         launch::history().pending(reinterpret_cast<void *>(context))) {
        nb::list words;
        for (std::size_t n = 0; n < record.plan->parameters.size(); ++n) {
            const launch::Parameter &parameter = record.plan->parameters[n];
            const bool kept = parameter.offset + parameter.size <= record.parameters.size();
            words.append(nb::make_tuple(
                record.plan->labels[n],
                nb::bytes(record.parameters.data() + parameter.offset, kept ? parameter.size : 0)));
        }
        const auto &[grid, block, cluster, shared, cooperative] = record.shape;
        found.append(nb::make_tuple(record.plan->name, nb::make_tuple(grid[0], grid[1], grid[2]),
                                    nb::make_tuple(block[0], block[1], block[2]), shared, words));
    }
    return found;
}

void finished(std::uint64_t context, std::optional<std::uint64_t> stream) {
    launch::history().finished(reinterpret_cast<void *>(context),
                               reinterpret_cast<void *>(stream.value_or(0)), !stream.has_value());
}

PyType_Slot kernel_slots[] = {
    {Py_mp_subscript, reinterpret_cast<void *>(kernel_subscript)},
    {Py_tp_traverse, reinterpret_cast<void *>(kernel_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(kernel_clear)},
    {0, nullptr},
};

PyType_Slot launcher_slots[] = {
    {Py_tp_call, reinterpret_cast<void *>(launcher_call)},
    {0, nullptr},
};

}  // namespace

void bind_launch(nb::module_ &m) {
    nb::class_<Kernel>(m, "GpuKernel", nb::type_slots(kernel_slots),
                       "A kernel whose `k[grid, block]` remembers the launchers it made.")
        .def(nb::init<std::string, const std::vector<Row> &, std::uint32_t>(), "name"_a,
             "parameters"_a, "size"_a);
    nb::class_<Launcher>(m, "GpuLauncher", nb::type_slots(launcher_slots),
                         "A kernel with the shape of its launch: packs arguments and launches.")
        .def(nb::init<const Kernel &, const Triple &, const Triple &, std::uint32_t,
                      const Triple &, bool, std::optional<std::uint64_t>, std::int32_t>(),
             "kernel"_a, "grid"_a, "block"_a, "shared"_a, "cluster"_a, "cooperative"_a,
             "stream"_a.none(), "device"_a)
        .def("run_packed", &Launcher::run_packed, "device"_a, "stream"_a, "parameters"_a)
        .def("make_ready", &Launcher::make_ready, "device"_a, "context"_a, "function"_a)
        .def("is_ready", &Launcher::is_ready, "device"_a);
    m.def("pending_launches", &pending_launches, "context"_a,
          "The launches in a context that are not known to have finished, oldest first.");
    m.def("finished_launches", &finished, "context"_a, "stream"_a.none(),
          "Say that a stream, or with None the whole context, has finished its launches.");
    bind_arguments(m);
}

}  // namespace ptxkit
