// A kernel's parameters, a launch of it, and which launches were made last.
#pragma once

#include <array>
#include <cstdint>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ptxkit::launch {

enum class Kind : std::uint8_t { integer, floating, bits, structure };

struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
    Kind kind;
};

// More than any kernel's parameters take (PTX 8.1 raised the limit from 4,352 bytes).
constexpr std::size_t kParameterBytes = 32'768;

struct Plan {
    std::string name;
    std::vector<Parameter> parameters;
    std::vector<std::string> labels;  // of the parameters, for messages
    std::uint32_t bytes;              // of all parameters together
};

struct Shape {
    std::array<std::uint32_t, 3> grid, block, cluster;  // a cluster of zeros: none
    std::uint32_t shared_bytes;
    bool cooperative;
};

// A kernel on one device: where to launch it. Empty until it was checked there.
struct Place {
    void *context = nullptr;
    void *function = nullptr;
};

// Launch. The parameters are `plan.bytes` bytes. Gives the driver's status.
int launch(const Plan &plan, const Shape &shape, const Place &place, void *stream,
           std::uint8_t *parameters);

// One launch, as messages about faults show it: faults are found long after their launch.
struct Record {
    std::shared_ptr<const Plan> plan;
    Shape shape;
    void *context;
    void *stream;
    std::array<std::uint8_t, 96> parameters;  // the first bytes: enough for a message
    bool pending = false;
};

// The last launches of the process. Its users hold the GIL; the lock is for builds without one.
class History {
  public:
    void add(const std::shared_ptr<const Plan> &plan, const Shape &shape, void *context,
             void *stream, const std::uint8_t *parameters);
    // A stream, or a whole context if `whole`, has finished all it was given.
    void finished(void *context, void *stream, bool whole);
    // Oldest first.
    std::vector<Record> pending(void *context);

  private:
    std::mutex mutex_;
    std::array<Record, 32> records_;
    std::size_t next_ = 0;
};

History &history();

}  // namespace ptxkit::launch
