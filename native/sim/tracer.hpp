// Records what one thread does.
#pragma once

#include "observation.hpp"

namespace ptxkit::sim {

class Tracer : public Observer {
  public:
    Tracer(Observation &observation, const Dim3 &shape);
    ~Tracer() override;
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void after(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) override;

  private:
    bool among(const Machine &m, std::uint32_t lanes) const;
    bool comes_back(const Machine &m, const Inst &inst) const;
    void capture(const std::uint8_t *registers, const std::vector<RegisterPlace> &places,
                 std::vector<std::uint8_t> &out) const;
    void finish();

    Observation &observation_;
    std::uint32_t warp_;
    unsigned lane_;
    std::deque<TraceEvent> events_;
    std::uint64_t left_out_ = 0;
    TraceEvent event_;
    bool open_ = false;              // event_ is of an instruction that is not done yet
    // Results that come when the thread goes on (bar.red): read at its next instruction.
    const Facts *late_ = nullptr;
    const std::uint8_t *late_registers_ = nullptr;
};

}  // namespace ptxkit::sim
