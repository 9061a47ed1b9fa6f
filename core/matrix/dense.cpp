#include "core/matrix/dense_rows.hpp"
#include "core/matrix/row_passes.hpp"

namespace cutplane {

template <class T>
std::unique_ptr<Matrix> make_dense(const T* values, index_t n_rows, index_t n_cols,
                                   index_t row_stride, const std::int64_t* rows, int most_lanes) {
  using Rows = DenseRows<T>;
  return std::make_unique<RowMatrix<Rows>>(
      Rows{values, row_stride * static_cast<index_t>(sizeof(T)), n_rows, n_cols, rows, most_lanes});
}

template std::unique_ptr<Matrix> make_dense(const float*, index_t, index_t, index_t,
                                            const std::int64_t*, int);
template std::unique_ptr<Matrix> make_dense(const double*, index_t, index_t, index_t,
                                            const std::int64_t*, int);

}  // namespace cutplane
