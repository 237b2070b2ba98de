// clusterlaunchcontrol: a cluster takes over the work of one that has not begun. The answer is 16
// bytes: the first block's id in three words, and in the fourth whether there is one.
#include <cstring>

#include "access.hpp"
#include "mbarrier.hpp"
#include "operations.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kAnswerBytes = 16;

// Slots: answer, mbarrier. `immediate`: 1 tells all blocks of the cluster.
void try_cancel(Machine &m, const Inst &i) {
    const auto to = static_cast<Space>(i.target & 15);
    const auto barrier = static_cast<Space>(i.target >> 8 & 15);
    const std::uint64_t *answer = m.source<std::uint64_t>(i.slots[0]);
    const std::uint64_t *arrival = m.source<std::uint64_t>(i.slots[1]);
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        std::uint32_t words[4] = {};
        words[3] = m.engine.cancel_cluster(words);
        const auto tell = [&](Space space, std::uint64_t at, Space barrier_space, std::uint64_t where) {
            std::memcpy(locate_range(m, space, at, kAnswerBytes, kAnswerBytes, true, l), words,
                        kAnswerBytes);
            complete_bytes(m, barrier_space, where, kAnswerBytes, l);
        };
        if (i.immediate == 0) {
            tell(to, answer[l], barrier, arrival[l]);
            continue;
        }
        for (std::uint32_t rank = 0; rank < m.block.cluster->blocks.size(); ++rank)
            tell(Space::SharedCluster, in_block(answer[l], rank) & ~kWindowMask, Space::SharedCluster,
                 in_block(arrival[l], rank) & ~kWindowMask);
    }
}

// Slots: p, answer.
void is_canceled(Machine &m, const Inst &i) {
    const std::uint32_t *words = m.source<std::uint32_t>(i.slots[1]);
    std::uint32_t found = 0;
    for (unsigned l = 0; l < kLanes; ++l) found |= (words[4 * l + 3] & 1) << l;
    put_predicate(m, i.slots[0], found);
}

// Slots: d, answer. `immediate`: which coordinate.
void first_block(Machine &m, const Inst &i) {
    const std::uint32_t *words = m.source<std::uint32_t>(i.slots[1]);
    std::uint32_t result[kLanes];
    for (unsigned l = 0; l < kLanes; ++l)
        result[l] = i.immediate > 2 ? 0 : words[4 * l + static_cast<unsigned>(i.immediate)];
    put(m, m.destination<std::uint32_t>(i.slots[0]), result);
}

}  // namespace

void add_cluster_operations(OperationList &list) {
    list.push_back({"cluster.try_cancel", try_cancel});
    list.push_back({"cluster.is_canceled", is_canceled});
    list.push_back({"cluster.first_block", first_block});
}

}  // namespace ptxkit::sim
