// Many programs at once.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "compiler.hpp"

namespace ptxkit::stack {

void compile_many(const Isa &isa, const Interface &interface, const std::vector<Items> &programs,
                  unsigned threads, std::vector<Part> &parts, std::vector<Report> &reports,
                  std::vector<Outcome> &outcomes) {
    constexpr std::size_t kShare = 32;  // programs a thread takes at a time
    const std::size_t count = programs.size();
    parts.resize((count + kShare - 1) / kShare);
    reports.assign(count, {});
    outcomes.assign(count, {});
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto share = [&] {
        Compiler compiler;
        Buffer buffer;
        for (std::size_t n = next++; n < parts.size(); n = next++) {
            Part &part = parts[n];
            part.first = n * kShare;
            const std::size_t end = std::min(count, part.first + kShare);
            std::size_t used = 0;
            part.ends.reserve(end - part.first);
            for (std::size_t at = part.first; at < end; ++at) {
                outcomes[at] = compiler.compile(isa, interface, programs[at], reports[at], buffer,
                                                used);
                part.ends.push_back(used);
            }
            part.text = std::make_unique_for_overwrite<char[]>(used + 1);
            if (used != 0) std::memcpy(part.text.get(), buffer.data(), used);
        }
    };
    const auto work = [&] {
        try {
            share();
        } catch (...) {  // out of memory: the caller's thread tells
            const std::lock_guard<std::mutex> guard(failure_lock);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, threads), parts.size());
    for (std::size_t n = 1; n < wanted; ++n) others.emplace_back(work);
    work();
    for (std::thread &other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ptxkit::stack
