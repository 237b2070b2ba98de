// Programs on arrays: the needed nodes, one after another, by the operations of the simulator.
#include <algorithm>

#include "compiler.hpp"

namespace ptxkit::stack {

namespace {

constexpr std::size_t kLanes = sim::kLanes;

}  // namespace

Evaluation Compiler::evaluate(const Isa &isa, const Interface &interface, Items items,
                              const Arrays &arrays, std::uint64_t *out, Outcome &outcome) {
    start(isa, interface);
    Report report;
    outcome = interpreter_.run(isa, interface, items, report);
    if (outcome.status == Status::Fine) outcome = gather(report);
    if (outcome.status != Status::Fine) return Evaluation::Faulty;
    mark_needed();
    NodeList &nodes = interpreter_.graph.nodes;
    std::vector<std::uint32_t> order;  // what is executed, in its order
    std::uint32_t stored = 0;
    for (std::uint32_t at = 0; at < nodes.size(); ++at) {
        Node &node = nodes[at];
        if (node.kind == NodeKind::Result) {
            node.place = stored++;  // of an instruction that may be needed for it alone
            continue;
        }
        if (node.last_use == kNone) continue;
        node.place = stored++;
        if (node.kind != NodeKind::Instruction) continue;
        if (!isa.rows[node.row].fold.is_set() || node.guarded) return Evaluation::Unknown;
        order.push_back(at);
    }
    if (folds_ != isa.folds) {
        folds_ = isa.folds;
        machine_ = std::make_unique<FoldMachine>(*folds_);
    }
    lanes_.resize(std::size_t{stored} * kLanes);
    const auto value = [&](std::uint32_t node) { return lanes_.data() + nodes[node].place * kLanes; };
    for (const Node &node : nodes)
        if (node.kind == NodeKind::Constant && node.last_use != kNone)
            std::fill_n(lanes_.data() + node.place * kLanes, kLanes, node.payload);
    for (std::size_t first = 0; first < arrays.size; first += kLanes) {
        const std::size_t here = std::min(kLanes, arrays.size - first);
        const std::uint32_t mask = here == kLanes ? sim::kFullMask : (1u << here) - 1;
        for (const Node &node : nodes)
            if (node.kind == NodeKind::Input && node.last_use != kNone)
                std::copy_n(arrays.inputs + node.row * arrays.size + first, here,
                            lanes_.data() + node.place * kLanes);
        for (std::uint32_t at : order) {
            const Row &row = isa.rows[nodes[at].row];
            const std::uint32_t *arguments = interpreter_.graph.arguments(nodes[at]);
            const std::uint64_t *in[kMostOperands];
            std::uint64_t *results[kMostOperands];
            for (std::size_t n = 0; n < row.arguments.size(); ++n) in[n] = value(arguments[n]);
            for (std::size_t n = 0; n < row.results.size(); ++n)
                results[n] = value(at + static_cast<std::uint32_t>(n));
            machine_->run_lanes(row.fold, in, results, mask);
        }
        for (std::size_t n = 0; n < values_.size(); ++n) {
            std::uint64_t *to = out + n * arrays.size + first;
            const std::uint32_t kept = interface.outputs[n].aliased;
            if (values_[n] != kNone) std::copy_n(value(values_[n]), here, to);
            else if (kept != kNone) std::copy_n(arrays.inputs + kept * arrays.size + first, here, to);
            else std::fill_n(to, here, 0);
        }
    }
    return Evaluation::Done;
}

void evaluate_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                   const Arrays &arrays, unsigned threads, std::uint64_t *out,
                   std::vector<Evaluation> &evaluations, std::vector<Outcome> &outcomes) {
    const std::size_t stride = interface.outputs.size() * arrays.size;
    evaluations.assign(programs.size(), Evaluation::Faulty);
    outcomes.assign(programs.size(), {});
    for_each_share(programs.size(), threads, [&](Compiler &compiler, std::size_t begin,
                                                 std::size_t end) {
        for (std::size_t n = begin; n < end; ++n)
            evaluations[n] = compiler.evaluate(isa, interface, programs[n], arrays,
                                               out + n * stride, outcomes[n]);
    });
}

}  // namespace ptxkit::stack
