// Functions that the CUDA runtime gives to kernels: vprintf, __assertfail, malloc, free.
#include <bit>
#include <cstring>

#include "access.hpp"
#include "operations.hpp"
#include "printf.hpp"

namespace ptxkit::sim {

namespace {

// `list` of such a call: the places of the results, then of the arguments, in the caller's frame.
// `immediate`: how many results.
std::uint8_t *place_of(Machine &m, const Inst &i, std::size_t number, std::size_t size, unsigned lane) {
    const std::uint32_t offset =
        m.warp->frames[m.part->frame].local_base + m.function->lists[i.list + number];
    return locate_range(m, Space::Local, offset, size, 1, true, lane);
}

template <class T>
T argument(Machine &m, const Inst &i, std::size_t number, unsigned lane) {
    T value;
    std::memcpy(&value, place_of(m, i, number + static_cast<std::size_t>(i.immediate), sizeof(T), lane),
                sizeof(T));
    return value;
}

template <class T>
void give(Machine &m, const Inst &i, T value, unsigned lane) {
    if (i.immediate != 0) std::memcpy(place_of(m, i, 0, sizeof(T), lane), &value, sizeof(T));
}

// A string of a kernel: any generic address.
std::string read_text(Machine &m, std::uint64_t address, unsigned lane) {
    constexpr std::size_t kMost = 1u << 20;
    std::string text;
    while (text.size() < kMost) {
        const char c = static_cast<char>(
            *locate_range(m, Space::Generic, address + text.size(), 1, 1, false, lane));
        if (c == 0) break;
        text += c;
    }
    return text;
}

void print(Machine &m, const Inst &i) {
    std::string all;
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const auto format = argument<std::uint64_t>(m, i, 0, l);
        const auto list = argument<std::uint64_t>(m, i, 1, l);
        if (format == 0) {
            give<std::int32_t>(m, i, -1, l);
            continue;
        }
        std::uint64_t at = list;
        PrintArguments arguments;
        arguments.next = [&](unsigned size) {
            at = (at + size - 1) / size * size;
            std::uint64_t value = 0;
            std::memcpy(&value, locate_range(m, Space::Generic, at, size, 1, false, l), size);
            at += size;
            return value;
        };
        arguments.text = [&](std::uint64_t address) { return read_text(m, address, l); };
        all += format_text(read_text(m, format, l), arguments);
        give<std::int32_t>(m, i, arguments.taken, l);
    }
    m.engine.output.add(m.block.cluster->number, all);
}

void fail_assertion(Machine &m, const Inst &i) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m.mask));
    const std::string message = read_text(m, argument<std::uint64_t>(m, i, 0, lane), lane);
    const std::string file = read_text(m, argument<std::uint64_t>(m, i, 1, lane), lane);
    const auto line = argument<std::uint32_t>(m, i, 2, lane);
    const std::string function = read_text(m, argument<std::uint64_t>(m, i, 3, lane), lane);
    m.fault("assert",
            file + ":" + std::to_string(line) + ": " + function + ": assertion `" + message + "` failed",
            lane);
}

void allocate(Machine &m, const Inst &i) {
    for (unsigned l = 0; l < kLanes; ++l)
        if (m.mask >> l & 1)
            give<std::uint64_t>(
                m, i, m.engine.heap.allocate(argument<std::uint64_t>(m, i, 0, l), i.node), l);
}

void release(Machine &m, const Inst &i) {
    for (unsigned l = 0; l < kLanes; ++l) {
        if (!(m.mask >> l & 1)) continue;
        const auto address = argument<std::uint64_t>(m, i, 0, l);
        if (address == 0) continue;
        const std::string wrong = m.engine.heap.release(address);
        if (!wrong.empty())
            m.fault(wrong.ends_with("freed") ? "double-free" : "invalid-free",
                    "free of an address " + wrong, l, address);
    }
}

}  // namespace

void add_runtime_operations(OperationList &list) {
    list.push_back({"call.vprintf", print});
    list.push_back({"call.__assertfail", fail_assertion});
    list.push_back({"call.malloc", allocate});
    list.push_back({"call.free", release});
}

}  // namespace ptxkit::sim
