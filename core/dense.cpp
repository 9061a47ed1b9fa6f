#include "core/columns.hpp"
#include "core/lanes.hpp"
#include "core/row_passes.hpp"

namespace cutplane {
namespace {

constexpr index_t kBytesAhead = 8192;

template <class T>
struct DenseRows {
  const T* values;
  index_t stride;
  index_t n, d;
  const std::int64_t* chosen;

  static constexpr index_t kPerLine = 64 / sizeof(T);  // values of a cache line

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  index_t entries() const { return n * d; }

  CUTPLANE_INLINE void prefetch(index_t i) const {
    const char* row = reinterpret_cast<const char*>(values + i * stride);
    __builtin_prefetch(row);
    __builtin_prefetch(row + 64);
  }

  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    const T* row = values + i * stride;
    if (d < kLanes) {
      double sum = 0;
      for (index_t j = 0; j < d; ++j) sum += static_cast<double>(row[j]) * w[j];
      return sum;
    }
    Lanes sum{}, x, weights;
    for (index_t j = 0; j + kLanes <= d; j += kLanes) {
      widen(row + j, x), widen(w + j, weights);
      sum += x * weights;
    }
    if (d % kLanes) {
      const LastLanes last(d);
      widen(row + last.start, x), last.load(w, weights);
      sum += x * weights;
    }
    return sum_lanes(sum);
  }

  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    const T* row = values + i * stride;
#pragma omp simd
    for (index_t j = 0; j < d; ++j) sum[j] += static_cast<S>(coef * static_cast<double>(row[j]));
  }

  CUTPLANE_INLINE bool in_fours() const { return d >= kLanes; }

  // Four streams are too short for the processor to foresee: so many rows before its turn, a row is
  // asked for by hand. A multiple of four.
  CUTPLANE_INLINE index_t rows_ahead() const {
    const index_t bytes = d * static_cast<index_t>(sizeof(T));
    return std::clamp<index_t>(kBytesAhead / std::max<index_t>(bytes, 1) / 4 * 4, 4, kMostAhead);
  }

  struct Four {
    const T *r0, *r1, *r2, *r3;
    CUTPLANE_INLINE Four(const DenseRows& rows, const index_t* at)
        : r0(rows.values + at[0] * rows.stride),
          r1(rows.values + at[1] * rows.stride),
          r2(rows.values + at[2] * rows.stride),
          r3(rows.values + at[3] * rows.stride) {}
    CUTPLANE_INLINE void load(index_t j, Lanes& x0, Lanes& x1, Lanes& x2, Lanes& x3) const {
      widen(r0 + j, x0), widen(r1 + j, x1), widen(r2 + j, x2), widen(r3 + j, x3);
    }
    CUTPLANE_INLINE void prefetch_lines(index_t j) const {
      if (j % kPerLine) return;
      __builtin_prefetch(r0 + j), __builtin_prefetch(r1 + j);
      __builtin_prefetch(r2 + j), __builtin_prefetch(r3 + j);
    }
  };

  // Four rows at a time: four sums in flight hide the latency of the additions, and w is read once.
  // The rows `later` are asked for.
  CUTPLANE_INLINE void dot_four(const index_t* at_rows, const index_t* later, const double* w,
                                double* out) const {
    const Four x(*this, at_rows), next(*this, later);
    Lanes s0{}, s1{}, s2{}, s3{}, weights;
    const auto add = [&](index_t j) __attribute__((always_inline)) {
      Lanes x0, x1, x2, x3;
      x.load(j, x0, x1, x2, x3);
      s0 += x0 * weights, s1 += x1 * weights, s2 += x2 * weights, s3 += x3 * weights;
    };
    const index_t size = d;
    for (index_t j = 0; j + kLanes <= size; j += kLanes) {
      next.prefetch_lines(j);
      widen(w + j, weights);
      add(j);
    }
    if (size % kLanes) {
      const LastLanes last(size);
      last.load(w, weights);
      add(last.start);
    }
    out[0] = sum_lanes(s0), out[1] = sum_lanes(s1), out[2] = sum_lanes(s2), out[3] = sum_lanes(s3);
  }

  // Four rows at a time: the sum is read and written once for all of them. What goes to the last
  // numbers of the sum is kept apart, in `end`: vectors that overlap would wait for each other.
  CUTPLANE_INLINE void axpy_four(const index_t* at_rows, const index_t* later, const double* coef,
                                 double* sum, Lanes& end) const {
    const Four x(*this, at_rows), next(*this, later);
    const double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
    const auto add = [&](index_t j, Lanes& to) __attribute__((always_inline)) {
      Lanes x0, x1, x2, x3;
      x.load(j, x0, x1, x2, x3);
      to += c0 * x0, to += c1 * x1, to += c2 * x2, to += c3 * x3;
    };
    const index_t size = d;
    for (index_t j = 0; j + kLanes <= size; j += kLanes) {
      next.prefetch_lines(j);
      Lanes to;
      widen(sum + j, to);
      add(j, to);
      *reinterpret_cast<Lanes*>(sum + j) = to;
    }
    if (size % kLanes) add(size - kLanes, end);
  }
  // The same where whole sums stay in registers: a group of eight numbers each, of which the last
  // one overlaps with the one before.
  template <index_t kGroups>
  CUTPLANE_INLINE void axpy_four_short(const index_t* at_rows, const index_t* later,
                                       const double* coef, Lanes (&sums)[kGroups]) const {
    const Four x(*this, at_rows), next(*this, later);
    const double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
    for (index_t g = 0; g < kGroups; ++g) {
      next.prefetch_lines(g * kLanes);
      Lanes x0, x1, x2, x3;
      x.load(g + 1 < kGroups ? g * kLanes : d - kLanes, x0, x1, x2, x3);
      sums[g] += c0 * x0, sums[g] += c1 * x1, sums[g] += c2 * x2, sums[g] += c3 * x3;
    }
  }
  template <index_t kGroups>
  CUTPLANE_INLINE void add_groups(const Lanes (&sums)[kGroups], double* sum) const {
    for (index_t j = 0; j < (kGroups - 1) * kLanes; ++j) sum[j] += sums[j / kLanes][j % kLanes];
    for (index_t j = (kGroups - 1) * kLanes; j < d; ++j)
      sum[j] += sums[kGroups - 1][j - (d - kLanes)];
  }
  CUTPLANE_INLINE void add_end(const Lanes& end, double* sum) const {
    for (index_t l = kLanes - d % kLanes; l < kLanes; ++l) sum[d - kLanes + l] += end[l];
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

  // Rows first to last - 1 of the lower triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    const T* row = values + i * stride;
    for (index_t j = first; j < last; ++j) {
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
