// Rows of a dense matrix whose columns are contiguous.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/base/multiversion.hpp"
#include "core/matrix/columns.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

template <class T>
struct StridedRows {
  const T* values;
  index_t stride;  // between columns
  index_t n, d;
  const std::int64_t* chosen;

  // For algorithms that go from row to row: a row is copied together before it is used.
  DenseRows<T> as_any() const { return {values, 0, n, d, chosen, kMostLanes, &fetch_row, this}; }
  static const T* fetch_row(const void* source, index_t i, T* near) {
    const auto& rows = *static_cast<const StridedRows*>(source);
    T* to = room_for(rows.d, near);
    for (index_t j = 0; j < rows.d; ++j) to[j] = rows.values[i + j * rows.stride];
    return to;
  }

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  index_t entries() const { return n * d; }
  CUTPLANE_INLINE index_t size(index_t) const { return d; }

  // Values `begin` to `end` - 1 of a column, where they lie.
  CUTPLANE_INLINE const T* column(index_t j, index_t begin, index_t, const float*) const {
    return values + j * stride + begin;
  }

  // A row of a pass is one like any other.
  CUTPLANE_INLINE void prefetch_start(index_t) const {}
  CUTPLANE_INLINE double dot_in_order(index_t i, const double* w) const { return dot(i, w); }
  CUTPLANE_INLINE void axpy_in_order(index_t i, double coef, double* sum) const {
    axpy(i, coef, sum);
  }
  CUTPLANE_INLINE void prefetch(index_t) const {}  // a row is spread over as many lines as columns
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    double sum = 0;
    for (index_t j = 0; j < d; ++j) sum += static_cast<double>(values[i + j * stride]) * w[j];
    return sum;
  }
  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    for (index_t j = 0; j < d; ++j)
      sum[j] += static_cast<S>(coef * static_cast<double>(values[i + j * stride]));
  }
  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      for (index_t j = 0; j < d; ++j) body(static_cast<double>(values[i + j * stride]), j);
    };
  }
  // |x_i|^2; columns become the largest sizes so far.
  CUTPLANE_INLINE double survey(index_t i, double* columns) const {
    double square = 0;
    each(i)([&](double value, index_t j) __attribute__((always_inline)) {
      const double size = std::abs(value);
      square += size * size;
      columns[j] = columns[j] > size ? columns[j] : size;
    });
    return square;
  }

  // The same with two functions in turn.
  CUTPLANE_INLINE auto each_in_turn(index_t i) const {
    return [this, i](auto&& one, auto&& other) __attribute__((always_inline)) {
      index_t j = 0;
      for (; j + 2 <= d; j += 2) {
        one(static_cast<double>(values[i + j * stride]), j);
        other(static_cast<double>(values[i + (j + 1) * stride]), j + 1);
      }
      if (j < d) one(static_cast<double>(values[i + j * stride]), j);
    };
  }
  CUTPLANE_INLINE void dot_many(index_t i, const double* w, index_t m, double* out) const {
    dot_all_columns(each_in_turn(i), w, m, out);
  }
  CUTPLANE_INLINE void dot_few(index_t i, const std::int16_t* at_columns, index_t count, index_t m,
                               const double* w, double* out) const {
    dot_few_columns(each(i), at_columns, count, w, m, out);
  }
  CUTPLANE_INLINE void axpy_many(index_t i, const double* coef, index_t m, double* sum) const {
    add_all_columns(each(i), coef, m, sum);
  }
  // sum (d x m) += x_i times the coefficients of a few columns.
  CUTPLANE_INLINE void axpy_few(index_t i, const std::int32_t* at_columns, const double* coef,
                                index_t count, index_t m, double* sum) const {
    add_few_columns(each(i), at_columns, coef, count, m, sum);
  }

  // Rows first to last - 1 of the lower triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    for (index_t j = first; j < last; ++j) {
      const double scaled = weight * static_cast<double>(values[i + j * stride]);
      if (scaled == 0.0) continue;
      for (index_t k = 0; k <= j; ++k)
        sum[j * d + k] += scaled * static_cast<double>(values[i + k * stride]);
    }
  }
  CUTPLANE_INLINE double squared_norm(index_t i) const {
    double sum = 0;
    for (index_t j = 0; j < d; ++j) {
      const double value = values[i + j * stride];
      sum += value * value;
    }
    return sum;
  }
  CUTPLANE_INLINE bool usable(index_t i) const {
    for (index_t j = 0; j < d; ++j)
      if (unusable(values[i + j * stride]) != 0) return false;
    return true;
  }
};

}  // namespace cutplane
