// Many programs at once.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "compiler.hpp"

namespace ptxkit::stack {

namespace {

// Compilers that are done with: what they have allocated serves the next threads.
class CompilerPool {
  public:
    std::unique_ptr<Compiler> take() {
        const std::lock_guard<std::mutex> guard(lock_);
        if (free_.empty()) return std::make_unique<Compiler>();
        std::unique_ptr<Compiler> found = std::move(free_.back());
        free_.pop_back();
        return found;
    }
    void give(std::unique_ptr<Compiler> compiler) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (free_.size() < kMostHeld) free_.push_back(std::move(compiler));
    }

  private:
    static constexpr std::size_t kMostHeld = 64;
    std::mutex lock_;
    std::vector<std::unique_ptr<Compiler>> free_;
};

}  // namespace

void for_each_share(std::size_t count, unsigned threads,
                    const std::function<void(Compiler &, std::size_t, std::size_t)> &work) {
    static CompilerPool pool;
    const std::size_t shares = (count + kShare - 1) / kShare;
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto run = [&] {
        try {
            std::unique_ptr<Compiler> compiler = pool.take();
            for (std::size_t n = next++; n < shares; n = next++)
                work(*compiler, n * kShare, std::min(count, (n + 1) * kShare));
            pool.give(std::move(compiler));
        } catch (...) {  // out of memory: the caller's thread tells
            const std::lock_guard<std::mutex> guard(failure_lock);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, threads), shares);
    for (std::size_t n = 1; n < wanted; ++n) others.emplace_back(run);
    run();
    for (std::thread &other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

void compile_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                  unsigned threads, std::vector<Part> &parts, std::vector<Report> &reports,
                  std::vector<Outcome> &outcomes) {
    const std::size_t count = programs.size();
    parts.resize((count + kShare - 1) / kShare);
    reports.assign(count, {});
    outcomes.assign(count, {});
    static const auto pool = std::make_shared<BufferPool>();
    for_each_share(count, threads, [&](Compiler &compiler, std::size_t begin, std::size_t end) {
        Part &part = parts[begin / kShare];
        part.first = begin;
        part.text = pool->take();
        part.pool = pool;
        part.places.reserve(end - begin);
        std::size_t used = 0, stub = 0;
        for (std::size_t at = begin; at < end; ++at) {
            outcomes[at] = compiler.compile(isa, interface, programs[at], reports[at], part.text,
                                            used, stub);
            part.places.push_back({stub, used});
        }
    });
}

}  // namespace ptxkit::stack
