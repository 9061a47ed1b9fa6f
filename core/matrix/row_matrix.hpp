// A matrix of rows: what each block of a pass does, for one layout.
//
// The members are defined in core/matrix/row_passes.hpp, which is compiled once for each of the
// types below.
#pragma once

#include <cstdint>

#include "core/matrix/csr_rows.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

template <class Rows>
class RowMatrix : public Matrix {
 public:
  explicit RowMatrix(const Rows& rows) : Matrix(rows.n, rows.d, rows.entries()), rows_(rows) {}

  AnyRows any_rows() const override;

 protected:
  void score_rows(index_t begin, index_t end, const double* w, double* out) const override;
  void add_rows(index_t begin, index_t end, const double* coef, double* sum) const override;
  void score_rows_many(index_t begin, index_t end, const double* padded, index_t columns, index_t k,
                       double* out) const override;
  void add_rows_many(index_t begin, index_t end, const double* coef, index_t k,
                     double* sum) const override;
  void add_curvature(Subset subset, const double* weights, const double* v,
                     double* sum) const override;
  void add_outer_products(Subset subset, const double* weights, index_t first, index_t last,
                          double* sum) const override;
  void gather_rows(Subset subset, const double* scale, float* out) const override;
  void square_rows(index_t begin, index_t end, double* out) const override;
  RowExtent survey_rows(index_t begin, index_t end, double* columns,
                        double* squares) const override;
  index_t find_unusable(index_t begin, index_t end) const override;

  void add_listed(const index_t* listed, index_t count, const double* coef, double* sum) const;

  Rows rows_;
};

extern template class RowMatrix<DenseRows<float>>;
extern template class RowMatrix<DenseRows<double>>;
extern template class RowMatrix<CsrRows<float, std::int32_t>>;
extern template class RowMatrix<CsrRows<double, std::int32_t>>;
extern template class RowMatrix<CsrRows<double, std::int64_t>>;

}  // namespace cutplane
