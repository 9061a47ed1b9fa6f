// Rows of a dense matrix, each of them contiguous: where they lie, or fetched into a buffer.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/matrix/columns.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// Room for a row that is fetched: next to its user where it is short, else in a buffer of the
// thread, which holds one row.
inline constexpr index_t kNear = 512;
template <class T>
using Near = T[kNear];

template <class T>
T* room_for(index_t count, T* near) {
  if (count <= kNear) return near;
  thread_local std::vector<T> buffer;
  if (std::ssize(buffer) < count) buffer.resize(count);
  return buffer.data();
}

template <class T>
struct DenseRows {
  const T* values;
  index_t stride;  // from one row to the next, in bytes
  index_t n, d;
  const std::int64_t* chosen;
  int most_lanes;  // numbers of a vector, where eight rows are taken at a time
  // Layouts that are rare: row i of `source`, until the next is fetched. `values` and `stride` then
  // say what is worth a prefetch.
  const T* (*fetch)(const void* source, index_t i, T* near) = nullptr;
  const void* source = nullptr;

  static constexpr index_t kPerLine = 64 / sizeof(T);  // values of a cache line

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  CUTPLANE_INLINE const T* stored_row(index_t i) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(values) + i * stride);
  }
  CUTPLANE_INLINE const T* row_at(index_t i, T* near) const {
    return fetch ? fetch(source, i, near) : stored_row(i);
  }
  index_t entries() const { return n * d; }
  CUTPLANE_INLINE index_t size(index_t) const { return d; }

  // A row of a pass is one like any other.
  CUTPLANE_INLINE void prefetch_start(index_t) const {}
  CUTPLANE_INLINE double dot_in_order(index_t i, const double* w) const { return dot(i, w); }
  CUTPLANE_INLINE void axpy_in_order(index_t i, double coef, double* sum) const {
    axpy(i, coef, sum);
  }
  CUTPLANE_INLINE void prefetch(index_t i) const {
    const char* begin = reinterpret_cast<const char*>(values) + i * stride;
    __builtin_prefetch(begin);
    __builtin_prefetch(begin + 64);
  }

  // One row by itself, in vectors that all of the versions of its callers have.
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    constexpr int N = kCommonLanes;
    Near<T> near;
    const T* row = row_at(i, near);
    Lanes<N> sum{}, other{}, x, weights;
    index_t j = 0;
    for (; j + 2 * N <= d; j += 2 * N) {
      load<N>(row + j, x), load<N>(w + j, weights);
      sum += x * weights;
      load<N>(row + j + N, x), load<N>(w + j + N, weights);
      other += x * weights;
    }
    sum += other;
    double total = sum[0] + sum[1];
    if constexpr (N == 4) total = (total + sum[N - 2]) + sum[N - 1];
    for (; j < d; ++j) total += static_cast<double>(row[j]) * w[j];
    return total;
  }

  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    Near<T> near;
    const T* row = row_at(i, near);
#pragma omp simd
    for (index_t j = 0; j < d; ++j) sum[j] += static_cast<S>(coef * static_cast<double>(row[j]));
  }

  // Where eight rows begin.
  struct Eight {
    const T* row[8];
    CUTPLANE_INLINE void prefetch_lines(index_t j) const {
      if (j % kPerLine) return;
      eight_times([&](int r) CUTPLANE_INLINED { __builtin_prefetch(row[r] + j); });
    }
  };
  CUTPLANE_INLINE const T* begin_of(index_t i) const { return stored_row(at(i)); }

  // Eight rows at a time: eight sums in flight hide the latency of the additions, and w is read
  // once. `last` is load_last of w. The rows `next` are asked for. d >= N, here and below.
  template <int N>
  CUTPLANE_INLINE void dot_eight(const Eight& x, const Eight& next, const double* w,
                                 const Lanes<N>& last, double* out) const {
    Lanes<N> sums[8] = {};
    add_dots<N>(x, next, w, last, sums);
    sum_each(sums, out);
  }
  template <int N>
  CUTPLANE_INLINE void add_dots(const Eight& x, const Eight& next, const double* w,
                                const Lanes<N>& last, Lanes<N> (&sums)[8]) const {
    Lanes<N> weights;
    const auto add = [&](index_t j) __attribute__((always_inline)) {
      eight_times([&](int r) CUTPLANE_INLINED {
        Lanes<N> there;
        load_at_once<N>(x.row[r] + j, there);
        sums[r] += there * weights;
      });
    };
    const index_t size = d;
    for (index_t j = 0; j + N <= size; j += N) {
      next.prefetch_lines(j);
      load<N>(w + j, weights);
      add(j);
    }
    if (size % N) {
      weights = last;
      add(size - N);
    }
  }

  // In two sums: one addition has to wait for the one before.
  template <int N>
  CUTPLANE_INLINE static void add_eight(const Eight& x, index_t j, const double* coef,
                                        Lanes<N>& to) {
    Lanes<N> other{};
    eight_times([&](int r) CUTPLANE_INLINED {
      Lanes<N> there;
      load_at_once<N>(x.row[r] + j, there);
      (r % 2 ? to : other) += coef[r] * there;
    });
    to += other;
  }

  // Eight rows at a time: the sum is read and written once for all of them. What goes to the last
  // numbers of the sum is kept apart, in `end`: vectors that overlap would wait for each other.
  template <int N>
  CUTPLANE_INLINE void axpy_eight(const Eight& x, const Eight& next, const double* coef,
                                  double* sum, Lanes<N>& end) const {
    const index_t size = d;
    for (index_t j = 0; j + N <= size; j += N) {
      next.prefetch_lines(j);
      Lanes<N> to;
      load<N>(sum + j, to);
      add_eight<N>(x, j, coef, to);
      store<N>(to, sum + j);
    }
    if (size % N) add_eight<N>(x, size - N, coef, end);
  }
  template <int N>
  CUTPLANE_INLINE void add_end(const Lanes<N>& end, double* sum) const {
    for (index_t l = N - d % N; l < N; ++l) sum[d - N + l] += end[l];
  }

  // |x_i|^2 of eight rows; columns become the largest sizes so far.
  template <int N>
  CUTPLANE_INLINE void survey_eight(const Eight& x, const Eight& next, double* columns,
                                    double* out) const {
    Lanes<N> sums[8] = {};
    add_survey<N>(x, next, columns, sums);
    sum_each(sums, out);
  }
  template <int N>
  CUTPLANE_INLINE void add_survey(const Eight& x, const Eight& next, double* columns,
                                  Lanes<N> (&sums)[8]) const {
    Lanes<N> sizes, once{};
    no_sign<N>(sizes);
    const index_t size = d;
    for (index_t l = N - size % N; l < N; ++l) once[l] = 1.0;
    const auto look = [&](index_t j, auto add) CUTPLANE_INLINED {
      Lanes<N> most;
      load<N>(columns + j, most);
      eight_times([&](int r) CUTPLANE_INLINED {
        Lanes<N> there;
        load_at_once<N>(x.row[r] + j, there);
        raise<N>(there, sizes, most);
        add(r, there);
      });
      store<N>(most, columns + j);
    };
    for (index_t j = 0; j + N <= size; j += N) {
      next.prefetch_lines(j);
      look(j, [&](int r, const Lanes<N>& there) CUTPLANE_INLINED { sums[r] += there * there; });
    }
    if (size % N) {  // values that were met before count once, and are no larger
      look(size - N, [&](int r, const Lanes<N>& there)
                         CUTPLANE_INLINED { sums[r] += there * (there * once); });
    }
  }

  // |x_i|^2; columns become the largest sizes so far.
  CUTPLANE_INLINE double survey(index_t i, double* columns) const {
    Near<T> near;
    const T* row = row_at(i, near);
    double square = 0;
#pragma omp simd reduction(+ : square)
    for (index_t j = 0; j < d; ++j) {
      const double size = std::abs(static_cast<double>(row[j]));
      square += size * size;
      columns[j] = columns[j] > size ? columns[j] : size;
    }
    return square;
  }

  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      Near<T> near;
      const T* row = row_at(i, near);
      for (index_t j = 0; j < d; ++j) body(static_cast<double>(row[j]), j);
    };
  }
  // The same with two functions in turn.
  CUTPLANE_INLINE auto each_in_turn(index_t i) const {
    return [this, i](auto&& one, auto&& other) __attribute__((always_inline)) {
      Near<T> near;
      const T* row = row_at(i, near);
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
    Near<T> near;
    const T* row = row_at(i, near);
    for (index_t j = first; j < last; ++j) {
      const double scaled = weight * static_cast<double>(row[j]);
      if (scaled == 0.0) continue;
      double* target = sum + j * d;
#pragma omp simd
      for (index_t k = 0; k <= j; ++k) target[k] += scaled * static_cast<double>(row[k]);
    }
  }

  CUTPLANE_INLINE double squared_norm(index_t i) const {
    Near<T> near;
    const T* row = row_at(i, near);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < d; ++j)
      sum += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    return sum;
  }

  CUTPLANE_INLINE bool usable(index_t i) const {
    Near<T> near;
    const T* row = row_at(i, near);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < d; ++j) sum += unusable(row[j]);
    return sum == 0;
  }
};

}  // namespace cutplane
