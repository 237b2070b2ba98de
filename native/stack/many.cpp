// Many programs at once.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "compiler.hpp"

namespace ptxkit::stack {

void for_each_share(std::size_t count, unsigned threads,
                    const std::function<void(std::size_t, std::size_t)> &work) {
    const std::size_t shares = (count + kShare - 1) / kShare;
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto run = [&] {
        try {
            for (std::size_t n = next++; n < shares; n = next++)
                work(n * kShare, std::min(count, (n + 1) * kShare));
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
    for_each_share(count, threads, [&](std::size_t begin, std::size_t end) {
        // What a thread has allocated serves it again.
        static thread_local Compiler compiler;
        Part &part = parts[begin / kShare];
        part.first = begin;
        part.text = pool->take();
        part.pool = pool;
        part.ends.reserve(end - begin);
        std::size_t used = 0;
        for (std::size_t at = begin; at < end; ++at) {
            outcomes[at] =
                compiler.compile(isa, interface, programs[at], reports[at], part.text, used);
            part.ends.push_back(used);
        }
    });
}

}  // namespace ptxkit::stack
