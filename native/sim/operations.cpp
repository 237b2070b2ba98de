#include "operations.hpp"

#include <unordered_map>

namespace ptxkit::sim {

namespace {

const std::unordered_map<std::string, Operation> &table() {
    static const std::unordered_map<std::string, Operation> found = [] {
        OperationList list;
        add_integer_operations(list);
        add_float_operations(list);
        add_compare_operations(list);
        add_convert_operations(list);
        add_memory_operations(list);
        add_control_operations(list);
        add_warp_operations(list);
        add_half_operations(list);
        add_video_operations(list);
        add_packed_operations(list);
        add_bit_operations(list);
        add_approximate_operations(list);
        add_narrow_operations(list);
        add_atomic_operations(list);
        add_mbarrier_operations(list);
        add_copy_operations(list);
        add_runtime_operations(list);
        add_mma_operations(list);
        add_exact_mma_operations(list);
        add_matrix_move_operations(list);
        add_cluster_operations(list);
        add_tiny_operations(list);
        add_texture_operations(list);
        std::unordered_map<std::string, Operation> map;
        for (const NamedOperation &one : list) map.emplace(one.name, one.operation);
        return map;
    }();
    return found;
}

}  // namespace

Operation find_operation(const std::string &name) {
    const auto found = table().find(name);
    return found == table().end() ? nullptr : found->second;
}

std::vector<std::string> operation_names() {
    std::vector<std::string> names;
    for (const auto &[name, operation] : table()) names.push_back(name);
    return names;
}

}  // namespace ptxkit::sim
