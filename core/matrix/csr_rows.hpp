// Rows of a CSR matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/matrix/columns.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// From this many entries on, passes find little of them in the nearer caches.
inline constexpr index_t kFar = 1 << 20;

inline constexpr int kGroup = kCommonLanes;

// Bytes of a row's values and of its indices that are fetched early, and where rows have more
// entries than kLong: the hardware is slow to see where such a row goes on.
inline constexpr index_t kStart = 192, kMore = 640, kLong = 112;

template <class T, class I>
struct CsrRows {
  const T* values;
  const I* indices;
  const I* indptr;
  index_t n, d;
  const std::int64_t* chosen;
  index_t stored;               // entries of the arrays, of which `chosen` may leave some out
  bool sorted;                  // the indices within every row
  index_t prefetched = kStart;  // bytes of a row
  // Values that are floats, where indices are wide and `values` null: too rare for a type.
  const float* singles = nullptr;

  CUTPLANE_INLINE double value(index_t k) const {
    if constexpr (sizeof(I) == sizeof(std::int64_t)) {
      if (singles) return static_cast<double>(singles[k]);
    }
    return static_cast<double>(values[k]);
  }

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }

  index_t entries() const {
    if (!chosen) return static_cast<index_t>(indptr[n] - indptr[0]);
    index_t sum = 0;
    for (index_t i = 0; i < n; ++i) sum += indptr[chosen[i] + 1] - indptr[chosen[i]];
    return sum;
  }

  CUTPLANE_INLINE index_t size(index_t i) const {
    return static_cast<index_t>(indptr[i + 1] - indptr[i]);
  }

  // For passes in order.
  CUTPLANE_INLINE void prefetch_start(index_t i) const {
    if (stored < kFar) return;
    __builtin_prefetch(values + indptr[i]);
    __builtin_prefetch(indices + indptr[i]);
  }
  CUTPLANE_INLINE void prefetch(index_t i) const {
    const char* value = reinterpret_cast<const char*>(values + indptr[i]);
    if constexpr (sizeof(I) == sizeof(std::int64_t)) {
      if (singles) value = reinterpret_cast<const char*>(singles + indptr[i]);
    }
    const char* index = reinterpret_cast<const char*>(indices + indptr[i]);
    for (index_t at = 0; at < prefetched; at += 64) {
      __builtin_prefetch(value + at);
      __builtin_prefetch(index + at);
    }
  }

  // Entries in groups. In passes the last of them is filled up with entries behind the row, weighed
  // zero: how many entries a row has cannot be foreseen, how many groups mostly can. Rows at the
  // very end have nothing behind them. Where one row waits for the other, that takes longer.
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    Lanes<kGroup> sum{};
    index_t k = indptr[i];
    const index_t end = indptr[i + 1];
    for (; k + kGroup <= end; k += kGroup) add_group(k, kGroup, w, sum);
    double rest = 0;
    for (; k < end; ++k) rest += value(k) * w[indices[k]];
    return sum_group(sum) + rest;
  }
  CUTPLANE_INLINE double dot_in_order(index_t i, const double* w) const {
    index_t k = indptr[i];
    const index_t end = indptr[i + 1];
    if (!fillable(end)) return dot(i, w);
    Lanes<kGroup> sum{};
    for (; k + kGroup < end; k += kGroup) add_group(k, kGroup, w, sum);
    add_group(k, end - k, w, sum);
    return sum_group(sum);
  }

  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    // Products first, four at a time: an addition waits for the one before it, as both may be to
    // the same entry for all that the processor knows.
    index_t k = indptr[i];
    const index_t end = indptr[i + 1];
    for (; k + 4 <= end; k += 4) {
      const auto product = [&](index_t m)
                               CUTPLANE_INLINED { return static_cast<S>(coef * value(m)); };
      const S first = product(k), second = product(k + 1), third = product(k + 2),
              fourth = product(k + 3);
      sum[indices[k]] += first;
      sum[indices[k + 1]] += second;
      sum[indices[k + 2]] += third;
      sum[indices[k + 3]] += fourth;
    }
    for (; k < end; ++k) sum[indices[k]] += static_cast<S>(coef * value(k));
  }
  CUTPLANE_INLINE void axpy_in_order(index_t i, double coef, double* sum) const {
    index_t k = indptr[i];
    const index_t end = indptr[i + 1];
    if (!fillable(end)) return axpy(i, coef, sum);
    const auto add = [&](index_t count) CUTPLANE_INLINED {
      Lanes<kGroup> x;
      load_some(k, count, x);
      x *= coef;
      each_lane([&](auto l) CUTPLANE_INLINED { sum[indices[k + l()]] += x[l()]; });
    };
    for (; k + kGroup < end; k += kGroup) add(kGroup);
    add(end - k);
  }

  // The lanes of a group, written out: compilers keep a vector in memory whose lanes a loop counts.
  template <class Body>
  CUTPLANE_INLINE static void each_lane(const Body& body) {
    [&]<int... L>(std::integer_sequence<int, L...>) CUTPLANE_INLINED {
      (body(LaneCount<L>{}), ...);
    }(std::make_integer_sequence<int, kGroup>{});
  }
  CUTPLANE_INLINE bool fillable(index_t end) const { return end + kGroup <= stored; }
  // `count` of the values from the k-th on; the others are zero.
  CUTPLANE_INLINE void load_some(index_t k, index_t count, Lanes<kGroup>& out) const {
    if (sizeof(I) == sizeof(std::int64_t) && singles) {
      load<kGroup>(singles + k, out);
    } else {
      load<kGroup>(values + k, out);
    }
    if (__builtin_constant_p(count == kGroup) && count == kGroup) return;
    typename LanesOf<kGroup>::mask place;
    each_lane([&](auto l) CUTPLANE_INLINED { place[l()] = l(); });
    out = place < count ? out : Lanes<kGroup>{};
  }
  CUTPLANE_INLINE void add_group(index_t k, index_t count, const double* w,
                                 Lanes<kGroup>& sum) const {
    Lanes<kGroup> x, weights{};
    load_some(k, count, x);
    each_lane([&](auto l) CUTPLANE_INLINED { weights[l()] = w[indices[k + l()]]; });
    sum += x * weights;
  }
  CUTPLANE_INLINE static double sum_group(const Lanes<kGroup>& sum) {
    if constexpr (kGroup == 2) return sum[0] + sum[1];
    return (sum[0] + sum[1]) + (sum[kGroup - 2] + sum[kGroup - 1]);
  }

  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      const index_t end = indptr[i + 1];
      for (index_t k = indptr[i]; k < end; ++k) body(value(k), static_cast<index_t>(indices[k]));
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
      const index_t end = indptr[i + 1];
      index_t k = indptr[i];
      for (; k + 2 <= end; k += 2) {
        one(value(k), static_cast<index_t>(indices[k]));
        other(value(k + 1), static_cast<index_t>(indices[k + 1]));
      }
      if (k < end) one(value(k), static_cast<index_t>(indices[k]));
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

  // Rows first to last - 1 of the lower triangle. Where indices are sorted, m <= k is the lower
  // triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    if (!sorted) return outer_of_unsorted(i, weight, first, last, sum);
    index_t k = std::lower_bound(indices + indptr[i], indices + indptr[i + 1], first) - indices;
    for (; k < indptr[i + 1] && indices[k] < last; ++k) {
      const double scaled = weight * value(k);
      double* row = sum + static_cast<index_t>(indices[k]) * d;
      for (index_t m = indptr[i]; m <= k; ++m) row[indices[m]] += scaled * value(m);
    }
  }

  void outer_of_unsorted(index_t i, double weight, index_t first, index_t last, double* sum) const {
    for (index_t k = indptr[i]; k < indptr[i + 1]; ++k) {
      const I column = indices[k];
      if (column < first || column >= last) continue;
      const double scaled = weight * value(k);
      double* row = sum + static_cast<index_t>(column) * d;
      for (index_t m = indptr[i]; m < indptr[i + 1]; ++m)
        if (indices[m] <= column) row[indices[m]] += scaled * value(m);
    }
  }

  CUTPLANE_INLINE double squared_norm(index_t i) const {
    if constexpr (sizeof(I) == sizeof(std::int64_t)) {
      if (singles) return sum_of_squares(singles, i);
    }
    return sum_of_squares(values, i);
  }
  template <class V>
  CUTPLANE_INLINE double sum_of_squares(const V* from, index_t i) const {
    const index_t end = indptr[i + 1];
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t k = indptr[i]; k < end; ++k)
      sum += static_cast<double>(from[k]) * static_cast<double>(from[k]);
    return sum;
  }

  CUTPLANE_INLINE bool usable(index_t i) const {
    for (index_t k = indptr[i]; k < indptr[i + 1]; ++k)
      if (unusable(value(k)) != 0) return false;
    return true;
  }
};

}  // namespace cutplane
