#include "observation.hpp"

#include "digester.hpp"
#include "engine.hpp"
#include "profiler.hpp"
#include "sanitizer.hpp"
#include "tracer.hpp"
#include "unwritten.hpp"

namespace ptxkit::sim {

Dim3 thread_place(const Dim3 &shape, std::uint32_t linear) {
    return {linear % shape.x, linear / shape.x % shape.y, linear / shape.x / shape.y};
}

Where Observation::where(const Machine &m, const Inst &inst) {
    return {static_cast<std::uint32_t>(m.function - m.engine.program.functions.data()),
            static_cast<std::uint32_t>(&inst - m.function->code.data())};
}

const Facts &Observation::facts_of(const Machine &m, const Inst &inst) const {
    const Where place = where(m, inst);
    return facts[place.function][place.instruction];
}

std::unique_ptr<Observers> Observation::observe(const Program &program, const Dim3 &shape,
                                                const Block &block) {
    auto all = std::make_unique<Observers>();
    if (sanitize) {
        all->add(std::make_unique<Sanitizer>(*this, block));
        all->add(std::make_unique<Unwritten>(*this, program, block));
    }
    if (profile) all->add(std::make_unique<Profiler>(*this, program));
    if (conflicts) all->add(std::make_unique<Conflicts>(*this, conflict_table, block));
    if (!points.empty()) all->add(std::make_unique<Digester>(*this, block));
    const Dim3 &wanted = trace_request.block;
    if (trace && block.id[0] == wanted.x && block.id[1] == wanted.y && block.id[2] == wanted.z)
        all->add(std::make_unique<Tracer>(*this, shape));
    return all->empty() ? nullptr : std::move(all);
}

void Observation::report(Finding finding) {
    const std::lock_guard<std::mutex> guard(lock_);
    const Key key{finding.kind + finding.space, finding.where,
                  finding.has_other ? finding.other : finding.where};
    if (const auto found = seen_.find(key); found != seen_.end()) {
        Finding &first = findings[found->second];
        finding.count = first.count + 1;
        // The same two instructions may race in a warp and, worse, between warps.
        if (first.severity == "warning" && finding.severity == "error") first = std::move(finding);
        else first.count += 1;
        return;
    }
    if (findings.size() >= finding_limit) {
        findings_left_out += 1;
        return;
    }
    seen_.emplace(key, findings.size());
    findings.push_back(std::move(finding));
}

void Observation::add(const Profile &more) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (counts.empty()) {
        counts = more;
        return;
    }
    for (std::size_t f = 0; f < more.size(); ++f)
        for (std::size_t i = 0; i < more[f].size(); ++i) {
            ProfileCounts &sum = counts[f][i];
            const ProfileCounts &one = more[f][i];
            sum.warps += one.warps;
            sum.lanes += one.lanes;
            sum.divergent += one.divergent;
            sum.requests += one.requests;
            sum.sectors += one.sectors;
            sum.ideal_sectors += one.ideal_sectors;
            sum.shared_requests += one.shared_requests;
            sum.wavefronts += one.wavefronts;
            sum.ideal_wavefronts += one.ideal_wavefronts;
        }
}

void Observation::add(const std::vector<Digest> &more) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (digests.empty()) {
        digests = more;
        return;
    }
    for (std::size_t n = 0; n < more.size(); ++n) {
        digests[n].visits += more[n].visits;
        digests[n].tuples.insert(more[n].tuples.begin(), more[n].tuples.end());
        digests[n].full = digests[n].full || more[n].full;
        for (std::size_t k = 0; k < more[n].values.size(); ++k) {
            digests[n].values[k].sum += more[n].values[k].sum;
            digests[n].values[k].spread |= more[n].values[k].spread;
        }
    }
}

void Observation::set_trace(std::deque<TraceEvent> traced, std::uint64_t left_out) {
    const std::lock_guard<std::mutex> guard(lock_);
    events = std::move(traced);
    events_left_out = left_out;
}

}  // namespace ptxkit::sim
