#include "plan.hpp"

#include <algorithm>
#include <cstring>

#include "driver.hpp"

namespace ptxkit::launch {

namespace {

constexpr int kNotInitialized = 3, kNotSupported = 801;  // statuses of the driver

int launch_with_attributes(const Driver &driver, const Shape &shape, void *function, void *stream,
                           void **places) {
    if (driver.launch_with == nullptr) return kNotSupported;
    std::array<Attribute, 2> attributes;
    std::uint32_t count = 0;
    if (shape.cluster[0] != 0) {
        attributes[count].id = kClusterDimension;
        for (std::size_t axis = 0; axis < 3; ++axis)
            attributes[count].value.words[axis] = shape.cluster[axis];
        ++count;
    }
    if (shape.cooperative) {
        attributes[count].id = kCooperative;
        attributes[count].value.words[0] = 1;
        ++count;
    }
    const Configuration configuration{
        {shape.grid[0], shape.grid[1], shape.grid[2]},
        {shape.block[0], shape.block[1], shape.block[2]},
        shape.shared_bytes, stream, attributes.data(), count};
    return driver.launch_with(&configuration, function, places, nullptr);
}

}  // namespace

int launch(const Plan &plan, const Shape &shape, const Place &place, void *stream,
           std::uint8_t *parameters) {
    const Driver *found = driver();
    if (found == nullptr) return kNotInitialized;
    constexpr std::size_t kFew = 64;
    std::array<void *, kFew> few;
    std::vector<void *> many;
    void **places = few.data();
    if (plan.parameters.size() > kFew) {
        many.resize(plan.parameters.size());
        places = many.data();
    }
    for (std::size_t n = 0; n < plan.parameters.size(); ++n)
        places[n] = parameters + plan.parameters[n].offset;

    // Whoever works with another GPU on this thread finds it as it was.
    void *before = nullptr;
    int status = found->current_context(&before);
    if (status != 0) return status;
    const bool elsewhere = before != place.context;
    if (elsewhere) {
        status = found->set_context(place.context);
        if (status != 0) return status;
    }
    if (shape.cluster[0] != 0 || shape.cooperative)
        status = launch_with_attributes(*found, shape, place.function, stream, places);
    else
        status = found->launch(place.function, shape.grid[0], shape.grid[1], shape.grid[2],
                               shape.block[0], shape.block[1], shape.block[2],
                               shape.shared_bytes, stream, places, nullptr);
    if (elsewhere && before != nullptr) {
        const int restored = found->set_context(before);
        if (status == 0) status = restored;
    }
    return status;
}

void History::add(const std::shared_ptr<const Plan> &plan, const Shape &shape, void *context,
                  void *stream, const std::uint8_t *parameters) {
    const std::lock_guard lock(mutex_);
    Record &record = records_[next_];
    next_ = (next_ + 1) % records_.size();
    if (record.plan != plan) record.plan = plan;
    record.shape = shape;
    record.context = context;
    record.stream = stream;
    std::memcpy(record.parameters.data(), parameters,
                std::min<std::size_t>(plan->bytes, record.parameters.size()));
    record.pending = true;
}

void History::finished(void *context, void *stream, bool whole) {
    const std::lock_guard lock(mutex_);
    for (Record &record : records_)
        if (record.context == context && (whole || record.stream == stream)) {
            record.pending = false;
            record.plan.reset();
        }
}

std::vector<Record> History::pending(void *context) {
    const std::lock_guard lock(mutex_);
    std::vector<Record> found;
    for (std::size_t n = 0; n < records_.size(); ++n) {
        const Record &record = records_[(next_ + n) % records_.size()];
        if (record.pending && record.context == context) found.push_back(record);
    }
    return found;
}

History &history() {
    static History found;
    return found;
}

}  // namespace ptxkit::launch
