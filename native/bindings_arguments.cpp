#include "bindings_arguments.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <cstring>

#include "launch/dlpack.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using launch::Kind;
using launch::Parameter;

// How arguments of one type are read. The general way is in Python.
enum class Way : std::uint8_t { general, exchange, torch, cupy, whole, real };

struct ArgumentType {
    PyTypeObject *type = nullptr;  // owned: types that were seen stay
    Way way = Way::general;
    const dlpack::ExchangeApi *api = nullptr;
    PyObject *stream_of = nullptr;  // owned; the library's current stream, by device
};

// The types of arguments that were seen, few in any program. Filled and read under the GIL.
struct Registry {
    std::array<ArgumentType, 16> known;
    std::size_t count = 0;
    PyObject *classify = nullptr;      // type -> (way, api's capsule, stream function)
    PyObject *default_stream = nullptr;  // of a launch without arrays, by device

    PyObject *data_ptr = PyUnicode_InternFromString("data_ptr");
    PyObject *is_cuda = PyUnicode_InternFromString("is_cuda");
    PyObject *is_contiguous = PyUnicode_InternFromString("is_contiguous");
    PyObject *get_device = PyUnicode_InternFromString("get_device");
    PyObject *data = PyUnicode_InternFromString("data");
    PyObject *ptr = PyUnicode_InternFromString("ptr");
    PyObject *device_id = PyUnicode_InternFromString("device_id");
    PyObject *c_contiguous = PyUnicode_InternFromString("_c_contiguous");
};

// Never freed: its objects must outlive whatever Python tears down first.
Registry &registry() {
    static auto *found = new Registry;
    return *found;
}

bool forget_error() {
    PyErr_Clear();
    return false;
}

bool to_address(PyObject *number, std::uint64_t &address) {
    address = PyLong_AsUnsignedLongLong(number);
    if (address == static_cast<std::uint64_t>(-1) && PyErr_Occurred()) return forget_error();
    return true;
}

bool to_device(PyObject *number, std::int32_t &device) {
    const long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred()) return forget_error();
    device = static_cast<std::int32_t>(value);
    return value >= 0;
}

const ArgumentType *classify(PyTypeObject *type) {
    Registry &all = registry();
    for (std::size_t n = 0; n < all.count; ++n)
        if (all.known[n].type == type) return &all.known[n];
    if (all.classify == nullptr || all.count == all.known.size()) return nullptr;
    const nb::object answer =
        nb::steal(PyObject_CallOneArg(all.classify, reinterpret_cast<PyObject *>(type)));
    if (!answer.is_valid()) {
        forget_error();
        return nullptr;
    }
    ArgumentType made;
    const nb::tuple parts = nb::cast<nb::tuple>(answer);
    made.way = static_cast<Way>(nb::cast<int>(parts[0]));
    if (made.way == Way::exchange) {
        made.api = static_cast<const dlpack::ExchangeApi *>(
            PyCapsule_GetPointer(nb::object(parts[1]).ptr(), "dlpack_exchange_api"));
        const bool usable = made.api != nullptr && made.api->major == 1 &&
                            made.api->describe != nullptr && made.api->current_stream != nullptr;
        if (!usable) {
            forget_error();
            made.way = Way::general;
        }
    }
    if (made.way == Way::general) return nullptr;  // not worth a place
    if (!nb::object(parts[2]).is_none()) made.stream_of = nb::object(parts[2]).release().ptr();
    Py_INCREF(reinterpret_cast<PyObject *>(type));
    made.type = type;
    all.known[all.count] = made;
    return &all.known[all.count++];
}

// A stream function of Python: device -> handle.
bool call_stream(PyObject *function, std::int32_t device, void *&stream) {
    const nb::object number = nb::steal(PyLong_FromLong(device));
    const nb::object handle = nb::steal(PyObject_CallOneArg(function, number.ptr()));
    std::uint64_t value = 0;
    if (!handle.is_valid() || !to_address(handle.ptr(), value)) return forget_error();
    stream = reinterpret_cast<void *>(value);
    return true;
}

bool read_exchange(PyObject *value, const ArgumentType &type, std::uint64_t &address,
                   std::int32_t &device) {
    dlpack::Tensor tensor;
    if (type.api->describe(value, &tensor) != 0) return forget_error();
    // A complex tensor may be lazily conjugated, which DLPack does not tell.
    if (tensor.device_type != dlpack::kCuda || tensor.type_code == dlpack::kComplex) return false;
    if (!dlpack::is_contiguous(tensor)) return false;
    address = dlpack::address(tensor);
    device = tensor.device;
    return true;
}

bool read_torch(PyObject *value, std::uint64_t &address, std::int32_t &device) {
    const Registry &names = registry();
    const nb::object on_gpu = nb::steal(PyObject_GetAttr(value, names.is_cuda));
    if (!on_gpu.is_valid()) return forget_error();
    if (on_gpu.ptr() != Py_True) return false;
    const nb::object dense = nb::steal(PyObject_CallMethodNoArgs(value, names.is_contiguous));
    if (!dense.is_valid()) return forget_error();
    if (dense.ptr() != Py_True) return false;
    const nb::object where = nb::steal(PyObject_CallMethodNoArgs(value, names.get_device));
    if (!where.is_valid()) return forget_error();
    const nb::object pointer = nb::steal(PyObject_CallMethodNoArgs(value, names.data_ptr));
    if (!pointer.is_valid()) return forget_error();
    return to_device(where.ptr(), device) && to_address(pointer.ptr(), address);
}

bool read_cupy(PyObject *value, std::uint64_t &address, std::int32_t &device) {
    const Registry &names = registry();
    const nb::object dense = nb::steal(PyObject_GetAttr(value, names.c_contiguous));
    if (!dense.is_valid()) return forget_error();
    if (PyObject_IsTrue(dense.ptr()) != 1) return false;
    const nb::object memory = nb::steal(PyObject_GetAttr(value, names.data));
    if (!memory.is_valid()) return forget_error();
    const nb::object pointer = nb::steal(PyObject_GetAttr(memory.ptr(), names.ptr));
    if (!pointer.is_valid()) return forget_error();
    const nb::object where = nb::steal(PyObject_GetAttr(memory.ptr(), names.device_id));
    if (!where.is_valid()) return forget_error();
    return to_device(where.ptr(), device) && to_address(pointer.ptr(), address);
}

bool pack_float(double value, const Parameter &parameter, std::uint8_t *place) {
    if (parameter.kind == Kind::integer || parameter.kind == Kind::structure) return false;
    if (parameter.size == 8) {
        std::memcpy(place, &value, 8);
        return true;
    }
    if (parameter.size != 4) return false;
    const auto narrow = static_cast<float>(value);
    if (std::isinf(narrow) && !std::isinf(value)) return false;
    std::memcpy(place, &narrow, 4);
    return true;
}

bool pack_integer(PyObject *value, const Parameter &parameter, std::uint8_t *place) {
    if (parameter.kind == Kind::structure || parameter.size > 8) return false;
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return false;
    if (parameter.kind == Kind::floating)
        return pack_float(static_cast<double>(number), parameter, place);
    const unsigned bits = 8 * parameter.size;
    if (bits < 64 && (number >= (1ll << bits) || number < -(1ll << (bits - 1)))) return false;
    std::memcpy(place, &number, parameter.size);
    return true;
}

// A structure of the host as it is, such as a tensor map.
bool pack_bytes(PyObject *value, const Parameter &parameter, std::uint8_t *place) {
    if (parameter.kind != Kind::structure) return false;
    if (static_cast<std::size_t>(PyBytes_GET_SIZE(value)) != parameter.size) return false;
    std::memcpy(place, PyBytes_AS_STRING(value), parameter.size);
    return true;
}

bool pack_array(PyObject *value, const ArgumentType &type, std::uint8_t *place, bool wants_stream,
                Origin &origin) {
    std::uint64_t address = 0;
    std::int32_t device = -1;
    bool found = false;
    switch (type.way) {
        case Way::exchange: found = read_exchange(value, type, address, device); break;
        case Way::torch: found = read_torch(value, address, device); break;
        case Way::cupy: found = read_cupy(value, address, device); break;
        default: return false;
    }
    if (!found) return false;
    std::memcpy(place, &address, sizeof address);
    if (origin.device >= 0) return origin.device == device;  // the general way words the error
    origin.device = device;
    if (!wants_stream) return true;
    origin.has_stream = true;
    if (type.way == Way::exchange)
        return type.api->current_stream(dlpack::kCuda, device, &origin.stream) == 0 ||
               forget_error();
    return type.stream_of != nullptr && call_stream(type.stream_of, device, origin.stream);
}

// A number that is no plain int or float, such as numpy's.
bool pack_number(PyObject *value, Way way, const Parameter &parameter, std::uint8_t *place) {
    if (way == Way::real) {
        const double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) return forget_error();
        return pack_float(number, parameter, place);
    }
    const nb::object number = nb::steal(PyNumber_Index(value));
    if (!number.is_valid()) return forget_error();
    return pack_integer(number.ptr(), parameter, place);
}

nb::object dlpack_memory(const nb::capsule &capsule) {
    // A capsule of either kind; the array that made it keeps the memory alive.
    const dlpack::Tensor *tensor = nullptr;
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        const auto *managed = static_cast<dlpack::ManagedVersioned *>(
            PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        if (managed->major == 1) tensor = &managed->tensor;
    } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
        tensor = &static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))
                      ->tensor;
    }
    if (tensor == nullptr) throw nb::value_error("this is not a DLPack capsule");
    return nb::make_tuple(dlpack::address(*tensor), dlpack::byte_count(*tensor),
                          tensor->device_type, tensor->device, dlpack::is_contiguous(*tensor));
}

void replace(PyObject *&kept, const nb::object &value) {
    nb::object mine = value;
    PyObject *before = kept;
    kept = mine.release().ptr();
    Py_XDECREF(before);
}

void set_argument_types(const nb::object &function) { replace(registry().classify, function); }

void set_default_stream(const nb::object &function) {
    replace(registry().default_stream, function);
}

}  // namespace

bool pack_argument(PyObject *value, const Parameter &parameter, std::uint8_t *parameters,
                   bool wants_stream, Origin &origin) {
    std::uint8_t *place = parameters + parameter.offset;
    if (PyFloat_CheckExact(value)) return pack_float(PyFloat_AS_DOUBLE(value), parameter, place);
    if (PyLong_CheckExact(value)) return pack_integer(value, parameter, place);
    if (PyBytes_CheckExact(value)) return pack_bytes(value, parameter, place);
    const ArgumentType *type = classify(Py_TYPE(value));
    if (type == nullptr) return false;
    if (type->way == Way::whole || type->way == Way::real)
        return pack_number(value, type->way, parameter, place);
    const bool pointer = parameter.size == 8 && (parameter.kind == Kind::integer ||
                                                 parameter.kind == Kind::bits);
    return pointer && pack_array(value, *type, place, wants_stream, origin);
}

bool default_stream(std::int32_t device, void *&stream) {
    Registry &all = registry();
    stream = nullptr;
    if (all.default_stream == nullptr) return true;
    return call_stream(all.default_stream, device, stream);
}

void bind_arguments(nb::module_ &m) {
    m.def("dlpack_memory", &dlpack_memory, "capsule"_a,
          "Address, bytes, kind and number of the device, and contiguity of a DLPack capsule.");
    m.def("set_argument_types", &set_argument_types, "classify"_a,
          "Say how arguments of a type are read: type -> (way, capsule, stream function).");
    m.def("set_default_stream", &set_default_stream, "function"_a,
          "Set the function that gives the stream of a launch without arrays, by device.");
}

}  // namespace ptxkit
