// What kernels print: kept by cluster, so that it comes in the grid's order whoever runs first.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace ptxkit::sim {

class Output {
  public:
    void add(std::uint64_t cluster, const std::string &text) {
        const std::lock_guard<std::mutex> guard(lock_);
        texts_[cluster] += text;
    }

    void finish(std::uint64_t cluster) {
        const std::lock_guard<std::mutex> guard(lock_);
        finished_.insert(cluster);
        while (finished_.erase(first_) != 0) ++first_;
    }

    // Nothing runs any more: the rest may be shown.
    void finish_all() {
        const std::lock_guard<std::mutex> guard(lock_);
        first_ = UINT64_MAX;
    }

    // The text that may be shown now: of all up to the first cluster that still runs.
    std::string take() {
        const std::lock_guard<std::mutex> guard(lock_);
        std::string text;
        while (!texts_.empty() && texts_.begin()->first <= first_) {
            text += texts_.begin()->second;
            texts_.erase(texts_.begin());
        }
        return text;
    }

  private:
    std::mutex lock_;
    std::map<std::uint64_t, std::string> texts_;
    std::set<std::uint64_t> finished_;
    std::uint64_t first_ = 0;  // the first cluster that has not finished
};

}  // namespace ptxkit::sim
