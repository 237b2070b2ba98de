#include "engine.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kSlice = 1u << 14;   // warp instructions before others get a turn
constexpr std::uint32_t kTurn = 1u << 11;    // instructions before divergent lanes take turns

std::unique_ptr<std::uint8_t[]> make_registers(std::uint32_t bytes) {
    return std::make_unique<std::uint8_t[]>(bytes + 64);
}

std::uint8_t *aligned(std::uint8_t *pointer) {
    const auto value = reinterpret_cast<std::uintptr_t>(pointer);
    return pointer + ((64 - value % 64) % 64);
}

void merge_parts(Warp &warp) {
    for (std::size_t one = 0; one < warp.parts.size(); ++one)
        for (std::size_t two = one + 1; two < warp.parts.size();) {
            Part &a = warp.parts[one];
            const Part &b = warp.parts[two];
            if (a.pc == b.pc && a.frame == b.frame && a.state == b.state &&
                a.state != Part::State::AtBarrier) {
                a.mask |= b.mask;
                warp.frames[b.frame].users -= 1;
                warp.parts.erase(warp.parts.begin() + static_cast<std::ptrdiff_t>(two));
            } else {
                ++two;
            }
        }
}

void drop_frame(Warp &warp, std::uint32_t index) {
    while (index != kNoSlot && warp.frames[index].users == 0) {
        const std::uint32_t parent = warp.frames[index].parent;
        warp.frames[index].registers.reset();
        index = parent;
        if (index != kNoSlot) warp.frames[index].users -= 1;
    }
}

std::uint32_t new_frame(Warp &warp) {
    for (std::uint32_t index = 0; index < warp.frames.size(); ++index)
        if (!warp.frames[index].registers) return index;
    warp.frames.emplace_back();
    return static_cast<std::uint32_t>(warp.frames.size() - 1);
}

}  // namespace

void Machine::fault(const char *kind, const std::string &message, unsigned lane,
                    std::uint64_t address) const {
    Fault fault(kind, message);
    fault.function = static_cast<std::uint32_t>(function - engine.program.functions.data());
    fault.instruction = next == 0 ? 0 : next - 1;
    const std::uint32_t linear = warp->index * kLanes + lane;
    const Dim3 &shape = engine.options.block;
    fault.thread[0] = linear % shape.x;
    fault.thread[1] = linear / shape.x % shape.y;
    fault.thread[2] = linear / shape.x / shape.y;
    std::copy(std::begin(block.id), std::end(block.id), fault.block);
    fault.address = address;
    fault.placed = true;
    throw fault;
}

// ---- control flow -----------------------------------------------------------------------

void branch(Machine &machine, std::uint32_t target) {
    if (machine.mask == machine.part->mask) {
        machine.next = target;
        return;
    }
    Part taken = *machine.part;
    taken.mask = machine.mask;
    taken.pc = target;
    machine.part->mask &= ~machine.mask;
    machine.part->pc = machine.next;
    machine.warp->frames[taken.frame].users += 1;
    machine.warp->parts.push_back(taken);
    machine.switched = true;
}

namespace {

// Take the active lanes out of the current part; true when none are left in it.
bool take_lanes(Machine &machine) {
    machine.part->mask &= ~machine.mask;
    machine.part->pc = machine.next;
    machine.switched = true;
    return machine.part->mask == 0;
}

void erase_part(Machine &machine) {
    Warp &warp = *machine.warp;
    const std::uint32_t frame = machine.part->frame;
    warp.parts.erase(warp.parts.begin() + (machine.part - warp.parts.data()));
    warp.frames[frame].users -= 1;
    drop_frame(warp, frame);
}

void try_release(Block &block, unsigned number);

}  // namespace

void leave_lanes(Machine &machine) {
    machine.warp->exited |= machine.mask;
    machine.block.live -= static_cast<std::uint32_t>(std::popcount(machine.mask));
    if (take_lanes(machine)) erase_part(machine);
    for (unsigned number = 0; number < 16; ++number) try_release(machine.block, number);
}

void call_function(Machine &machine, const Inst &inst, std::uint32_t callee) {
    Warp &warp = *machine.warp;
    const Function &function = machine.engine.program.functions[callee];
    const std::uint32_t caller_frame = machine.part->frame;
    const Function &caller = *machine.function;
    const std::uint32_t index = new_frame(warp);
    Frame &frame = warp.frames[index];
    const Frame &above = warp.frames[caller_frame];
    frame.function = callee;
    frame.parent = caller_frame;
    frame.return_to = machine.next;
    frame.local_base = (above.local_base + caller.local_bytes + 15u) & ~15u;
    frame.users = 1;
    frame.registers = make_registers(function.register_bytes);
    frame.call_places = caller.lists.data() + inst.list;

    const std::uint32_t stride =
        static_cast<std::uint32_t>(machine.block.local.size() / std::max(1u, machine.block.threads));
    if (frame.local_base + function.local_bytes > stride)
        machine.fault("stack-overflow", "the call stack of the thread is full");
    // Places: results first, then arguments, each an offset in the caller's local memory.
    const std::uint32_t *places = frame.call_places + function.results.size();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(machine.mask >> lane & 1)) continue;
        std::uint8_t *local = machine.block.local.data() +
                              std::size_t{warp.index * kLanes + lane} * stride;
        for (std::size_t n = 0; n < function.parameters.size(); ++n) {
            const Place &place = function.parameters[n];
            std::memcpy(local + frame.local_base + place.offset,
                        local + above.local_base + places[n], place.size);
        }
    }
    // The active lanes move into the callee as a part of their own.
    Part called = *machine.part;
    called.mask = machine.mask;
    called.pc = 0;
    called.frame = index;
    called.depth += 1;
    // The caller's frame is used from below now: the moved part's use becomes the frame's.
    if (take_lanes(machine)) {
        *machine.part = called;
    } else {
        warp.frames[caller_frame].users += 1;
        warp.parts.push_back(called);
    }
}

void return_lanes(Machine &machine) {
    Warp &warp = *machine.warp;
    const std::uint32_t index = machine.part->frame;
    const Frame &frame = warp.frames[index];
    if (frame.parent == kNoSlot) return leave_lanes(machine);
    const Function &function = *machine.function;
    const Frame &above = warp.frames[frame.parent];
    const std::uint32_t stride =
        static_cast<std::uint32_t>(machine.block.local.size() / std::max(1u, machine.block.threads));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!(machine.mask >> lane & 1)) continue;
        std::uint8_t *local = machine.block.local.data() +
                              std::size_t{warp.index * kLanes + lane} * stride;
        for (std::size_t n = 0; n < function.results.size(); ++n) {
            const Place &place = function.results[n];
            std::memcpy(local + above.local_base + frame.call_places[n],
                        local + frame.local_base + place.offset, place.size);
        }
    }
    Part returned = *machine.part;
    returned.mask = machine.mask;
    returned.pc = frame.return_to;
    returned.frame = frame.parent;
    returned.depth -= 1;
    warp.frames[frame.parent].users += 1;
    if (take_lanes(machine)) erase_part(machine);
    warp.parts.push_back(returned);
    merge_parts(warp);
}

bool converge(Machine &machine, std::uint32_t members) {
    Warp &warp = *machine.warp;
    const std::uint32_t wanted = members & warp.existing & ~warp.exited;
    if ((wanted & ~machine.mask) == 0) return true;
    if (machine.mask != machine.part->mask) {
        // Lanes whose guard is false go on; the others wait here.
        Part others = *machine.part;
        others.mask &= ~machine.mask;
        others.pc = machine.next;
        machine.part->mask = machine.mask;
        warp.frames[others.frame].users += 1;
        const auto place = machine.part - warp.parts.data();
        warp.parts.push_back(others);
        machine.part = warp.parts.data() + place;
    }
    machine.part->pc = machine.next - 1;
    machine.part->state = Part::State::AtWarpSync;
    machine.part->wait_mask = wanted;
    machine.switched = true;
    const auto same = [&](const Part &other) {
        return other.state == Part::State::AtWarpSync && other.pc == machine.part->pc &&
               other.frame == machine.part->frame;
    };
    std::uint32_t here = 0;
    for (const Part &other : warp.parts)
        if (same(other)) here |= other.mask;
    merge_parts(warp);
    if ((wanted & ~here) == 0)
        for (Part &other : warp.parts)
            if (other.state == Part::State::AtWarpSync && (other.mask & here) != 0)
                other.state = Part::State::Ready;
    return false;
}

// ---- barriers -----------------------------------------------------------------------------

namespace {

void try_release(Block &block, unsigned number) {
    Barrier &one = block.barriers[number];
    if (one.arrived == 0) return;
    const std::uint32_t expected = one.expected ? one.expected : block.live;
    if (one.arrived < expected) return;
    for (Warp &warp : block.warps) {
        bool woken = false;
        for (Part &part : warp.parts) {
            if (part.state != Part::State::AtBarrier || (part.wait_mask & 15u) != number) continue;
            part.state = Part::State::Ready;
            woken = true;
            const std::uint32_t slot = part.wait_mask >> 8;
            if (slot != 0xFFFFFFu) {
                auto *registers = aligned(warp.frames[part.frame].registers.get());
                const char kind = static_cast<char>(part.wait_mask >> 4 & 15u);
                auto *out = reinterpret_cast<std::uint32_t *>(registers + std::size_t{slot} * 4);
                if (kind == 1) {
                    for (unsigned lane = 0; lane < kLanes; ++lane)
                        if (part.mask >> lane & 1) out[lane] = one.reduction_count;
                } else {
                    const bool value = kind == 2 ? one.reduction_and != 0 : one.reduction_or != 0;
                    *out = (*out & ~part.mask) | (value ? part.mask : 0);
                }
            }
        }
        if (woken) merge_parts(warp);
    }
    one = Barrier{0, 0, 1, 0, 0, one.generation + 1};
}

}  // namespace

void barrier(Machine &machine, const Inst &inst, std::uint32_t number, std::uint32_t count,
             bool wait, std::uint32_t votes, char reduction) {
    if (number > 15) machine.fault("barrier", "barrier numbers go from 0 to 15");
    if (count % kLanes != 0)
        machine.fault("barrier", "the thread count of a barrier must be a multiple of 32");
    Barrier &one = machine.block.barriers[number];
    one.arrived += static_cast<std::uint32_t>(std::popcount(machine.mask));
    one.expected = count;
    one.reduction_and &= (votes & machine.mask) == machine.mask;
    one.reduction_or |= (votes & machine.mask) != 0;
    one.reduction_count += static_cast<std::uint32_t>(std::popcount(votes & machine.mask));
    if (wait) {
        Part &part = *machine.part;
        if (machine.mask != part.mask) {
            Part others = part;
            others.mask &= ~machine.mask;
            others.pc = machine.next;
            machine.warp->frames[others.frame].users += 1;
            const auto place = machine.part - machine.warp->parts.data();
            machine.warp->parts.push_back(others);
            machine.part = machine.warp->parts.data() + place;
        }
        const std::uint32_t kind = reduction == 'c' ? 1 : reduction == 'a' ? 2 : 3;
        const std::uint32_t slot = reduction ? inst.slots[0] / 4 : 0xFFFFFFu;
        machine.part->mask = machine.mask;
        machine.part->state = Part::State::AtBarrier;
        machine.part->wait_mask = number | kind << 4 | slot << 8;
        machine.part->pc = machine.next;
        machine.switched = true;
    }
    try_release(machine.block, number);
}

// ---- blocks -------------------------------------------------------------------------------

class Engine::Worker {
  public:
    explicit Worker(Engine &engine) : engine_(engine) {
        if (engine.options.count)
            for (const Function &function : engine.program.functions)
                counts.emplace_back(function.code.size());
    }

    // Run a block for a while; true when it is done.
    bool run(Block &block, std::uint32_t budget) {
        Machine machine(engine_, block);
        machine.constants = constants();
        for (;;) {
            bool progressed = false;
            bool all_done = true;
            for (Warp &warp : block.warps) {
                if (warp.done()) continue;
                all_done = false;
                const std::uint32_t steps = run_warp(machine, warp);
                progressed = progressed || steps != 0;
                block.steps += steps;
                executed += steps;
                budget -= std::min(budget, steps);
            }
            if (all_done) return true;
            if (!progressed && !wake_warp_barriers(block)) report_deadlock(machine);
            if (engine_.options.step_limit && block.steps > engine_.options.step_limit) {
                place(machine);
                machine.fault("step-limit", "the block ran past the step limit");
            }
            if (budget == 0 || engine_.stop_.load(std::memory_order_relaxed)) return false;
        }
    }

    std::vector<std::vector<std::uint64_t>> counts;
    std::uint64_t executed = 0;

  private:
    const std::uint8_t *constants() const { return engine_.program.constants.data(); }

    static Part *choose(Warp &warp, std::uint32_t turn) {
        Part *best = nullptr;
        std::uint32_t ready = 0;
        for (Part &part : warp.parts) ready += part.state == Part::State::Ready;
        // Every few turns another part runs, so that one that spins cannot starve the rest.
        std::uint32_t skip = ready > 1 && turn % 4 == 3 ? (turn / 4) % ready : 0;
        for (Part &part : warp.parts) {
            if (part.state != Part::State::Ready) continue;
            if (ready > 1 && turn % 4 == 3) {
                if (skip-- == 0) return &part;
                continue;
            }
            if (best == nullptr || part.depth > best->depth ||
                (part.depth == best->depth && part.pc < best->pc))
                best = &part;
        }
        return best;
    }

    std::uint32_t run_warp(Machine &machine, Warp &warp) {
        std::uint32_t steps = 0;
        machine.warp = &warp;
        while (steps < kSlice) {
            Part *part = choose(warp, turn_);
            if (part == nullptr) break;
            const std::uint32_t before = steps;
            run_part(machine, warp, *part, steps);
            if (steps - before >= kTurn) ++turn_;
            if (engine_.stop_.load(std::memory_order_relaxed)) break;
        }
        return steps;
    }

    void run_part(Machine &machine, Warp &warp, Part &start, std::uint32_t &steps) {
        Frame &frame = warp.frames[start.frame];
        machine.part = &start;
        machine.registers = aligned(frame.registers.get());
        machine.function = &engine_.program.functions[frame.function];
        machine.switched = false;
        const Inst *code = machine.function->code.data();
        std::uint64_t *counted =
            engine_.options.count ? counts[frame.function].data() : nullptr;
        std::uint32_t pc = start.pc;
        const std::uint32_t limit = steps + kTurn;
        for (;;) {
            const Inst &inst = code[pc];
            if (inst.leader && warp.parts.size() > 1) {
                machine.part->pc = pc;
                if (meet(warp, *machine.part)) return;
            }
            std::uint32_t mask = machine.part->mask;
            if (inst.guard != kNoSlot) {
                const std::uint32_t guard = machine.predicate(inst.guard);
                mask &= inst.negated ? ~guard : guard;
            }
            machine.next = pc + 1;
            ++steps;
            if (counted != nullptr)
                counted[pc] += static_cast<std::uint64_t>(std::popcount(mask));
            if (mask != 0) {
                machine.mask = mask;
                inst.operation(machine, inst);
                if (machine.switched) return;
            }
            pc = machine.next;
            if (steps >= limit) {
                machine.part->pc = pc;
                return;
            }
        }
    }

    // At a place where paths join: unite with others that are here, or let those behind go
    // first. True when the current part stops running.
    static bool meet(Warp &warp, Part &part) {
        const std::uint32_t pc = part.pc;
        const std::uint32_t frame = part.frame;
        bool behind = false;
        bool here = false;
        for (const Part &other : warp.parts) {
            if (&other == &part || other.frame != frame || other.state != Part::State::Ready)
                continue;
            here = here || other.pc == pc;
            behind = behind || other.pc < pc;
        }
        if (here) merge_parts(warp);
        return here || behind;
    }

    // Lanes that wait at bar.warp.sync in different places may meet all the same.
    static bool wake_warp_barriers(Block &block) {
        bool woken = false;
        for (Warp &warp : block.warps) {
            std::uint32_t here = 0;
            for (const Part &part : warp.parts)
                if (part.state == Part::State::AtWarpSync) here |= part.mask;
            for (Part &part : warp.parts) {
                const std::uint32_t wanted = part.wait_mask & ~warp.exited;
                if (part.state == Part::State::AtWarpSync && (wanted & ~part.mask) == 0) {
                    part.state = Part::State::Ready;
                    woken = true;
                }
            }
        }
        return woken;
    }

    void place(Machine &machine) {
        for (Warp &warp : machine.block.warps)
            if (!warp.parts.empty()) {
                const Part &part = warp.parts.front();
                machine.warp = &warp;
                machine.function = &engine_.program.functions[warp.frames[part.frame].function];
                machine.next = part.pc + 1;
                return;
            }
    }

    [[noreturn]] void report_deadlock(Machine &machine) {
        place(machine);
        std::uint32_t at_barrier = 0, at_sync = 0;
        for (const Warp &warp : machine.block.warps)
            for (const Part &part : warp.parts) {
                const auto lanes = static_cast<std::uint32_t>(std::popcount(part.mask));
                (part.state == Part::State::AtBarrier ? at_barrier : at_sync) += lanes;
            }
        machine.fault("deadlock",
                      "no thread can go on: " + std::to_string(at_barrier) +
                          " wait at a barrier, " + std::to_string(at_sync) +
                          " at a warp operation whose other lanes do not come");
    }

    Engine &engine_;
    std::uint32_t turn_ = 0;
};

Engine::Engine(const Program &program_, Buffers &buffers_, std::vector<std::uint8_t> parameters_,
               const LaunchOptions &options_)
    : program(program_),
      buffers(buffers_),
      parameters(std::move(parameters_)),
      options(options_) {
    if (options.count)
        for (const Function &function : program.functions)
            counts_.emplace_back(function.code.size());
}

std::unique_ptr<Block> Engine::make_block(std::uint64_t number) const {
    auto block = std::make_unique<Block>();
    block->id[0] = static_cast<std::uint32_t>(number % options.grid.x);
    block->id[1] = static_cast<std::uint32_t>(number / options.grid.x % options.grid.y);
    block->id[2] = static_cast<std::uint32_t>(number / options.grid.x / options.grid.y);
    block->threads = static_cast<std::uint32_t>(options.block.count());
    block->live = block->threads;
    block->shared.resize(program.static_shared + options.dynamic_shared);
    const Function &kernel = program.functions[program.entry];
    // Room for the kernel's variables and, where functions are called, for a stack.
    const std::uint32_t stack = program.functions.size() > 1 ? 16384 : 0;
    const std::size_t stride = (kernel.local_bytes + stack + 31u) & ~15u;
    block->local.resize(stride * block->threads);
    block->warps.resize((block->threads + kLanes - 1) / kLanes);
    for (std::uint32_t index = 0; index < block->warps.size(); ++index) {
        Warp &warp = block->warps[index];
        warp.index = index;
        const std::uint32_t rest = block->threads - index * kLanes;
        warp.existing = rest >= kLanes ? kFullMask : (1u << rest) - 1;
        Frame frame;
        frame.function = program.entry;
        frame.users = 1;
        frame.registers = make_registers(kernel.register_bytes);
        warp.frames.push_back(std::move(frame));
        Part part;
        part.mask = warp.existing;
        warp.parts.push_back(part);
    }
    return block;
}

void Engine::work() {
    Worker worker(*this);
    std::deque<std::unique_ptr<Block>> waiting;
    const std::uint64_t total = options.grid.count();
    try {
        while (!stop_.load(std::memory_order_relaxed)) {
            std::unique_ptr<Block> block;
            const std::uint64_t number = next_block_.load() < total ? next_block_.fetch_add(1) : total;
            if (number < total) {
                block = make_block(number);
            } else if (!waiting.empty()) {
                block = std::move(waiting.front());
                waiting.pop_front();
            } else {
                break;
            }
            // A block that takes long may wait for another one: let that one begin.
            if (!worker.run(*block, 1u << 22)) waiting.push_back(std::move(block));
        }
    } catch (...) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
    }
    instructions_ += worker.executed;
    const std::lock_guard<std::mutex> guard(lock_);
    for (std::size_t f = 0; f < worker.counts.size(); ++f)
        for (std::size_t i = 0; i < worker.counts[f].size(); ++i)
            counts_[f][i] += worker.counts[f][i];
}

void Engine::run(const std::function<bool()> &poll) {
    const auto blocks = options.grid.count();
    const auto count = static_cast<unsigned>(
        std::min<std::uint64_t>(std::max(1u, options.threads), std::max<std::uint64_t>(1, blocks)));
    std::vector<std::thread> threads;
    std::condition_variable finished;
    std::mutex finished_lock;
    running_ = count;
    for (unsigned n = 0; n < count; ++n)
        threads.emplace_back([&] {
            work();
            const std::lock_guard<std::mutex> guard(finished_lock);
            --running_;
            finished.notify_all();
        });
    bool interrupted = false;
    {
        std::unique_lock<std::mutex> guard(finished_lock);
        while (running_ > 0) {
            finished.wait_for(guard, std::chrono::milliseconds(50));
            if (running_ == 0) break;
            guard.unlock();
            if (!interrupted && !poll()) {
                interrupted = true;
                stop_ = true;
            }
            guard.lock();
        }
    }
    for (std::thread &thread : threads) thread.join();
    if (interrupted) throw Fault("interrupted", "the run was interrupted");
    if (failure_) std::rethrow_exception(failure_);
}

std::uint64_t Engine::allocate(std::uint64_t size) {
    const std::lock_guard<std::mutex> guard(heap_lock_);
    heap_.push_back(std::make_unique<std::uint8_t[]>(size + 16));
    const auto address = (reinterpret_cast<std::uint64_t>(heap_.back().get()) + 15) & ~15ull;
    buffers.add(address, size, true, "device heap");
    buffers.sort();
    return address;
}

bool Engine::release(std::uint64_t address) {
    const std::lock_guard<std::mutex> guard(heap_lock_);
    const Buffer *found = buffers.find(address);
    if (found == nullptr || found->begin != address || found->name != "device heap") return false;
    buffers.remove(address);
    return true;
}

}  // namespace ptxkit::sim
