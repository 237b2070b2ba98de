// Changing a value in memory in one step: what atom, red and the asynchronous reductions share.
#pragma once

#include <cstdint>
#include <string>

namespace ptxkit::sim {

// Inst::count of atomic operations.
enum AtomicKind : int {
    kAnd, kOr, kXor, kExchange, kAdd, kIncrement, kDecrement, kMinimum, kMaximum, kCompareSwap
};

// How a type's elements are changed: `place` takes the update with `value`, atomically.
struct ReductionType {
    const char *name;
    unsigned size;
    void (*apply)(std::uint8_t *place, const std::uint8_t *value, int kind);
};

// By the number that lowerings put into Inst::width: u32 s32 u64 s64 f32 f64 f16 bf16.
const ReductionType &reduction_type(unsigned number);

}  // namespace ptxkit::sim
