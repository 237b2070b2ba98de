// Counts what costs time on a GPU: divergence, memory sectors, bank conflicts.
#pragma once

#include "observation.hpp"

namespace ptxkit::sim {

// How many 32-byte sectors the active lanes touch, and how few could hold the same bytes.
struct Sectors {
    unsigned touched = 0, ideal = 0;
};
Sectors count_sectors(std::uint32_t lanes, const std::uint64_t *addresses, unsigned bytes);

// How many passes over the 32 banks of shared memory the active lanes need, and how few
// there would be without conflicts.
struct Wavefronts {
    unsigned needed = 0, ideal = 0;
};
Wavefronts count_wavefronts(std::uint32_t lanes, const std::uint64_t *addresses, unsigned bytes);

class Profiler : public Observer {
  public:
    Profiler(Observation &observation, const Program &program);
    ~Profiler() override;
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void after(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) override;

  private:
    Observation &observation_;
    Profile counts_;
    ProfileCounts *current_ = nullptr;
    std::uint32_t part_lanes_ = 0;
};

}  // namespace ptxkit::sim
