#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "control.hpp"
#include "scheduler.hpp"

namespace ptxkit::sim {

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
