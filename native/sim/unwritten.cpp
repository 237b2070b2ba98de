#include "unwritten.hpp"

#include <bit>

#include "engine.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kSlotBytes = 64;  // every slot begins at a multiple of these

std::size_t slots_of(const Function &function) {
    return function.register_bytes / kSlotBytes + 1;
}

}  // namespace

Unwritten::Unwritten(Observation &observation, const Program &program, const Block &block)
    : observation_(observation), warps_(block.warps.size()) {
    for (auto &frames : warps_) frames.emplace_back(slots_of(program.functions[program.entry]));
}

void Unwritten::enter(Machine &m, std::uint32_t frame) {
    auto &frames = warps_[m.warp->index];
    if (frame >= frames.size()) frames.resize(frame + 1);
    const Function &callee = m.engine.program.functions[m.warp->frames[frame].function];
    frames[frame].assign(slots_of(callee), 0);
}

std::uint32_t &Unwritten::lanes_of(std::uint32_t slot) {
    return warps_[warp_][frame_][slot / kSlotBytes];
}

void Unwritten::check(const Machine &m, const Inst &inst, std::uint32_t slot,
                      std::uint32_t lanes) {
    const std::uint32_t missing = lanes & ~lanes_of(slot);
    if (missing == 0) return;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(missing));
    Finding found;
    found.kind = "unwritten-register";
    found.severity = "warning";  // what is read may not matter in the end
    found.where = Observation::where(m, inst);
    found.thread = thread_place(m.engine.options.block, m.warp->index * kLanes + lane);
    found.block = {m.block.id[0], m.block.id[1], m.block.id[2]};
    found.address = slot;
    observation_.report(std::move(found));
    lanes_of(slot) |= missing;  // told once
}

void Unwritten::before(Machine &m, const Inst &inst, std::uint32_t lanes) {
    warp_ = m.warp->index;
    frame_ = m.part->frame;
    facts_ = &observation_.facts_of(m, inst);
    if (inst.guard != kNoSlot && (inst.guard & kConstantSlot) == 0)
        check(m, inst, inst.guard, m.part->mask);
    if (lanes == 0) return;
    for (const RegisterPlace &place : facts_->reads) check(m, inst, place.slot, lanes);
}

void Unwritten::after(Machine &, const Inst &, std::uint32_t lanes) {
    for (const RegisterPlace &place : facts_->writes) lanes_of(place.slot) |= lanes;
}

}  // namespace ptxkit::sim
