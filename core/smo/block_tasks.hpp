// Blocks of kernel values on one thread, in the widest vectors the machine has.
#pragma once

#include <cstdint>

#include "core/smo/kernel_function.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {

// Dense rows against panels of columns.
struct DenseTask {
  KernelFunction function;
  Reduction reduction;
  index_t features;
  const float* rows;  // row-major
  index_t n_rows;
  const float* row_norms;
  const float* panels;
  const float* column_norms;  // null unless the kernel needs squared lengths
  index_t first_panel, last_panel;
  float* const* out;   // out[row][column], room for whole panels
  index_t origin = 0;  // the panel that `out` begins with
};

// Up to 16 rows scattered into a (features x 16) array, against sparse columns.
struct SparseTask {
  KernelFunction function;
  Reduction reduction;
  const float* scattered;
  index_t n_rows;
  const float* row_norms;
  const float* row_sums;  // what a pair sums to where the column is empty: |x|_1, or 0 for products
  const float* values;
  const std::int32_t* indices;
  const std::int64_t* starts;
  const float* column_norms;
  index_t begin, end;  // columns
  float* const* out;
  index_t origin = 0;  // as above
};

void run(const DenseTask& task);
void run(const SparseTask& task);

}  // namespace cutplane::smo
