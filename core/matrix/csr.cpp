#include "core/matrix/csr_rows.hpp"
#include "core/matrix/row_passes.hpp"

namespace cutplane {

template <class T, class I>
std::unique_ptr<Matrix> make_csr(const T* values, const I* indices, const I* indptr, index_t n_rows,
                                 index_t n_cols, const std::int64_t* rows, index_t stored,
                                 bool sorted) {
  using Rows = CsrRows<T, I>;
  Rows all{values, indices, indptr, n_rows, n_cols, rows, stored, sorted};
  if (all.entries() > kLong * n_rows) all.prefetched = kMore;
  return std::make_unique<RowMatrix<Rows>>(all);
}

template std::unique_ptr<Matrix> make_csr(const float*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const float*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);

}  // namespace cutplane
