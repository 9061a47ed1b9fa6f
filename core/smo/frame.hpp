// Where examples lie in single precision: moved to their centre where the kernel does not change by
// it, and scaled by a power of two so that the largest value is about 1. Both are undone exactly in
// the parameters of the kernel (scaled_function), so kernel values do not depend on the units of X.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane::smo {

// Where values lie before they are copied, whatever their type: dense with strides in elements, or
// CSR. Rows are handed out in double precision.
struct View {
  index_t rows, cols, stored;
  const void* values;
  const void *indices = nullptr, *starts = nullptr;  // null unless CSR
  index_t row_stride = 0, col_stride = 0;            // unless CSR
  // Puts the values of row i into `x`, and their columns into `columns` if CSR.
  void (*fetch)(const View& view, index_t i, std::vector<double>& x,
                std::vector<index_t>& columns) = nullptr;

  bool is_csr() const { return starts != nullptr; }

  // visit(i, n, columns, values) of some rows; columns: null for all.
  template <class Visit>
  void each_row(index_t begin, index_t end, const Visit& visit) const {
    std::vector<double> x;
    std::vector<index_t> columns;
    for (index_t i = begin; i < end; ++i) {
      fetch(*this, i, x, columns);
      visit(i, static_cast<index_t>(x.size()), is_csr() ? columns.data() : nullptr, x.data());
    }
  }
  // visit(i, column, value) of each value of some rows.
  template <class Visit>
  void each(index_t begin, index_t end, const Visit& visit) const {
    each_row(begin, end, [&](index_t i, index_t n, const index_t* columns, const double* x) {
      if (columns != nullptr)
        for (index_t j = 0; j < n; ++j) visit(i, columns[j], x[j]);
      else
        for (index_t j = 0; j < n; ++j) visit(i, j, x[j]);
    });
  }
};

template <class T>
View dense_view(const T* values, index_t rows, index_t cols, index_t row_stride,
                index_t col_stride) {
  View view{rows, cols, rows * cols, values};
  view.row_stride = row_stride;
  view.col_stride = col_stride;
  view.fetch = [](const View& v, index_t i, std::vector<double>& x, std::vector<index_t>&) {
    const T* from = static_cast<const T*>(v.values) + i * v.row_stride;
    x.resize(v.cols);
    double* to = x.data();
    if (v.col_stride == 1)  // a loop of vectors
      for (index_t k = 0; k < v.cols; ++k) to[k] = static_cast<double>(from[k]);
    else
      for (index_t k = 0; k < v.cols; ++k) to[k] = static_cast<double>(from[k * v.col_stride]);
  };
  return view;
}

template <class T, class I>
View csr_view(const T* values, const I* indices, const I* starts, index_t rows, index_t cols) {
  View view{rows, cols, static_cast<index_t>(starts[rows] - starts[0]), values, indices, starts};
  view.fetch = [](const View& v, index_t i, std::vector<double>& x, std::vector<index_t>& columns) {
    const auto* ends = static_cast<const I*>(v.starts) + i;
    const auto* from = static_cast<const T*>(v.values);
    const auto* at = static_cast<const I*>(v.indices);
    x.assign(from + ends[0], from + ends[1]);
    columns.assign(at + ends[0], at + ends[1]);
  };
  return view;
}

struct Frame {
  int exponent = 0;  // an example x is stored as (x - centre) 2^-exponent
  double outer = 1.0, inner = 1.0;
  std::vector<double> center;  // in units of 1 / outer; empty for zero
  double limit = std::numeric_limits<float>::max();

  float place(double x, index_t k) const {
    const double moved = (x * outer - (center.empty() ? 0.0 : center[k])) * inner;
    return static_cast<float>(std::clamp(moved, -limit, limit));
  }
};

}  // namespace cutplane::smo
