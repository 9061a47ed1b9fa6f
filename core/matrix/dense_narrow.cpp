#include "core/matrix/column_passes.hpp"
#include "core/matrix/narrow_rows.hpp"
#include "core/matrix/row_passes.hpp"

namespace cutplane {

std::unique_ptr<Matrix> make_narrow(const std::byte* values, NarrowType type, index_t n_rows,
                                    index_t n_cols, index_t row_stride, index_t column_stride,
                                    const std::int64_t* rows, int most_lanes) {
  const NarrowRows narrow{values, type,   row_stride, column_stride,
                          n_rows, n_cols, rows,       most_lanes};
  if (column_stride == 1) return std::make_unique<RowMatrix<NarrowRows>>(narrow);
  return std::make_unique<ColumnMatrix<NarrowRows>>(narrow);
}

}  // namespace cutplane
