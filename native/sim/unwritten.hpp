// Finds reads of registers that nothing was written to: hand-written PTX forgets an assignment, or
// makes it on one path only.
#pragma once

#include "observation.hpp"

namespace ptxkit::sim {

class Unwritten : public Observer {
  public:
    Unwritten(Observation &observation, const Program &program, const Block &block);
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void after(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void enter(Machine &m, std::uint32_t frame) override;

  private:
    using Written = std::vector<std::uint32_t>;  // lanes that were written, by slot / 64

    std::uint32_t &lanes_of(std::uint32_t slot);
    void check(const Machine &m, const Inst &inst, std::uint32_t slot, std::uint32_t lanes);

    Observation &observation_;
    std::vector<std::vector<Written>> warps_;    // by warp and frame
    // Of the instruction that runs now; it may leave its frame.
    std::uint32_t warp_ = 0, frame_ = 0;
    const Facts *facts_ = nullptr;
};

}  // namespace ptxkit::sim
