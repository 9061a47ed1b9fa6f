#include "core/columns.hpp"
#include "core/row_passes.hpp"

namespace cutplane {
namespace {

constexpr index_t kCacheLine = 64;
constexpr index_t kBytesAhead = 8192;
constexpr index_t kMostSkipped = 300;  // values

template <class T>
struct DenseRows {
  const T* values;
  index_t stride;
  index_t n, d;
  const std::int64_t* chosen;

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  index_t entries() const { return n * d; }

  CUTPLANE_INLINE void prefetch(index_t i) const {
    const char* row = reinterpret_cast<const char*>(values + i * stride);
    __builtin_prefetch(row);
    __builtin_prefetch(row + 64);
  }

  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    const T* row = values + i * stride;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < d; ++j) sum += static_cast<double>(row[j]) * w[j];
    return sum;
  }

  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    const T* row = values + i * stride;
#pragma omp simd
    for (index_t j = 0; j < d; ++j) sum[j] += static_cast<S>(coef * static_cast<double>(row[j]));
  }

  // Rows are read one after the other, but four streams of a few kilobytes each are too short for
  // the processor to foresee: what comes after the next rows is asked for by hand.
  // Not where many rows between the four were skipped: theirs would be fetched for nothing.
  CUTPLANE_INLINE void prefetch_after_four(index_t i, index_t skipped) const {
    if (chosen || skipped * d > kMostSkipped) return;
    const char* row = reinterpret_cast<const char*>(values + i * stride) + kBytesAhead;
    const index_t bytes = 4 * stride * static_cast<index_t>(sizeof(T));
    for (index_t b = 0; b < bytes; b += kCacheLine) __builtin_prefetch(row + b);
  }

  // Four rows at a time: four sums in flight hide the latency of the additions, and w is read once.
  CUTPLANE_INLINE void dot_four(const index_t* at_rows, const double* w, double* out) const {
    const T* __restrict r0 = values + at_rows[0] * stride;
    const T* __restrict r1 = values + at_rows[1] * stride;
    const T* __restrict r2 = values + at_rows[2] * stride;
    const T* __restrict r3 = values + at_rows[3] * stride;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (index_t j = 0; j < d; ++j) {
      const double weight = w[j];
      s0 += static_cast<double>(r0[j]) * weight;
      s1 += static_cast<double>(r1[j]) * weight;
      s2 += static_cast<double>(r2[j]) * weight;
      s3 += static_cast<double>(r3[j]) * weight;
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
  }

  // Four rows at a time: the sum is read and written once for all of them.
  CUTPLANE_INLINE void axpy_four(const index_t* at_rows, const double* coef,
                                 double* __restrict sum) const {
    const T* __restrict r0 = values + at_rows[0] * stride;
    const T* __restrict r1 = values + at_rows[1] * stride;
    const T* __restrict r2 = values + at_rows[2] * stride;
    const T* __restrict r3 = values + at_rows[3] * stride;
    const double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
#pragma omp simd
    for (index_t j = 0; j < d; ++j) {
      sum[j] += (c0 * static_cast<double>(r0[j]) + c1 * static_cast<double>(r1[j])) +
                (c2 * static_cast<double>(r2[j]) + c3 * static_cast<double>(r3[j]));
    }
  }

  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [row = values + i * stride, this](auto&& body) __attribute__((always_inline)) {
      for (index_t j = 0; j < d; ++j) body(static_cast<double>(row[j]), j);
    };
  }
  // The same with two functions in turn.
  CUTPLANE_INLINE auto each_in_turn(index_t i) const {
    return [row = values + i * stride, this](auto&& one, auto&& other)
               __attribute__((always_inline)) {
                 index_t j = 0;
                 for (; j + 2 <= d; j += 2) {
                   one(static_cast<double>(row[j]), j);
                   other(static_cast<double>(row[j + 1]), j + 1);
                 }
                 if (j < d) one(static_cast<double>(row[j]), j);
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

  CUTPLANE_INLINE void outer(index_t i, double weight, double* sum) const {
    const T* row = values + i * stride;
    for (index_t j = 0; j < d; ++j) {
      const double scaled = weight * static_cast<double>(row[j]);
      if (scaled == 0.0) continue;
      double* target = sum + j * d;
#pragma omp simd
      for (index_t k = 0; k <= j; ++k) target[k] += scaled * static_cast<double>(row[k]);
    }
  }

  CUTPLANE_INLINE double squared_norm(index_t i) const {
    const T* row = values + i * stride;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < d; ++j)
      sum += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    return sum;
  }

  bool finite(index_t i) const {
    // x - x is zero for every finite x: sums without a branch.
    const T* row = values + i * stride;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < d; ++j) sum += row[j] - row[j];
    return sum == 0;
  }
};

}  // namespace

template <class T>
std::unique_ptr<Matrix> make_dense(const T* values, index_t n_rows, index_t n_cols,
                                   index_t row_stride, const std::int64_t* rows) {
  using Rows = DenseRows<T>;
  return std::make_unique<RowMatrix<Rows>>(Rows{values, row_stride, n_rows, n_cols, rows});
}

template std::unique_ptr<Matrix> make_dense(const float*, index_t, index_t, index_t,
                                            const std::int64_t*);
template std::unique_ptr<Matrix> make_dense(const double*, index_t, index_t, index_t,
                                            const std::int64_t*);

}  // namespace cutplane
