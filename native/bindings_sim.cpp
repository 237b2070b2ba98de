// The simulator from Python: programs are built instruction by instruction, then run.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "bindings.hpp"
#include "sim/engine.hpp"
#include "sim/observation.hpp"
#include "sim/pattern.hpp"
#include "sim/sides.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using namespace sim;
using Triple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

Dim3 to_dim3(const Triple &t) { return {std::get<0>(t), std::get<1>(t), std::get<2>(t)}; }

Function &function_of(Program &program, std::uint32_t index) {
    if (index >= program.functions.size()) throw nb::index_error("no such function");
    return program.functions[index];
}

std::uint32_t emit(Program &program, std::uint32_t function, const std::string &operation,
                   const std::vector<std::uint32_t> &slots, std::int64_t immediate,
                   std::uint32_t guard, bool negated, unsigned width, unsigned count,
                   std::uint32_t list, std::uint32_t list_size, std::uint32_t target,
                   std::uint32_t node) {
    Inst inst;
    inst.operation = find_operation(operation);
    if (inst.operation == nullptr)
        throw nb::value_error(("the simulator has no operation '" + operation + "'").c_str());
    if (slots.size() > std::size(inst.slots)) throw nb::value_error("too many operands");
    if (width > UINT8_MAX || count > UINT8_MAX) throw nb::value_error("too many bytes");
    std::copy(slots.begin(), slots.end(), inst.slots);
    inst.immediate = immediate;
    inst.guard = guard;
    inst.negated = negated;
    inst.width = static_cast<std::uint8_t>(width);
    inst.count = static_cast<std::uint8_t>(count);
    inst.list = list;
    inst.list_size = list_size;
    inst.target = target;
    inst.node = node;
    inst.sides = find_sides(operation, inst);
    Function &owner = function_of(program, function);
    owner.code.push_back(inst);
    return static_cast<std::uint32_t>(owner.code.size() - 1);
}

// Offsets the engine trusts: checked once, before anything runs.
void validate(const Program &program) {
    if (program.entry >= program.functions.size()) throw nb::value_error("no entry function");
    for (const Function &function : program.functions) {
        const auto check = [&](std::uint32_t slot) {
            if (slot == kNoSlot) return;
            const std::uint32_t offset = slot & ~kConstantSlot;
            const std::size_t size =
                slot & kConstantSlot ? program.constants.size() : function.register_bytes;
            if (offset + 64 > size) throw nb::value_error("a register slot is out of range");
        };
        if (function.code.empty()) throw nb::value_error("a function is empty");
        for (const Inst &inst : function.code) {
            check(inst.guard);
            for (std::uint32_t slot : inst.slots) check(slot);
            if (std::size_t{inst.list} + inst.list_size > function.lists.size())
                throw nb::value_error("a list is out of range");
        }
    }
}

// What observers trust: facts for every instruction, register places inside the frame.
void validate(const Program &program, const Observation &observation) {
    const bool complete = std::equal(
        program.functions.begin(), program.functions.end(), observation.facts.begin(),
        observation.facts.end(), [&](const Function &function, const std::vector<Facts> &facts) {
            const auto inside = [&](const RegisterPlace &place) {
                const std::size_t end = place.slot + std::size_t{kLanes} * std::max(place.bytes, 1u);
                return place.bytes <= 16 && end <= function.register_bytes + std::size_t{64};
            };
            return facts.size() == function.code.size() &&
                   std::all_of(facts.begin(), facts.end(), [&](const Facts &one) {
                       const std::uint32_t offset = one.members & ~kConstantSlot;
                       const std::size_t size = one.members & kConstantSlot
                                                    ? program.constants.size()
                                                    : function.register_bytes;
                       return (one.members == kNoSlot || offset + std::size_t{128} <= size) &&
                              std::all_of(one.reads.begin(), one.reads.end(), inside) &&
                              std::all_of(one.writes.begin(), one.writes.end(), inside);
                   });
        });
    if (!complete) throw nb::value_error("the facts are not those of the program");
}

nb::object run(const Program &program, const nb::bytes &parameters, const nb::list &buffers,
               const Triple &grid, const Triple &block, const Triple &cluster,
               std::uint32_t dynamic_shared, unsigned threads, std::uint64_t step_limit,
               bool count, bool explicit_cluster, std::uint64_t workspace, Heap &heap,
               const nb::callable &show, double time_limit, Observation *observation,
               std::uint32_t stack, bool descending) {
    validate(program);
    if (observation != nullptr) validate(program, *observation);
    Buffers table;
    for (nb::handle row : buffers) {
        const auto one = nb::cast<nb::tuple>(row);
        table.add(nb::cast<std::uint64_t>(one[0]), nb::cast<std::uint64_t>(one[1]),
                  nb::cast<bool>(one[2]), nb::cast<std::string>(one[3]), nb::cast<bool>(one[4]));
    }
    table.sort();
    LaunchOptions options;
    options.grid = to_dim3(grid);
    options.block = to_dim3(block);
    options.cluster = to_dim3(cluster);
    options.dynamic_shared = dynamic_shared;
    options.threads = threads;
    options.step_limit = step_limit;
    options.count = count;
    options.explicit_cluster = explicit_cluster;
    options.cooperative = workspace != 0;
    options.workspace = workspace;
    const Dim3 &shape = options.cluster;
    if (shape.count() == 0 || options.grid.x % shape.x || options.grid.y % shape.y ||
        options.grid.z % shape.z)
        throw nb::value_error("the grid is not made of whole clusters");
    options.time_limit = time_limit;
    options.stack = stack;
    options.descending = descending;
    options.observation = observation;
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(parameters.c_str());
    Engine engine(program, table, heap, std::vector<std::uint8_t>(bytes, bytes + parameters.size()),
                  options);
    std::optional<nb::python_error> raised;  // by a signal, or by showing the output
    nb::dict result;
    try {
        nb::gil_scoped_release release;
        engine.run([&](const std::string &text) {
            nb::gil_scoped_acquire acquire;
            try {
                if (PyErr_CheckSignals() != 0) nb::raise_python_error();
                if (!text.empty()) show(nb::bytes(text.data(), text.size()));
            } catch (nb::python_error &error) {
                raised.emplace(std::move(error));
            }
            return !raised;
        });
    } catch (const Fault &fault) {
        if (raised) throw std::move(*raised);
        nb::dict place;
        place["kind"] = fault.kind;
        place["message"] = fault.what();
        place["function"] = fault.function;
        place["instruction"] = fault.instruction;
        place["node"] = fault.placed
                            ? nb::object(nb::int_(program.functions[fault.function]
                                                      .code[fault.instruction].node))
                            : nb::none();
        place["thread"] = nb::make_tuple(fault.thread[0], fault.thread[1], fault.thread[2]);
        place["block"] = nb::make_tuple(fault.block[0], fault.block[1], fault.block[2]);
        place["address"] = fault.address;
        nb::list waiting;
        for (const Waiting &one : fault.waiting)
            waiting.append(nb::make_tuple(
                program.functions[one.function].code[one.instruction].node, one.why, one.threads));
        place["waiting"] = waiting;
        result["fault"] = place;
    }
    result["instructions"] = engine.instructions();
    if (count) {
        nb::list all;
        for (std::size_t f = 0; f < program.functions.size(); ++f)
            for (std::size_t i = 0; i < program.functions[f].code.size(); ++i)
                all.append(nb::make_tuple(f, program.functions[f].code[i].node,
                                          engine.counts()[f][i]));
        result["counts"] = all;
        nb::list sides;
        for (std::size_t f = 0; f < program.functions.size(); ++f)
            for (std::size_t i = 0; i < program.functions[f].code.size(); ++i) {
                const Inst &inst = program.functions[f].code[i];
                if (engine.counts()[f][i] == 0 || all_sides(inst) == 0) continue;
                sides.append(nb::make_tuple(inst.node, i, engine.sides()[f][i], all_sides(inst)));
            }
        result["sides"] = sides;
    }
    return result;
}

}  // namespace

void bind_sim(nb::module_ &m) {
    nb::class_<Pattern>(m, "Pattern", "The code of an instruction, for any registers.");
    nb::class_<Program>(m, "Program", "A kernel as the simulator runs it.")
        .def(nb::init<>())
        .def("add_function", [](Program &p, const std::string &name) {
            p.functions.emplace_back();
            p.functions.back().name = name;
            return p.functions.size() - 1;
        })
        .def("emit", &emit, "function"_a, "operation"_a, "slots"_a, nb::kw_only(),
             "immediate"_a = 0, "guard"_a = kNoSlot, "negated"_a = false, "width"_a = 4,
             "count"_a = 1, "list"_a = 0, "list_size"_a = 0, "target"_a = 0, "node"_a = 0)
        .def("pattern", [](Program &p, std::uint32_t function, std::size_t from,
                           const std::vector<std::uint32_t> &slots, std::uint32_t fresh) {
            return make_pattern(function_of(p, function), from, slots, fresh);
        }, "function"_a, "start"_a, "slots"_a, "fresh"_a)
        .def("repeat", [](Program &p, std::uint32_t function, const Pattern &pattern,
                          const std::vector<std::uint32_t> &slots, std::uint32_t fresh,
                          std::uint32_t node, std::int64_t shift) {
            repeat(function_of(p, function), pattern, slots, fresh, node, shift);
        }, "function"_a, "pattern"_a, "slots"_a, "fresh"_a, "node"_a, "shift"_a)
        .def("add_list", [](Program &p, std::uint32_t function, const std::vector<std::uint32_t> &values) {
            auto &lists = function_of(p, function).lists;
            lists.insert(lists.end(), values.begin(), values.end());
            return lists.size() - values.size();
        })
        .def("set_list", [](Program &p, std::uint32_t function, std::uint32_t at, std::uint32_t value) {
            function_of(p, function).lists.at(at) = value;
        })
        .def("set_target", [](Program &p, std::uint32_t function, std::uint32_t at, std::uint32_t target) {
            Function &owner = function_of(p, function);
            if (target >= owner.code.size()) throw nb::index_error("no such instruction");
            owner.code.at(at).target = target;
        })
        .def("set_leader", [](Program &p, std::uint32_t function, std::uint32_t at) {
            function_of(p, function).code.at(at).leader = true;
        })
        .def("size", [](Program &p, std::uint32_t function) { return function_of(p, function).code.size(); })
        .def("set_frame", [](Program &p, std::uint32_t function, std::uint32_t register_bytes,
                             std::uint32_t local_bytes,
                             const std::vector<std::tuple<std::uint32_t, std::uint32_t>> &parameters,
                             const std::vector<std::tuple<std::uint32_t, std::uint32_t>> &results) {
            Function &owner = function_of(p, function);
            owner.register_bytes = register_bytes;
            owner.local_bytes = local_bytes;
            owner.parameters.clear();
            owner.results.clear();
            for (auto [offset, size] : parameters) owner.parameters.push_back({offset, size});
            for (auto [offset, size] : results) owner.results.push_back({offset, size});
        })
        .def("add_constant", [](Program &p, std::uint64_t value, unsigned width) {
            const std::size_t at = p.constants.size();
            p.constants.resize((at + std::size_t{kLanes} * width + 63) / 64 * 64);
            for (unsigned lane = 0; lane < kLanes; ++lane)
                std::memcpy(p.constants.data() + at + std::size_t{lane} * width, &value,
                            std::min<std::size_t>(width, 8));
            return static_cast<std::uint32_t>(at) | kConstantSlot;
        })
        .def("set_entry", [](Program &p, std::uint32_t entry, std::uint32_t shared, std::uint32_t parameters) {
            p.entry = entry;
            p.static_shared = shared;
            p.parameter_bytes = parameters;
        })
        .def("set_address", [](Program &p, std::uint64_t address, std::uint32_t number) {
            p.addresses[address] = number;
        })
        .def_rw("uses_alloca", &Program::uses_alloca)
        .def_rw("prints", &Program::prints)
        .def("run", &run, "parameters"_a, "buffers"_a, "grid"_a, "block"_a, "cluster"_a,
             "dynamic_shared"_a, "threads"_a, "step_limit"_a, "count"_a, "explicit_cluster"_a,
             "workspace"_a, "heap"_a, "show"_a, "time_limit"_a = 0.0,
             "observation"_a.none() = nb::none(), "stack"_a = LaunchOptions{}.stack,
             "descending"_a = false)
        .def("nodes", [](Program &p, std::uint32_t function) {
            std::vector<std::uint32_t> nodes;
            for (const Inst &inst : function_of(p, function).code) nodes.push_back(inst.node);
            return nodes;
        }, "The node of each instruction of a function.");
    nb::class_<Heap>(m, "Heap", "The memory that malloc in kernels gives out.")
        .def(nb::init<std::uint64_t>(), "size"_a)
        .def("allocations", [](const Heap &heap) {
            nb::list found;
            for (const auto &one : heap.allocations())
                found.append(nb::make_tuple(one.address, one.size, one.node));
            return found;
        });
    m.def("operation_names", &operation_names);
    m.attr("NO_SLOT") = kNoSlot;
    m.attr("WINDOWS") = nb::make_tuple(kSharedWindow, kLocalWindow, kParamWindow);
}

}  // namespace ptxkit
