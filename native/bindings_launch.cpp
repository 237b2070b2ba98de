// Launching a kernel with as little Python as possible: arguments are read and packed here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>

#include "bindings.hpp"
#include "launch/driver.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
    bool is_float;
};

// Names looked up on arguments, made once.
struct Names {
    PyObject *data_ptr = PyUnicode_InternFromString("data_ptr");
    PyObject *is_cuda = PyUnicode_InternFromString("is_cuda");
    PyObject *is_contiguous = PyUnicode_InternFromString("is_contiguous");
};

const Names &names() {
    static const Names found;
    return found;
}

class PackedLaunch {
  public:
    PackedLaunch(std::uint64_t function,
                 const std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> &parameters,
                 std::uint32_t bytes)
        : function_(reinterpret_cast<void *>(function)), buffer_(bytes + 8) {
        for (const auto &[offset, size, is_float] : parameters) {
            if (offset + size > bytes) throw nb::value_error("a parameter is out of range");
            parameters_.push_back({offset, size, is_float});
            places_.push_back(buffer_.data() + offset);
        }
        places_.push_back(nullptr);
    }

    // Pack what can be packed here. False: an argument needs the general way.
    bool pack(const nb::args &arguments) {
        if (arguments.size() != parameters_.size()) return false;
        for (std::size_t n = 0; n < parameters_.size(); ++n)
            if (!pack_one(PyTuple_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(n)),
                          parameters_[n]))
                return false;
        return true;
    }

    void write(std::uint32_t offset, const nb::bytes &data) {
        if (offset + data.size() > buffer_.size()) throw nb::value_error("out of range");
        std::memcpy(buffer_.data() + offset, data.c_str(), data.size());
    }

    int launch(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               unsigned shared, std::uint64_t stream) {
        const launch::LaunchFunction call = launch::launch_function();
        if (call == nullptr) throw nb::value_error("no CUDA driver was found");
        nb::gil_scoped_release release;
        return call(function_, gx, gy, gz, bx, by, bz, shared, reinterpret_cast<void *>(stream),
                    places_.data(), nullptr);
    }

  private:
    bool pack_one(PyObject *value, const Parameter &parameter) {
        std::uint8_t *place = buffer_.data() + parameter.offset;
        if (PyFloat_CheckExact(value)) {
            if (!parameter.is_float) return false;
            return pack_float(PyFloat_AS_DOUBLE(value), parameter, place);
        }
        if (PyLong_CheckExact(value)) return pack_integer(value, parameter, place);
        if (parameter.size == 8 && !parameter.is_float) return pack_tensor(value, place);
        return false;
    }

    static bool pack_float(double value, const Parameter &parameter, std::uint8_t *place) {
        if (parameter.size == 4) {
            const auto narrow = static_cast<float>(value);
            std::memcpy(place, &narrow, 4);
            return true;
        }
        if (parameter.size != 8) return false;
        std::memcpy(place, &value, 8);
        return true;
    }

    static bool pack_integer(PyObject *value, const Parameter &parameter, std::uint8_t *place) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow != 0) return false;
        if (parameter.is_float) return pack_float(static_cast<double>(number), parameter, place);
        const unsigned bits = 8 * parameter.size;
        if (bits < 64 && (number >= (1ll << bits) || number < -(1ll << (bits - 1)))) return false;
        std::memcpy(place, &number, std::min<std::size_t>(parameter.size, 8));
        return parameter.size <= 8;
    }

    // A torch tensor on the GPU; other arrays go the general way.
    static bool pack_tensor(PyObject *value, std::uint8_t *place) {
        nb::object on_gpu = nb::steal(PyObject_GetAttr(value, names().is_cuda));
        if (!on_gpu.is_valid()) {
            PyErr_Clear();
            return false;
        }
        if (on_gpu.ptr() != Py_True) return false;
        nb::object contiguous = nb::steal(PyObject_CallMethodNoArgs(value, names().is_contiguous));
        if (!contiguous.is_valid() || contiguous.ptr() != Py_True) {
            PyErr_Clear();
            return false;
        }
        nb::object pointer = nb::steal(PyObject_CallMethodNoArgs(value, names().data_ptr));
        if (!pointer.is_valid()) {
            PyErr_Clear();
            return false;
        }
        const unsigned long long address = PyLong_AsUnsignedLongLong(pointer.ptr());
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        std::memcpy(place, &address, 8);
        return true;
    }

    void *function_;
    std::vector<std::uint8_t> buffer_;
    std::vector<Parameter> parameters_;
    std::vector<void *> places_;
};

}  // namespace

void bind_launch(nb::module_ &m) {
    nb::class_<PackedLaunch>(m, "PackedLaunch", "Packs arguments and launches a kernel.")
        .def(nb::init<std::uint64_t,
                      const std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> &,
                      std::uint32_t>(),
             "function"_a, "parameters"_a, "size"_a)
        .def("pack", &PackedLaunch::pack)
        .def("write", &PackedLaunch::write, "offset"_a, "data"_a)
        .def("launch", &PackedLaunch::launch);
}

}  // namespace ptxkit
