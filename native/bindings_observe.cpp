// What is watched while a kernel runs, from Python: asked for before, read after.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "sim/observation.hpp"
#include "sim/profiler.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using namespace sim;
using Triple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using Places = std::vector<std::tuple<std::uint32_t, std::uint32_t>>;
using FactsRow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Places, Places>;

Dim3 to_dim3(const Triple &t) { return {std::get<0>(t), std::get<1>(t), std::get<2>(t)}; }
nb::tuple to_tuple(const Dim3 &d) { return nb::make_tuple(d.x, d.y, d.z); }
nb::tuple to_tuple(const Where &w) { return nb::make_tuple(w.function, w.instruction); }

std::vector<RegisterPlace> to_places(const Places &rows) {
    std::vector<RegisterPlace> places;
    for (const auto &[slot, bytes] : rows) places.push_back({slot, bytes});
    return places;
}

void add_function(Observation &self, const std::vector<FactsRow> &rows) {
    std::vector<Facts> all;
    for (const auto &[flags, element, members, reads, writes] : rows)
        all.push_back({flags, element, members, to_places(reads), to_places(writes)});
    self.facts.push_back(std::move(all));
}

nb::dict to_dict(const Finding &one) {
    nb::dict row;
    row["kind"] = one.kind;
    row["message"] = one.message;
    row["severity"] = one.severity;
    row["where"] = to_tuple(one.where);
    row["thread"] = to_tuple(one.thread);
    row["block"] = to_tuple(one.block);
    row["space"] = one.space;
    row["address"] = one.address;
    row["bytes"] = one.bytes;
    row["other"] = one.has_other ? nb::object(to_tuple(one.other)) : nb::none();
    row["other_thread"] = one.has_other ? nb::object(to_tuple(one.other_thread)) : nb::none();
    row["count"] = one.count;
    return row;
}

nb::list findings(const Observation &self) {
    nb::list rows;
    for (const Finding &one : self.findings) rows.append(to_dict(one));
    return rows;
}

nb::list counts(const Observation &self) {
    nb::list functions;
    for (const auto &function : self.counts) {
        nb::list rows;
        for (const ProfileCounts &c : function)
            rows.append(nb::make_tuple(c.warps, c.lanes, c.divergent, c.requests, c.sectors,
                                       c.ideal_sectors, c.shared_requests, c.wavefronts,
                                       c.ideal_wavefronts));
        functions.append(rows);
    }
    return functions;
}

using PointRow = std::tuple<std::uint32_t, std::uint32_t, bool, Places, bool>;

void look_at(Observation &self, const std::vector<PointRow> &rows,
             const std::vector<std::size_t> &running) {
    for (const auto &[function, instruction, after, places, tuples] : rows) {
        self.points_at.emplace(Where{function, instruction}, self.points.size());
        self.points.push_back({after, tuples, to_places(places)});
    }
    for (const std::size_t number : running) self.points.at(number).running = true;
}

nb::list digests(const Observation &self) {
    nb::list rows;
    for (const Digest &one : self.digests) {
        nb::list values;
        for (const Digest::Value &value : one.values)
            values.append(nb::make_tuple(value.sum, value.spread));
        nb::list tuples;
        for (const std::uint64_t tuple : one.tuples) tuples.append(tuple);
        rows.append(nb::make_tuple(one.visits, values, tuples, one.full));
    }
    return rows;
}

nb::object conflicts(const Observation &self) {
    const auto found = self.conflict_table.unsettled();
    if (!found) return nb::none();
    nb::list rows;
    for (const auto &[word, bytes] : *found) rows.append(nb::make_tuple(word * 4, bytes));
    return rows;
}

nb::bytes to_bytes(const std::vector<std::uint8_t> &data) {
    return nb::bytes(reinterpret_cast<const char *>(data.data()), data.size());
}

nb::list events(const Observation &self) {
    nb::list rows;
    for (const TraceEvent &one : self.events) {
        nb::list accesses;
        for (const TraceAccess &access : one.accesses)
            accesses.append(
                nb::make_tuple(access.space, access.address, access.bytes, access.write));
        rows.append(nb::make_tuple(one.where.function, one.where.instruction, one.active,
                                   to_bytes(one.reads), to_bytes(one.writes), accesses));
    }
    return rows;
}

std::vector<std::uint64_t> all_lanes(const std::vector<std::uint64_t> &addresses) {
    if (addresses.size() > kLanes) throw nb::value_error("a warp has 32 lanes");
    std::vector<std::uint64_t> lanes = addresses;
    lanes.resize(kLanes);
    return lanes;
}

std::uint32_t active_lanes(const std::vector<std::uint64_t> &addresses) {
    return addresses.size() >= kLanes ? kFullMask : (1u << addresses.size()) - 1;
}

}  // namespace

void bind_observe(nb::module_ &m) {
    nb::class_<Observation>(m, "Observation", "What is watched while a kernel runs.")
        .def(nb::init<>())
        .def("add_function", &add_function, "rows"_a,
             "The facts of a function's instructions: flags, element, members, reads, writes.")
        .def("sanitize", [](Observation &self, std::size_t limit, const Places &red_zones) {
            self.sanitize = true;
            self.finding_limit = limit;
            self.red_zones.clear();
            for (const auto &[begin, end] : red_zones) self.red_zones.push_back({begin, end});
        })
        .def("profile", [](Observation &self) { self.profile = true; })
        .def("trace", [](Observation &self, const Triple &thread, const Triple &block,
                         std::size_t limit, bool keep_last) {
            self.trace = true;
            self.trace_request = {to_dim3(thread), to_dim3(block), limit, keep_last};
        })
        .def("watch_conflicts", [](Observation &self) { self.conflicts = true; })
        .def("conflicts", &conflicts,
             "Words of global memory that depend on races, and which of their bytes; or None.")
        .def("look_at", &look_at, "rows"_a, "running"_a = std::vector<std::size_t>(),
             "Places: function, instruction, whether after it, registers to sum up there, and "
             "whether to keep what they hold together.")
        .def("digests", &digests)
        .def("findings", &findings)
        .def_ro("findings_left_out", &Observation::findings_left_out)
        .def("counts", &counts)
        .def("events", &events)
        .def_ro("events_left_out", &Observation::events_left_out);
    m.def("count_sectors", [](const std::vector<std::uint64_t> &addresses, unsigned bytes) {
        const Sectors found =
            count_sectors(active_lanes(addresses), all_lanes(addresses).data(), bytes);
        return std::make_tuple(found.touched, found.ideal);
    }, "addresses"_a, "bytes"_a, "The 32-byte sectors that lanes touch, and the fewest possible.");
    m.def("count_wavefronts", [](const std::vector<std::uint64_t> &addresses, unsigned bytes) {
        const Wavefronts found =
            count_wavefronts(active_lanes(addresses), all_lanes(addresses).data(), bytes);
        return std::make_tuple(found.needed, found.ideal);
    }, "addresses"_a, "bytes"_a, "The passes over the banks that lanes need, and the fewest possible.");
    const std::pair<const char *, std::uint32_t> flags[] = {
        {"FIRST", Facts::kFirst},
        {"LAST", Facts::kLast},
        {"ATOMIC", Facts::kAtomic},
        {"STRONG", Facts::kStrong},
        {"ACQUIRE", Facts::kAcquire},
        {"RELEASE", Facts::kRelease},
        {"FENCE", Facts::kFence},
        {"UNORDERED", Facts::kUnordered},
        {"MAY_BE_UNDEFINED", Facts::kMayBeUndefined},
        {"PLAIN_STORE", Facts::kPlainStore},
        {"ALIGNED_BARRIER", Facts::kAlignedBarrier},
        {"WARP_BARRIER", Facts::kWarpBarrier},
        {"BRANCH", Facts::kBranch},
    };
    nb::dict named;
    for (const auto &[name, value] : flags) named[name] = value;
    m.attr("FACTS") = named;
}

}  // namespace ptxkit
