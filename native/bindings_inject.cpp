// Templates for Python. What a search loop repeats (the same sites, stubs that were checked
// before) is done here without a Python object but the result.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <thread>

#include "bindings.hpp"
#include "inject/plan.hpp"
#include "syntax/parser.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using inject::Direction;
using inject::Fault;
using inject::Occurrence;
using inject::Operand;
using inject::Plan;
using inject::Scan;
using inject::Site;

// Below this size giving the interpreter's lock away costs more than the copying.
constexpr std::size_t kWorthReleasing = 1 << 16;
// Stubs that are remembered as checked, for each site.
constexpr Py_ssize_t kMostKept = 1 << 16;

nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

// The bytes of a str of ASCII; nothing for anything else.
std::optional<std::string_view> ascii(PyObject *object) {
    if (!PyUnicode_CheckExact(object) || !PyUnicode_IS_COMPACT_ASCII(object)) return std::nullopt;
    return std::string_view(static_cast<const char *>(PyUnicode_DATA(object)),
                            static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)));
}

nb::object new_ascii(std::size_t size) {
    if (size > static_cast<std::size_t>(PY_SSIZE_T_MAX)) throw std::bad_alloc();
    nb::object made = nb::steal(PyUnicode_New(static_cast<Py_ssize_t>(size), 127));
    if (!made.is_valid()) nb::raise_python_error();
    return made;
}

char *data_of(const nb::object &text) {
    return static_cast<char *>(PyUnicode_DATA(text.ptr()));
}

// Texts for the holes of a plan. Holds its Python objects, which others may drop meanwhile.
struct Filling {
    std::vector<nb::object> owners;
    std::vector<std::string_view> texts;
};

class InjectTemplate {
  public:
    // `owner` is the Python object that holds the text.
    InjectTemplate(nb::object owner, std::string_view text, Scan scan, Plan plan)
        : owner_(std::move(owner)), text_(text), scan_(std::move(scan)), plan_(std::move(plan)) {
        site_slots_.reserve(scan_.occurrences.size());
        for (const Occurrence &one : scan_.occurrences) site_slots_.push_back(one.site);
        for (const Site &site : scan_.sites) {
            index_[to_str(site.name)] = checked_.size();
            nb::object kept = nb::steal(PySet_New(nullptr));
            if (!kept.is_valid()) nb::raise_python_error();
            checked_.push_back(std::move(kept));
        }
    }

    // The whole with one stub a site. None: something that the caller has to look at, such as
    // a stub that was not checked before.
    nb::object render(const nb::dict &stubs, bool check) const {
        Filling filling;
        if (!gather(stubs, check, filling)) return nb::none();
        return fill_ascii(site_slots_, filling);
    }

    nb::list render_many(const nb::list &sets, bool check, unsigned threads) const {
        struct Job {
            Filling filling;
            char *out;
        };
        nb::list results;
        std::vector<Job> jobs;
        std::size_t bytes = 0;
        for (const nb::handle set : sets) {
            Filling filling;
            if (!PyDict_CheckExact(set.ptr()) ||
                !gather(nb::borrow<nb::dict>(set), check, filling)) {
                results.append(nb::none());
                continue;
            }
            const std::size_t size = plan_.size(site_slots_, filling.texts);
            nb::object made = new_ascii(size);
            bytes += size;
            jobs.push_back({std::move(filling), data_of(made)});
            results.append(std::move(made));
        }
        const auto work = [&](std::atomic<std::size_t> &next) {
            for (std::size_t at = next++; at < jobs.size(); at = next++)
                plan_.fill(site_slots_, jobs[at].filling.texts, jobs[at].out);
        };
        {
            nb::gil_scoped_release release;
            std::atomic<std::size_t> next = 0;
            std::vector<std::jthread> pool;
            const bool large = bytes > 16 * kWorthReleasing;
            for (unsigned n = 1; large && n < threads && n < jobs.size(); ++n)
                pool.emplace_back([&] { work(next); });
            work(next);
        }
        return results;
    }

    // The whole with `texts[slots[i]]` in hole i: str where all is ASCII, else bytes.
    nb::object fill(const std::vector<std::uint32_t> &slots, const nb::list &texts) const {
        if (slots.size() != plan_.holes()) throw nb::value_error("as many slots as occurrences");
        Filling filling;
        bool plain = plan_.is_ascii();
        for (const nb::handle text : texts) {
            const auto found = ascii(text.ptr());
            if (!found && !PyBytes_CheckExact(text.ptr())) throw nb::type_error("str or bytes");
            plain = plain && found;
            filling.owners.push_back(nb::borrow(text));
            filling.texts.push_back(
                found ? *found
                      : std::string_view(PyBytes_AS_STRING(text.ptr()),
                                         static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr()))));
        }
        for (const std::uint32_t slot : slots)
            if (slot >= filling.texts.size()) throw nb::index_error("no such slot");
        if (plain) return fill_ascii(slots, filling);
        nb::object made = nb::steal(PyBytes_FromStringAndSize(
            nullptr, static_cast<Py_ssize_t>(plan_.size(slots, filling.texts))));
        if (!made.is_valid()) nb::raise_python_error();
        plan_.fill(slots, filling.texts, PyBytes_AS_STRING(made.ptr()));
        return made;
    }

    // From now on `render` takes this stub for this site.
    void approve(std::size_t site, const nb::str &stub) {
        if (site >= checked_.size()) throw nb::index_error("no such site");
        if (PySet_GET_SIZE(checked_[site].ptr()) >= kMostKept) PySet_Clear(checked_[site].ptr());
        if (PySet_Add(checked_[site].ptr(), stub.ptr()) != 0) nb::raise_python_error();
    }

    bool is_approved(std::size_t site, const nb::handle &stub) const {
        if (site >= checked_.size()) throw nb::index_error("no such site");
        return PySet_Contains(checked_[site].ptr(), stub.ptr()) == 1;
    }

    nb::bytes text() const { return nb::bytes(text_.data(), text_.size()); }

    nb::list sites() const {
        nb::list result;
        for (const Site &site : scan_.sites) {
            nb::list operands;
            for (const Operand &one : site.operands) {
                constexpr const char *kDirections[] = {"in", "mod", "out"};
                const std::string name =
                    "%" + (one.foreign.empty() ? "_" + std::string(one.name)
                                               : std::string(one.foreign));
                operands.append(nb::make_tuple(
                    kDirections[static_cast<std::size_t>(one.direction)],
                    // mm-ptx writes types in capitals.
                    one.foreign.empty() ? nb::object(to_str(one.type))
                                        : nb::object(to_str(one.type).attr("lower")()),
                    to_str(one.register_type), to_str(one.name), to_str(name)));
            }
            result.append(nb::make_tuple(to_str(site.name), operands));
        }
        return result;
    }

    nb::list occurrences() const {
        nb::list result;
        for (const Occurrence &one : scan_.occurrences) {
            const Site &site = scan_.sites[one.site];
            nb::list registers;
            for (const Operand &operand : site.operands)
                registers.append(operand.foreign.empty()
                                     ? to_str(scan_.registers[one.registers + operand.place])
                                     : to_str("%" + std::string(operand.foreign)));
            result.append(nb::make_tuple(one.site, to_str(scan_.functions[one.function]), one.start,
                                         one.end, one.source_line, one.flags, registers));
        }
        return result;
    }

    nb::list functions() const {
        nb::list result;
        for (const std::string_view name : scan_.functions) result.append(to_str(name));
        return result;
    }

    std::size_t fixed_size() const { return plan_.fixed_size(); }
    bool is_crlf() const { return plan_.is_crlf(); }

  private:
    bool gather(const nb::dict &stubs, bool check, Filling &filling) const {
        if (!plan_.is_ascii() || plan_.is_crlf() || stubs.size() != scan_.sites.size())
            return false;
        filling.texts.resize(scan_.sites.size());
        filling.owners.reserve(scan_.sites.size());
        PyObject *name = nullptr, *stub = nullptr;
        Py_ssize_t position = 0;
        while (PyDict_Next(stubs.ptr(), &position, &name, &stub)) {
            // Only a str has a hash and an equality that can't run code of others.
            if (!PyUnicode_CheckExact(name)) return false;
            PyObject *number = PyDict_GetItemWithError(index_.ptr(), name);
            if (number == nullptr) return false;
            const auto site = static_cast<std::size_t>(PyLong_AsSsize_t(number));
            const auto text = ascii(stub);
            if (!text) return false;
            // What was approved has neither a NUL byte nor another end of lines.
            if (check ? PySet_Contains(checked_[site].ptr(), stub) != 1
                      : text->find('\0') != text->npos || text->find('\r') != text->npos)
                return false;
            filling.owners.push_back(nb::borrow(stub));
            filling.texts[site] = *text;
        }
        return true;
    }

    nb::object fill_ascii(const std::vector<std::uint32_t> &slots, const Filling &filling) const {
        const std::size_t size = plan_.size(slots, filling.texts);
        nb::object made = new_ascii(size);
        char *out = data_of(made);
        if (size < kWorthReleasing) {
            plan_.fill(slots, filling.texts, out);
        } else {
            nb::gil_scoped_release release;
            plan_.fill(slots, filling.texts, out);
        }
        return made;
    }

    nb::object owner_;
    std::string_view text_;
    Scan scan_;
    Plan plan_;
    std::vector<std::uint32_t> site_slots_;
    nb::dict index_;
    std::vector<nb::object> checked_;
};

// The template, or what is wrong with a marker: (code, message, hint, start, end), or None for a
// text that is not PTX. A str has to be of ASCII; it is not copied, and neither are bytes.
nb::object make_template(const nb::object &text) {
    const auto plain = ascii(text.ptr());
    if (!plain && !PyBytes_CheckExact(text.ptr())) throw nb::type_error("ASCII or bytes");
    const std::string_view view =
        plain ? *plain
              : std::string_view(PyBytes_AS_STRING(text.ptr()),
                                 static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr())));
    try {
        std::optional<Scan> found;
        std::optional<Plan> plan;
        {
            nb::gil_scoped_release release;
            found.emplace(inject::scan(view));
            // The object that holds the text outlives this tree.
            const auto tree = syntax::parse(view, nullptr, "");
            if (!tree->diagnostics().empty()) {
                found.reset();
            } else {
                inject::refuse_torn_statements(*found, *tree);
                plan.emplace(view, *found);
            }
        }
        if (!found) return nb::none();
        return nb::cast(new InjectTemplate(text, view, std::move(*found), std::move(*plan)),
                        nb::rv_policy::take_ownership);
    } catch (const Fault &fault) {
        const std::string message = fault.what();
        return nb::make_tuple(fault.code.c_str(),
                              nb::bytes(message.data(), message.size()),
                              fault.hint.c_str(), fault.start, fault.end);
    }
}

}  // namespace

void bind_inject(nb::module_ &m) {
    nb::class_<InjectTemplate>(m, "InjectTemplate", "PTX with holes for stubs.")
        .def("render", &InjectTemplate::render, "stubs"_a, "check"_a)
        .def("render_many", &InjectTemplate::render_many, "sets"_a, "check"_a,
             "threads"_a)
        .def("fill", &InjectTemplate::fill, "slots"_a, "texts"_a)
        .def("approve", &InjectTemplate::approve, "site"_a, "stub"_a)
        .def("is_approved", &InjectTemplate::is_approved, "site"_a, "stub"_a)
        .def_prop_ro("text", &InjectTemplate::text)
        .def_prop_ro("sites", &InjectTemplate::sites)
        .def_prop_ro("occurrences", &InjectTemplate::occurrences)
        .def_prop_ro("functions", &InjectTemplate::functions)
        .def_prop_ro("fixed_size", &InjectTemplate::fixed_size)
        .def_prop_ro("is_crlf", &InjectTemplate::is_crlf);
    m.def("inject_template", &make_template, "text"_a);
}

}  // namespace ptxkit
