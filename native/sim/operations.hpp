// The files that define operations, each adding its rows to one list.
#pragma once

#include "program.hpp"

namespace ptxkit::sim {

void add_integer_operations(OperationList &list);
void add_float_operations(OperationList &list);
void add_compare_operations(OperationList &list);
void add_convert_operations(OperationList &list);
void add_memory_operations(OperationList &list);
void add_control_operations(OperationList &list);
void add_warp_operations(OperationList &list);
void add_half_operations(OperationList &list);
void add_video_operations(OperationList &list);
void add_packed_operations(OperationList &list);
void add_bit_operations(OperationList &list);
void add_approximate_operations(OperationList &list);
void add_narrow_operations(OperationList &list);
void add_atomic_operations(OperationList &list);
void add_mbarrier_operations(OperationList &list);
void add_copy_operations(OperationList &list);
void add_runtime_operations(OperationList &list);
void add_mma_operations(OperationList &list);
void add_exact_mma_operations(OperationList &list);
void add_matrix_move_operations(OperationList &list);
void add_cluster_operations(OperationList &list);
void add_tiny_operations(OperationList &list);
void add_texture_operations(OperationList &list);

}  // namespace ptxkit::sim
