// Sums up what registers hold at some places of a program, over all threads that come there.
//
// Two programs that hold the same in two registers whenever control is in two places have the same
// sums there. Threads may come in any order; each counts with its number, and with what it has
// written to memory and waited for until then.
#pragma once

#include "observation.hpp"

namespace ptxkit::sim {

class Digester : public Observer {
  public:
    Digester(Observation &observation, const Block &block);
    ~Digester() override;
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void after(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) override;
    void arrive(Machine &m, unsigned number) override;

  private:
    void look(const Machine &m, const Inst &inst, std::uint32_t lanes, bool after);
    void look(const Machine &m, const Point &point, std::uint32_t lanes, std::size_t number);

    Observation &observation_;
    std::uint64_t block_ = 0;
    std::vector<std::uint64_t> history_;  // of each thread: its writes, in any order, and barriers
    std::vector<Digest> digests_;
    std::vector<std::vector<std::uint32_t>> visits_;  // of each point by each thread, once one came
};

}  // namespace ptxkit::sim
