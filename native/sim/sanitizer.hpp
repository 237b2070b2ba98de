// Finds what goes unnoticed in a run that ends well: reads of memory nobody wrote, races,
// barriers and warp operations that not all of their threads reach.
#pragma once

#include <array>

#include "observation.hpp"
#include "races.hpp"

namespace ptxkit::sim {

class Sanitizer : public Observer {
  public:
    Sanitizer(Observation &observation, const Block &block);
    void before(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void after(Machine &m, const Inst &inst, std::uint32_t lanes) override;
    void access(Machine &m, Space space, std::uint32_t lanes, const std::uint64_t *addresses,
                std::uint64_t bytes, bool write) override;
    void arrive(Machine &m, unsigned number) override;
    void release(Block &block, unsigned number) override;
    void meet(const Warp &warp, std::uint32_t lanes) override;
    void written(std::uint64_t offset, std::uint64_t bytes) override;
    void synchronize(Block &block) override;
    void enter(Machine &m, std::uint32_t frame) override;
    void leave(Machine &m, std::uint32_t frame) override;
    void shuffle(Machine &m, const std::uint8_t *from) override;

  private:
    struct Arrival {
        std::uint32_t warp = 0, lanes = 0;
        Where where;
        bool aligned = false;
    };
    struct Target {                  // one lane's access, in its own memory
        unsigned lane = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        bool write = false;
    };

    Finding finding(const Machine &m, unsigned lane, const char *kind, std::string message) const;
    void access_shared(Machine &m, const Target &target);
    void access_local(Machine &m, const Target &target);
    bool in_red_zone(Machine &m, const Target &target);
    void check_defined(Machine &m, const Target &target, const std::uint8_t *defined,
                       const char *space);
    void check_race(Machine &m, const Target &target);
    bool writes_same(const Machine &m, const Target &target, const Access &earlier,
                     std::uint64_t address) const;
    void check_members(Machine &m, std::uint32_t lanes);
    void check_arrivals(const Block &block, const std::vector<Arrival> &arrivals,
                        std::uint32_t expected);
    std::uint8_t *local_defined(const Machine &m, unsigned lane);

    Observation &observation_;
    Dim3 block_;
    Dim3 shape_{1, 1, 1};
    std::vector<std::uint8_t> shared_defined_;   // 1: was written
    ZeroedMemory local_defined_;
    std::size_t local_stride_;
    Races races_;
    std::array<std::vector<Arrival>, 16> arrivals_;
    std::array<ClockRef, 16> barrier_clocks_;
    // Of the instruction that runs now.
    const Inst *inst_ = nullptr;
    const Facts *facts_ = nullptr;
    std::uint64_t step_ = 0;
    const std::uint64_t *addresses_ = nullptr;
    std::vector<Where> places_;      // Access::place counts these
    std::map<Where, std::uint32_t> place_numbers_;
    std::uint32_t place_ = 0;
};

}  // namespace ptxkit::sim
