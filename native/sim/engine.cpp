#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>

#include "control.hpp"
#include "observation.hpp"
#include "scheduler.hpp"

namespace ptxkit::sim {

namespace {

constexpr std::uint32_t kBudget = 1u << 18;          // warp instructions of a cluster's turn
constexpr std::uint32_t kShortBudget = 1u << 15;     // where all clusters take turns
constexpr std::size_t kResident = 64;                // clusters that one worker has begun
constexpr std::chrono::milliseconds kPause{50};      // from one look at a run to the next

}  // namespace

void Machine::fault(const char *kind, const std::string &message, unsigned lane,
                    std::uint64_t address) const {
    throw make_fault(kind, message, lane, address);
}

Fault Machine::make_fault(const char *kind, const std::string &message, unsigned lane,
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
    return fault;
}

Engine::Engine(const Program &program_, Buffers &buffers_, Heap &heap_,
               std::vector<std::uint8_t> parameters_, const LaunchOptions &options_)
    : program(program_),
      buffers(buffers_),
      parameters(std::move(parameters_)),
      options(options_),
      heap(heap_) {
    if (options.count)
        for (const Function &function : program.functions) {
            counts_.emplace_back(function.code.size());
            sides_.emplace_back(function.code.size());
        }
}

std::unique_ptr<Block> Engine::make_block() const {
    auto block = std::make_unique<Block>();
    block->threads = static_cast<std::uint32_t>(options.block.count());
    block->live = block->threads;
    block->shared.resize(program.static_shared + options.dynamic_shared);
    const Function &kernel = program.functions[program.entry];
    // Room for the kernel's variables and, where functions are called, for a stack.
    const bool calls = program.functions.size() > 1 || program.uses_alloca;
    const std::uint32_t stack = calls ? options.stack + 16u : 0;
    block->local_stride = (kernel.local_bytes + stack + 15u) & ~15u;
    block->local.resize(std::size_t{block->local_stride} * block->threads);
    block->warps.resize((block->threads + kLanes - 1) / kLanes);
    for (std::uint32_t index = 0; index < block->warps.size(); ++index) {
        Warp &warp = block->warps[index];
        warp.index = index;
        const std::uint32_t rest = block->threads - index * kLanes;
        warp.existing = rest >= kLanes ? kFullMask : (1u << rest) - 1;
        std::fill(std::begin(warp.stack_tops), std::end(warp.stack_tops), block->local_stride);
        Frame frame;
        frame.function = program.entry;
        frame.registers = make_registers(kernel.register_bytes);
        warp.frames.push_back(std::move(frame));
        // A part has a lane at least, so that is all there can be; while one splits or returns,
        // one more. Pointers to parts stay good.
        warp.parts.reserve(kLanes + 1);
        Part part;
        if (options.descending) {
            // Every lane by itself, of which the last runs first: what lanes of a warp do to each
            // other's memory depends on an order too.
            for (std::uint32_t left = warp.existing; left != 0; left &= left - 1) {
                part.mask = left & (~left + 1);
                warp.parts.push_back(part);
            }
        } else {
            part.mask = warp.existing;
            warp.parts.push_back(part);
        }
        warp.frames.back().users = static_cast<std::uint32_t>(warp.parts.size());
    }
    return block;
}

std::unique_ptr<Cluster> Engine::make_cluster(std::uint64_t number) const {
    const Dim3 &shape = options.cluster;
    const std::uint64_t across = options.grid.x / shape.x, down = options.grid.y / shape.y;
    auto cluster = std::make_unique<Cluster>();
    cluster->number = number;
    cluster->id[0] = static_cast<std::uint32_t>(number % across);
    cluster->id[1] = static_cast<std::uint32_t>(number / across % down);
    cluster->id[2] = static_cast<std::uint32_t>(number / across / down);
    for (std::uint32_t rank = 0; rank < shape.count(); ++rank) {
        auto block = make_block();
        block->cluster = cluster.get();
        block->rank = rank;
        block->id[0] = cluster->id[0] * shape.x + rank % shape.x;
        block->id[1] = cluster->id[1] * shape.y + rank / shape.x % shape.y;
        block->id[2] = cluster->id[2] * shape.z + rank / shape.x / shape.y;
        if (options.observation != nullptr)
            block->observers = options.observation->observe(program, options.block, *block);
        cluster->live += block->live;
        cluster->blocks.push_back(std::move(block));
    }
    return cluster;
}

bool Engine::cancel_cluster(std::uint32_t *id) {
    const std::uint64_t total = cluster_count();
    if (options.cooperative || next_cluster_.load() >= total) return false;
    const std::uint64_t place = next_cluster_.fetch_add(1);
    if (place >= total) return false;
    const std::uint64_t number = cluster_at(place);
    const std::uint64_t across = options.grid.x / options.cluster.x;
    const std::uint64_t down = options.grid.y / options.cluster.y;
    id[0] = static_cast<std::uint32_t>(number % across * options.cluster.x);
    id[1] = static_cast<std::uint32_t>(number / across % down * options.cluster.y);
    id[2] = static_cast<std::uint32_t>(number / across / down * options.cluster.z);
    if (program.prints) output.finish(number);
    return true;
}

bool Engine::run_one(Worker &worker, Cluster &cluster, std::uint32_t budget) {
    const bool done = worker.run(cluster, budget);
    if (done && program.prints) output.finish(cluster.number);
    return done;
}

// A cooperative launch: this worker's share of the clusters, all of them alive, in turn.
void Engine::run_all(Worker &worker, unsigned number, unsigned workers) {
    std::deque<std::unique_ptr<Cluster>> resident;
    for (std::uint64_t n = number; n < cluster_count(); n += workers)
        resident.push_back(make_cluster(cluster_at(n)));
    while (!resident.empty() && !stopping()) {
        auto cluster = std::move(resident.front());
        resident.pop_front();
        if (!run_one(worker, *cluster, kShortBudget)) resident.push_back(std::move(cluster));
    }
}

// The usual launch: one after another, but a cluster that takes long may wait for a later one,
// so that some more are begun; how many is limited by what they take of memory.
void Engine::run_some(Worker &worker) {
    std::deque<std::unique_ptr<Cluster>> resident;
    const std::uint64_t total = cluster_count();
    while (!stopping()) {
        std::unique_ptr<Cluster> cluster;
        if (resident.size() < kResident && next_cluster_.load() < total) {
            const std::uint64_t place = next_cluster_.fetch_add(1);
            if (place < total) cluster = make_cluster(cluster_at(place));
        }
        if (!cluster) {
            if (resident.empty()) break;
            cluster = std::move(resident.front());
            resident.pop_front();
        }
        if (!run_one(worker, *cluster, kBudget)) resident.push_back(std::move(cluster));
    }
}

void Engine::work(unsigned number, unsigned workers) {
    Worker worker(*this);
    try {
        if (options.cooperative) run_all(worker, number, workers);
        else run_some(worker);
    } catch (...) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (!failure_) failure_ = std::current_exception();
        stop_ = true;
    }
    instructions_ += worker.executed;
    const std::lock_guard<std::mutex> guard(lock_);
    for (std::size_t f = 0; f < worker.counts.size(); ++f)
        for (std::size_t i = 0; i < worker.counts[f].size(); ++i) {
            counts_[f][i] += worker.counts[f][i];
            sides_[f][i] |= worker.sides[f][i];
        }
}

// Workers on threads of their own; the caller's thread looks after them.
void Engine::run_threads(unsigned count, const std::function<void()> &look) {
    std::vector<std::thread> threads;
    std::condition_variable finished;
    std::mutex finished_lock;
    running_ = count;
    try {
        for (unsigned n = 0; n < count; ++n)
            threads.emplace_back([&, n] {
                work(n, count);
                const std::lock_guard<std::mutex> guard(finished_lock);
                --running_;
                finished.notify_all();
            });
    } catch (const std::system_error &) {  // fewer threads than wanted will do, if any
        running_ -= count - static_cast<unsigned>(threads.size());
        if (threads.empty() || options.cooperative) {
            stop_ = true;
            for (std::thread &thread : threads) thread.join();
            throw Fault("threads", "the system does not give enough threads to run on");
        }
    }
    {
        std::unique_lock<std::mutex> guard(finished_lock);
        while (running_ > 0) {
            finished.wait_for(guard, kPause);
            if (running_ == 0) break;
            guard.unlock();
            look();
            guard.lock();
        }
    }
    for (std::thread &thread : threads) thread.join();
}

void Engine::run(const std::function<bool(const std::string &)> &poll) {
    const auto clusters = cluster_count();
    const auto count = static_cast<unsigned>(
        std::min<std::uint64_t>(std::max(1u, options.threads), std::max<std::uint64_t>(1, clusters)));
    bool interrupted = false;
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto look = [&] {
        const std::chrono::duration<double> taken = Clock::now() - begin;
        if (!interrupted && !poll(output.take())) {
            interrupted = true;
            stop_ = true;
        } else if (options.time_limit > 0 && taken.count() > options.time_limit) {
            overdue_ = true;  // a worker says so, with the place it was at
        }
    };
    if (count > 1) {
        run_threads(count, look);
    } else {  // a thread takes longer to begin than a small kernel to run
        auto last = begin;
        between_ = [&] {
            const auto now = Clock::now();
            if (now - last < kPause) return;
            look();
            last = Clock::now();
        };
        work(0, 1);
        between_ = nullptr;
    }
    output.finish_all();
    if (!interrupted && !poll(output.take())) interrupted = true;
    if (interrupted) throw Fault("interrupted", "the run was interrupted");
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace ptxkit::sim
