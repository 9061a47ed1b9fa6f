#include "core/matrix/column_passes.hpp"
#include "core/matrix/strided_rows.hpp"

namespace cutplane {

template <class T>
std::unique_ptr<Matrix> make_dense_by_columns(const T* values, index_t n_rows, index_t n_cols,
                                              index_t col_stride, const std::int64_t* rows) {
  return std::make_unique<ColumnMatrix<StridedRows<T>>>(
      StridedRows<T>{values, col_stride, n_rows, n_cols, rows});
}

template std::unique_ptr<Matrix> make_dense_by_columns(const float*, index_t, index_t, index_t,
                                                       const std::int64_t*);
template std::unique_ptr<Matrix> make_dense_by_columns(const double*, index_t, index_t, index_t,
                                                       const std::int64_t*);

}  // namespace cutplane
