// A dense copy of few examples, with the columns of an intercept: every pass of an interior point.
//
// Rows are padded with zeros to whole cache lines, so that loops have no ends to look after. Every
// sum has a fixed order: results are the same to the bit for any number of threads.
#pragma once

#include <vector>

#include "core/matrix/matrix.hpp"

namespace cutplane {

class WideRows {
 public:
  // The rows of the matrix, each followed by the numbers `more`.
  WideRows(const Matrix& matrix, const std::vector<double>& more);

  index_t rows() const { return rows_; }
  // Columns, without and with the padding.
  index_t width() const { return width_; }
  index_t stride() const { return stride_; }

  // out[i] = <x_i, v>; v has stride() numbers.
  void scores(const double* v, double* out) const;
  // out (stride()) = sum over i of coef[i] x_i
  void combine(const double* coef, double* out) const;
  // out (stride() x stride(), lower triangle) = sum over i of weights[i] x_i x_i'
  void gram(const double* weights, double* out, int n_threads) const;

 private:
  index_t rows_, width_, stride_;
  std::vector<double> values_;
};

}  // namespace cutplane
