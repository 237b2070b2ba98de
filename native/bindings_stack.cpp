// Stack programs from Python: instruction sets, interfaces, compiling.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "bindings.hpp"
#include "stack/compiler.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using namespace stack;

constexpr std::size_t kReleaseFrom = 256;  // items worth letting other threads run for

// The bytes of an object for as long as this lives.
class View {
  public:
    explicit View(nb::handle object) {
        if (PyBytes_Check(object.ptr())) {
            data_ = PyBytes_AS_STRING(object.ptr());
            size_ = static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()));
            return;
        }
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_C_CONTIGUOUS) != 0)
            throw nb::python_error();
        held_ = true;
        data_ = static_cast<const char *>(buffer_.buf);
        size_ = static_cast<std::size_t>(buffer_.len);
    }
    ~View() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    Items items() const {
        if (size_ % sizeof(Item) != 0)
            throw nb::value_error("a program is made of items of 16 bytes");
        if (reinterpret_cast<std::uintptr_t>(data_) % alignof(Item) != 0)
            throw nb::value_error("the items of a program must lie at multiples of 8 bytes");
        return {reinterpret_cast<const Item *>(data_), size_ / sizeof(Item)};
    }
    const char *data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    Py_buffer buffer_{};
    bool held_ = false;
    const char *data_ = nullptr;
    std::size_t size_ = 0;
};

struct Table {
    Isa isa;
};

struct Bound {
    std::shared_ptr<const Table> table;
    Interface interface;
};

nb::object to_text(const char *data, std::size_t size) {
    PyObject *text = PyUnicode_New(static_cast<Py_ssize_t>(size), 127);
    if (text == nullptr) throw nb::python_error();
    std::memcpy(PyUnicode_1BYTE_DATA(text), data, size);
    return nb::steal(text);
}

nb::tuple to_tuple(const Outcome &outcome) {
    return nb::make_tuple(static_cast<unsigned>(outcome.status), outcome.item,
                          outcome.routine == kNone ? nb::object(nb::none())
                                                   : nb::object(nb::int_(outcome.routine)),
                          outcome.detail);
}

nb::tuple to_tuple(const Report &report) {
    return nb::make_tuple(report.steps, report.executed, report.idle, report.reused, report.folded,
                          report.emitted, report.moves, report.registers, report.missing,
                          report.limit);
}

Compiler &own_compiler() {
    static thread_local Compiler compiler;
    return compiler;
}

// The stub, or what is wrong as a tuple; with `reported`, a pair of that and the report.
nb::object compile_one(const Bound &bound, nb::handle program, bool reported) {
    static thread_local Buffer text;
    const View view(program);
    const Items items = view.items();
    Report report;
    Outcome outcome;
    std::size_t begin = 0, end = 0;
    if (items.size() >= kReleaseFrom) {
        nb::gil_scoped_release release;
        outcome = own_compiler().compile(bound.table->isa, bound.interface, items, report, text,
                                         end, begin);
    } else {
        outcome = own_compiler().compile(bound.table->isa, bound.interface, items, report, text,
                                         end, begin);
    }
    nb::object made = outcome.status == Status::Fine ? to_text(text.data() + begin, end - begin)
                                                     : nb::object(to_tuple(outcome));
    if (!reported) return made;
    return nb::make_tuple(made, to_tuple(report));
}

// The stubs of many programs: text is made of them when it is asked for.
struct Stubs {
    Stubs() = default;
    Stubs(Stubs &&) = default;
    Stubs(const Stubs &) = delete;

    std::vector<Part> parts;
    std::vector<Report> reports;
    std::vector<Outcome> outcomes;
    std::size_t share = 0;

    std::pair<const char *, std::size_t> at(std::size_t n) const {
        const Part &part = parts[n / share];
        const auto [begin, end] = part.places[n - part.first];
        return {part.text.data() + begin, end - begin};
    }
};

// `programs` is one buffer; program n has the items offsets[n] .. offsets[n + 1].
std::vector<Items> split(Items items, const View &places) {
    if (places.size() % 8 != 0 || places.size() == 0)
        throw nb::value_error("the offsets must be 64-bit numbers");
    std::vector<std::uint64_t> numbers(places.size() / 8);
    std::memcpy(numbers.data(), places.data(), places.size());
    std::vector<Items> all(numbers.size() - 1);
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (numbers[n] > numbers[n + 1] || numbers[n + 1] > items.size())
            throw nb::value_error("the offsets must rise and stay within the items");
        all[n] = items.subspan(numbers[n], numbers[n + 1] - numbers[n]);
    }
    return all;
}

Stubs compile_packed(const Bound &bound, nb::handle programs, nb::handle offsets,
                     unsigned threads) {
    const View view(programs), places(offsets);
    const std::vector<Items> all = split(view.items(), places);
    Stubs stubs;
    {
        nb::gil_scoped_release release;
        compile_many(bound.table->isa, bound.interface, all, threads, stubs.parts, stubs.reports,
                     stubs.outcomes);
        stubs.share = kShare;
    }
    return stubs;
}

// `inputs` holds the values of all inputs, `size` each. Gives the outputs of all programs, what
// came of each, and where one is faulty.
nb::tuple evaluate_packed(const Bound &bound, nb::handle programs, nb::handle offsets,
                          nb::handle inputs, std::size_t size, unsigned threads) {
    const View view(programs), places(offsets), values(inputs);
    const std::vector<Items> all = split(view.items(), places);
    if (values.size() != bound.interface.inputs.size() * size * 8 ||
        reinterpret_cast<std::uintptr_t>(values.data()) % alignof(std::uint64_t) != 0)
        throw nb::value_error("the inputs must be aligned 64-bit words, all of one size");
    const std::size_t total = all.size() * bound.interface.outputs.size() * size;
    std::vector<Evaluation> evaluations;
    std::vector<Outcome> outcomes;
    nb::object made = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total * 8)));
    if (!made.is_valid()) throw nb::python_error();
    auto results = std::make_unique_for_overwrite<std::uint64_t[]>(total);
    {
        nb::gil_scoped_release release;
        const Arrays arrays{reinterpret_cast<const std::uint64_t *>(values.data()), size};
        evaluate_many(bound.table->isa, bound.interface, all, arrays, threads, results.get(),
                      evaluations, outcomes);
    }
    if (total != 0) std::memcpy(PyBytes_AS_STRING(made.ptr()), results.get(), total * 8);
    nb::list told;
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (evaluations[n] == Evaluation::Done) told.append(nb::none());
        else if (evaluations[n] == Evaluation::Unknown) told.append(nb::make_tuple());
        else told.append(to_tuple(outcomes[n]));
    }
    return nb::make_tuple(made, told);
}

// The items of words that were seen a moment ago, by the addresses of their objects: programs
// use the same few words over and over, and those are the same objects.
class RecentWords {
  public:
    const char *find(const PyObject *word) const {
        const Entry &entry = entries_[place(word)];
        return entry.word == word ? entry.item : nullptr;
    }
    void add(const PyObject *word, const char *item) {
        Entry &entry = entries_[place(word)];
        entry.word = word;
        std::memcpy(entry.item, item, sizeof entry.item);
    }
    // Whenever Python code has run: it may have put another object in the place of one.
    void forget() { entries_ = {}; }

  private:
    struct Entry {
        const PyObject *word = nullptr;
        char item[sizeof(Item)] = {};
    };
    static std::size_t place(const PyObject *word) {
        const auto address = reinterpret_cast<std::uintptr_t>(word);
        return (address >> 4 ^ address >> 10) % kEntries;
    }
    static constexpr std::size_t kEntries = 64;
    std::array<Entry, kEntries> entries_{};
};

// Names become items by a table of 16-byte strings; `other` makes an item of anything else.
nb::object encode(nb::handle sequence, nb::dict table, nb::handle other) {
    PyObject *list = sequence.ptr();
    if (!PyList_Check(list) && !PyTuple_Check(list))
        throw nb::type_error("a program is a list or a tuple here");
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(list);
    nb::object made = nb::steal(PyBytes_FromStringAndSize(nullptr, size * 16));
    if (!made.is_valid()) throw nb::python_error();
    char *out = PyBytes_AS_STRING(made.ptr());
    RecentWords recent;
    for (Py_ssize_t n = 0; n < PySequence_Fast_GET_SIZE(list) && n < size; ++n, out += 16) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, n);
        if (const char *known = recent.find(item)) {
            std::memcpy(out, known, 16);
            continue;
        }
        PyObject *found = nullptr;
        const bool is_word = PyUnicode_CheckExact(item);
        if (is_word) {
            found = PyDict_GetItemWithError(table.ptr(), item);
            if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
        }
        nb::object fresh;
        if (found == nullptr) {
            recent.forget();
            fresh = other(nb::handle(item), n);
            found = fresh.ptr();
        }
        if (!PyBytes_Check(found) || PyBytes_GET_SIZE(found) != 16)
            throw nb::type_error("an item is 16 bytes");
        std::memcpy(out, PyBytes_AS_STRING(found), 16);
        if (is_word && !fresh.is_valid()) recent.add(item, out);
    }
    return made;
}

using PlaceTuple = std::tuple<std::uint32_t, unsigned>;

std::vector<Place> to_places(const std::vector<PlaceTuple> &tuples) {
    std::vector<Place> places;
    for (const auto &[slot, bytes] : tuples)
        places.push_back({slot, static_cast<std::uint8_t>(bytes)});
    return places;
}

void add_row(Table &table, const std::string &name,
             const std::vector<std::tuple<std::string, unsigned>> &pieces,
             const std::vector<std::tuple<unsigned, bool, std::uint64_t>> &arguments,
             const std::vector<std::uint16_t> &results, unsigned effect, bool guardable,
             bool commutes, bool separate, std::uint64_t lowest, std::uint64_t span) {
    Row row;
    row.name = name;
    for (const auto &[text, operand] : pieces)
        row.pieces.push_back({text, static_cast<std::uint8_t>(operand)});
    for (const auto &[number, literal, largest] : arguments)
        row.arguments.push_back({static_cast<std::uint16_t>(number), literal, largest});
    row.results = results;
    if (effect > 2) throw nb::value_error("no such effect");
    row.effect = static_cast<Effect>(effect);
    row.guardable = guardable;
    row.commutes = commutes;
    row.separate = separate;
    row.lowest = lowest;
    row.span = span;
    table.isa.rows.push_back(std::move(row));
}

void set_fold(Table &table, std::size_t row, std::uint32_t begin, std::uint32_t end,
              const std::vector<PlaceTuple> &sources, const std::vector<PlaceTuple> &destinations,
              bool exact, bool divides) {
    if (row >= table.isa.rows.size()) throw nb::index_error("no such instruction");
    Fold &fold = table.isa.rows[row].fold;
    fold.begin = begin;
    fold.end = end;
    fold.sources = to_places(sources);
    fold.destinations = to_places(destinations);
    fold.exact = exact;
    fold.divides = divides;
}

// One instruction on 32 values an operand, as rows of 64-bit words: what tests compare with.
nb::object apply(const Table &table, std::size_t number, nb::handle arguments,
                 std::uint32_t lanes) {
    if (number >= table.isa.rows.size()) throw nb::index_error("no such instruction");
    const Row &row = table.isa.rows[number];
    if (!row.fold.is_set()) throw nb::value_error("the simulator does not know the instruction");
    const View view(arguments);
    constexpr std::size_t kRow = 32 * sizeof(std::uint64_t);
    if (view.size() != row.arguments.size() * kRow)
        throw nb::value_error("32 values for each argument are needed");
    std::vector<std::uint64_t> in(view.size() / 8), out(row.results.size() * 32);
    if (!in.empty()) std::memcpy(in.data(), view.data(), view.size());
    const std::uint64_t *sources[kMostOperands];
    std::uint64_t *destinations[kMostOperands];
    for (std::size_t n = 0; n < row.arguments.size(); ++n) sources[n] = in.data() + 32 * n;
    for (std::size_t n = 0; n < row.results.size(); ++n) destinations[n] = out.data() + 32 * n;
    static thread_local std::shared_ptr<const FoldProgram> folds;
    static thread_local std::unique_ptr<FoldMachine> machine;
    if (folds != table.isa.folds) {
        folds = table.isa.folds;
        machine = std::make_unique<FoldMachine>(*folds);
    }
    machine->run_lanes(row.fold, sources, destinations, lanes);
    return nb::bytes(reinterpret_cast<const char *>(out.data()), out.size() * 8);
}

}  // namespace

void bind_stack(nb::module_ &m) {
    nb::class_<Table>(m, "StackTable", "The stacks, instructions and routines of an instruction set.")
        .def(nb::init<>())
        .def("add_stack", [](Table &table, const std::string &name, const std::string &type,
                             const std::string &move, unsigned literal, unsigned width) {
            if (literal > 4 || width == 0 || width > 64) throw nb::value_error("no such stack");
            table.isa.stacks.push_back({name, type, move, static_cast<Literal>(literal),
                                        static_cast<std::uint8_t>(width), kNone});
        })
        .def("add_row", &add_row, "name"_a, "pieces"_a, "arguments"_a, "results"_a, "effect"_a,
             "guardable"_a, "commutes"_a, "separate"_a, "lowest"_a, "span"_a)
        .def("add_routine", [](Table &table, const std::string &name, nb::handle items, bool closed,
                               const std::vector<std::uint16_t> &arguments, bool gives_all,
                               const std::vector<std::uint16_t> &results) {
            const View view(items);
            const Items code = view.items();
            table.isa.routines.push_back({name, {code.begin(), code.end()}, closed, arguments,
                                          results, gives_all});
        })
        .def("set_select", [](Table &table, std::size_t stack, std::uint32_t row) {
            if (stack >= table.isa.stacks.size()) throw nb::index_error("no such stack");
            table.isa.stacks[stack].select = row;
        })
        .def("set_logic", [](Table &table, std::uint16_t predicates, std::uint32_t conjunction,
                             std::uint32_t disjunction, std::uint32_t negation) {
            table.isa.predicates = predicates;
            table.isa.and_row = conjunction;
            table.isa.or_row = disjunction;
            table.isa.not_row = negation;
        })
        .def("set_folds", [](Table &table, std::shared_ptr<sim::Program> program) {
            table.isa.folds = std::make_shared<const FoldProgram>(std::move(program));
        })
        .def("set_fold", &set_fold)
        .def("finish", [](Table &table) {
            table.isa.finish();
            return table.isa.class_types;
        })
        .def("apply", &apply);

    nb::class_<Bound>(m, "StackInterface", "The inputs and outputs that programs are compiled for.")
        .def("__init__", [](Bound *self, std::shared_ptr<Table> table,
                            const std::vector<std::tuple<std::uint16_t, std::string>> &inputs,
                            const std::vector<std::tuple<std::uint16_t, std::int64_t, std::string>>
                                &outputs,
                            const std::vector<std::string> &prefixes, unsigned missing,
                            bool strict, std::uint32_t steps, std::uint32_t nesting) {
            Interface interface;
            for (const auto &[stack, text] : inputs) interface.inputs.push_back({stack, text});
            for (const auto &[stack, slot, text] : outputs)
                interface.outputs.push_back(
                    {stack, slot < 0 ? kNone : static_cast<std::uint32_t>(slot), text});
            interface.prefixes = prefixes;
            if (missing > 2) throw nb::value_error("no such rule");
            interface.missing = static_cast<Missing>(missing);
            interface.strict = strict;
            interface.limits = {steps, nesting};
            finish(table->isa, interface);
            new (self) Bound{std::move(table), std::move(interface)};
        })
        .def("compile", &compile_one, "program"_a, "reported"_a = false)
        .def("compile_packed", &compile_packed, "programs"_a, "offsets"_a, "threads"_a)
        .def("evaluate_packed", &evaluate_packed, "programs"_a, "offsets"_a, "inputs"_a, "size"_a,
             "threads"_a);

    nb::class_<Stubs>(m, "StackStubs", "The stubs of many programs.")
        .def("__len__", [](const Stubs &stubs) { return stubs.outcomes.size(); })
        .def("__getitem__", [](const Stubs &stubs, std::size_t n) -> nb::object {
            if (n >= stubs.outcomes.size()) throw nb::index_error("no such program");
            if (stubs.outcomes[n].status != Status::Fine) return to_tuple(stubs.outcomes[n]);
            const auto [data, size] = stubs.at(n);
            return to_text(data, size);
        })
        .def("reports", [](const Stubs &stubs) {
            return nb::bytes(reinterpret_cast<const char *>(stubs.reports.data()),
                             stubs.reports.size() * sizeof(Report));
        })
        .def("failures", [](const Stubs &stubs) {
            nb::list found;
            for (std::size_t n = 0; n < stubs.outcomes.size(); ++n)
                if (stubs.outcomes[n].status != Status::Fine) found.append(n);
            return found;
        });

    m.def("encode_stack", &encode, "sequence"_a, "table"_a, "other"_a);
    m.attr("STACK_SLOTS") = kSlots;
}

}  // namespace ptxkit
