#include "core/columns.hpp"
#include "core/row_passes.hpp"

namespace cutplane {
namespace {

// Bytes of a row's values and of its indices that are fetched early, and where rows have more
// entries than kLong: the hardware is slow to see where such a row goes on.
constexpr index_t kStart = 192, kMore = 640, kLong = 112;

template <class T, class I>
struct CsrRows {
  const T* values;
  const I* indices;
  const I* indptr;
  index_t n, d;
  const std::int64_t* chosen;
  index_t fetched = kStart;

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }

  index_t entries() const {
    if (!chosen) return static_cast<index_t>(indptr[n] - indptr[0]);
    index_t sum = 0;
    for (index_t i = 0; i < n; ++i) sum += indptr[chosen[i] + 1] - indptr[chosen[i]];
    return sum;
  }

  CUTPLANE_INLINE void prefetch(index_t i) const {
    const char* value = reinterpret_cast<const char*>(values + indptr[i]);
    const char* index = reinterpret_cast<const char*>(indices + indptr[i]);
    for (index_t at = 0; at < fetched; at += 64) {
      __builtin_prefetch(value + at);
      __builtin_prefetch(index + at);
    }
  }

  // Four sums hide the latency of the addition; rows are too short for gathers to pay.
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    index_t k = indptr[i];
    const index_t end = indptr[i + 1];
    double a = 0, b = 0, c = 0, e = 0;
    for (; k + 4 <= end; k += 4) {
      a += static_cast<double>(values[k]) * w[indices[k]];
      b += static_cast<double>(values[k + 1]) * w[indices[k + 1]];
      c += static_cast<double>(values[k + 2]) * w[indices[k + 2]];
      e += static_cast<double>(values[k + 3]) * w[indices[k + 3]];
    }
    for (; k < end; ++k) a += static_cast<double>(values[k]) * w[indices[k]];
    return (a + b) + (c + e);
  }

  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    for (index_t k = indptr[i]; k < indptr[i + 1]; ++k)
      sum[indices[k]] += static_cast<S>(coef * static_cast<double>(values[k]));
  }

  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      const index_t end = indptr[i + 1];
      for (index_t k = indptr[i]; k < end; ++k)
        body(static_cast<double>(values[k]), static_cast<index_t>(indices[k]));
    };
  }
  // The same with two functions in turn.
  CUTPLANE_INLINE auto each_in_turn(index_t i) const {
    return [this, i](auto&& one, auto&& other) __attribute__((always_inline)) {
      const index_t end = indptr[i + 1];
      index_t k = indptr[i];
      for (; k + 2 <= end; k += 2) {
        one(static_cast<double>(values[k]), static_cast<index_t>(indices[k]));
        other(static_cast<double>(values[k + 1]), static_cast<index_t>(indices[k + 1]));
      }
      if (k < end) one(static_cast<double>(values[k]), static_cast<index_t>(indices[k]));
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

  // Rows first to last - 1 of the lower triangle. Indices are sorted within a row
  // (estimators/validation.py sees to it): m <= k is the lower triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    index_t k = std::lower_bound(indices + indptr[i], indices + indptr[i + 1], first) - indices;
    for (; k < indptr[i + 1] && indices[k] < last; ++k) {
      const double scaled = weight * static_cast<double>(values[k]);
      double* row = sum + static_cast<index_t>(indices[k]) * d;
      for (index_t m = indptr[i]; m <= k; ++m)
        row[indices[m]] += scaled * static_cast<double>(values[m]);
    }
  }

  CUTPLANE_INLINE double squared_norm(index_t i) const {
    const index_t end = indptr[i + 1];
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t k = indptr[i]; k < end; ++k)
      sum += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    return sum;
  }

  bool finite(index_t i) const {
    for (index_t k = indptr[i]; k < indptr[i + 1]; ++k)
      if (!std::isfinite(values[k])) return false;
    return true;
  }
};

}  // namespace

template <class T, class I>
std::unique_ptr<Matrix> make_csr(const T* values, const I* indices, const I* indptr, index_t n_rows,
                                 index_t n_cols, const std::int64_t* rows) {
  using Rows = CsrRows<T, I>;
  Rows all{values, indices, indptr, n_rows, n_cols, rows};
  if (all.entries() > kLong * n_rows) all.fetched = kMore;
  return std::make_unique<RowMatrix<Rows>>(all);
}

template std::unique_ptr<Matrix> make_csr(const float*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*);
template std::unique_ptr<Matrix> make_csr(const float*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*);

}  // namespace cutplane
