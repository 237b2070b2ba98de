// The sixteen barriers of a block, and the barrier of a cluster.
#pragma once

#include "engine.hpp"

namespace ptxkit::sim {

// The active lanes arrive, and wait where asked to. `reduction`: 'c' count, 'a' and, 'o' or of
// the votes, 0 none.
void barrier(Machine &machine, const Inst &inst, std::uint32_t number, std::uint32_t count,
             bool wait, std::uint32_t votes, char reduction);

// barrier.cluster: the active lanes arrive; they wait until all threads of the cluster have.
void arrive_at_cluster(Machine &machine);
void wait_for_cluster(Machine &machine);

// Wake who waits where all have come; called when threads have exited.
void release_barriers(Block &block);

}  // namespace ptxkit::sim
