#include "fold.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace ptxkit::stack {

namespace {

std::uint8_t *aligned(std::vector<std::uint8_t> &memory) {
    const auto value = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (64 - value % 64) % 64;
}

// The bytes 32 lanes take.
std::size_t extent(const Place &place) {
    return place.bytes == 0 ? sizeof(std::uint32_t) : std::size_t{place.bytes} * sim::kLanes;
}

}  // namespace

FoldProgram::FoldProgram(std::shared_ptr<const sim::Program> program)
    : program_(std::move(program)) {
    if (program_ == nullptr || program_->functions.empty())
        throw std::invalid_argument("the simulator's program is empty");
    const sim::Function &function = program_->functions[0];
    for (const sim::Inst &inst : function.code) {
        const auto check_slot = [&](std::uint32_t slot) {
            if (slot == sim::kNoSlot) return;
            const std::size_t offset = slot & ~sim::kConstantSlot;
            const std::size_t size = slot & sim::kConstantSlot ? program_->constants.size()
                                                               : function.register_bytes;
            if (offset + 64 > size) throw std::invalid_argument("a register is out of range");
        };
        check_slot(inst.guard);
        for (std::uint32_t slot : inst.slots) check_slot(slot);
        if (std::size_t{inst.list} + inst.list_size > function.lists.size())
            throw std::invalid_argument("a list is out of range");
    }
}

void FoldProgram::check(const Fold &fold) const {
    if (fold.end > program_->functions[0].code.size())
        throw std::invalid_argument("a stretch of the simulator's code is out of range");
    const auto check_place = [&](const Place &place) {
        const bool known = place.bytes == 0 || place.bytes == 2 || place.bytes == 4 ||
                           place.bytes == 8;
        if (!known || place.slot + extent(place) > register_bytes())
            throw std::invalid_argument("a register of the simulator is out of range");
    };
    for (const Place &place : fold.sources) check_place(place);
    for (const Place &place : fold.destinations) check_place(place);
}

FoldMachine::FoldMachine(const FoldProgram &folds)
    : folds_(folds),
      heap_(0),
      engine_(folds.program(), buffers_, heap_, {}, sim::LaunchOptions{}),
      machine_(engine_, block_),
      memory_(folds.register_bytes() + 64),
      constant_memory_(folds.program().constants.size() + 64) {
    registers_ = aligned(memory_);
    std::uint8_t *constants = aligned(constant_memory_);
    const std::vector<std::uint8_t> &bytes = folds.program().constants;
    if (!bytes.empty()) std::memcpy(constants, bytes.data(), bytes.size());
    warp_.existing = sim::kFullMask;
    warp_.parts.emplace_back();
    machine_.warp = &warp_;
    machine_.part = warp_.parts.data();
    machine_.function = folds.program().functions.data();
    machine_.registers = registers_;
    machine_.constants = constants;
}

void FoldMachine::execute(const Fold &fold, std::uint32_t mask) {
    const sim::Inst *code = folds_.program().functions[0].code.data();
    warp_.existing = mask;
    machine_.part->mask = mask;
    for (std::uint32_t at = fold.begin; at < fold.end; ++at) {
        const sim::Inst &inst = code[at];
        std::uint32_t lanes = mask;
        if (inst.guard != sim::kNoSlot) {
            const std::uint32_t guard = machine_.predicate(inst.guard);
            lanes &= inst.negated ? ~guard : guard;
        }
        machine_.mask = lanes;
        machine_.next = at + 1;
        if (lanes != 0) inst.operation(machine_, inst);
    }
}

bool FoldMachine::run(const Fold &fold, const std::uint64_t *arguments, std::uint64_t *results) {
    if (fold.divides && arguments[1] == 0) return false;
    for (std::size_t n = 0; n < fold.sources.size(); ++n) {
        const Place &place = fold.sources[n];
        const std::uint32_t predicate = arguments[n] ? sim::kFullMask : 0;
        if (place.bytes == 0) std::memcpy(registers_ + place.slot, &predicate, sizeof predicate);
        else std::memcpy(registers_ + place.slot, &arguments[n], place.bytes);
    }
    execute(fold, 1);
    for (std::size_t n = 0; n < fold.destinations.size(); ++n) {
        const Place &place = fold.destinations[n];
        results[n] = 0;
        std::memcpy(&results[n], registers_ + place.slot, place.bytes ? place.bytes : 4u);
        if (place.bytes == 0) results[n] &= 1;
    }
    return true;
}

void FoldMachine::run_lanes(const Fold &fold, const std::uint64_t *const *arguments,
                            std::uint64_t *const *results, std::uint32_t lanes) {
    for (std::size_t n = 0; n < fold.sources.size(); ++n) {
        const Place &place = fold.sources[n];
        std::uint32_t predicate = 0;
        for (unsigned lane = 0; lane < sim::kLanes; ++lane) {
            const std::uint64_t value = arguments[n][lane];
            if (place.bytes == 0) predicate |= static_cast<std::uint32_t>(value & 1) << lane;
            else std::memcpy(registers_ + place.slot + std::size_t{lane} * place.bytes, &value,
                             place.bytes);
        }
        if (place.bytes == 0) std::memcpy(registers_ + place.slot, &predicate, sizeof predicate);
    }
    execute(fold, lanes);
    for (std::size_t n = 0; n < fold.destinations.size(); ++n) {
        const Place &place = fold.destinations[n];
        std::uint32_t predicate = 0;
        if (place.bytes == 0) std::memcpy(&predicate, registers_ + place.slot, sizeof predicate);
        for (unsigned lane = 0; lane < sim::kLanes; ++lane) {
            std::uint64_t value = predicate >> lane & 1;
            if (place.bytes)
                std::memcpy(&value, registers_ + place.slot + std::size_t{lane} * place.bytes,
                            place.bytes);
            results[n][lane] = value;
        }
    }
}

}  // namespace ptxkit::stack
