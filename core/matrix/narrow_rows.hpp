// Rows of a dense matrix of values of one or two bytes, by rows or by columns.
//
// Some values at a time become floats in the nearest cache, and are then rows of floats like any
// other (core/matrix/dense_rows.hpp): sums are those of a matrix of floats, to the bit. Of the type
// only core/matrix/narrow.hpp knows, so that a type more costs the compiler next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/narrow.hpp"
#include "core/matrix/narrow_neon.hpp"
#include "core/matrix/narrow_x86.hpp"

namespace cutplane {

struct NarrowRows {
  const std::byte* values;
  NarrowType type;
  index_t row_stride, column_stride;  // in values
  index_t n, d;
  const std::int64_t* chosen;
  int most_lanes;  // numbers of a vector, where eight rows are taken at a time

  using Floats = DenseRows<float>;

  // Values of each of eight rows that are widened at a time: whole vectors of every machine.
  static constexpr index_t kTile = 256;
  // Of one row, so many lie on the stack.
  static constexpr index_t kShort = 2048;

  // For algorithms that go from row to row: a row is widened before it is used.
  Floats as_any() const {
    const index_t apart = column_stride == 1 ? row_stride * bytes_of(type) : 0;
    return {
        reinterpret_cast<const float*>(values), apart, n, d, chosen, most_lanes, &fetch_row, this};
  }
  static const float* fetch_row(const void* source, index_t i, float* near) {
    const auto& rows = *static_cast<const NarrowRows*>(source);
    float* to = room_for(rows.d, near);
    const std::byte* from = rows.place(i, 0);
    widen(rows.type, &from, 1, rows.d, rows.column_stride, to, 0);
    return to;
  }

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  index_t entries() const { return n * d; }
  CUTPLANE_INLINE index_t size(index_t) const { return d; }
  CUTPLANE_INLINE const std::byte* place(index_t i, index_t j) const {
    return values + (i * row_stride + j * column_stride) * bytes_of(type);
  }

  // A row as floats: its only row is row 0.
  class Widened {
   public:
    Widened(const NarrowRows& rows, index_t i) {
      float* to = near_;
      if (rows.d > kShort) {
        far_ = std::make_unique_for_overwrite<float[]>(rows.d);
        to = far_.get();
      }
      const std::byte* from = rows.place(i, 0);
      widen(rows.type, &from, 1, rows.d, rows.column_stride, to, 0);
      as_floats = {to, 0, 1, rows.d, nullptr, rows.most_lanes};
    }
    Widened(const Widened&) = delete;
    Widened& operator=(const Widened&) = delete;

    Floats as_floats;

   private:
    float near_[kShort];
    std::unique_ptr<float[]> far_;
  };

  // Values `begin` to `end` - 1 of a column, in `out`.
  const float* column(index_t j, index_t begin, index_t end, float* out) const {
    const std::byte* from = place(begin, j);
    widen(type, &from, 1, end - begin, row_stride, out, 0);
    return out;
  }

  CUTPLANE_INLINE void prefetch_start(index_t) const {}
  CUTPLANE_INLINE void prefetch(index_t i) const {
    if (column_stride == 1) __builtin_prefetch(place(i, 0));
  }
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    return Widened(*this, i).as_floats.dot(0, w);
  }
  CUTPLANE_INLINE double dot_in_order(index_t i, const double* w) const { return dot(i, w); }
  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    Widened(*this, i).as_floats.axpy(0, coef, sum);
  }
  CUTPLANE_INLINE void axpy_in_order(index_t i, double coef, double* sum) const {
    axpy(i, coef, sum);
  }

  // Where eight rows begin.
  struct Eight {
    const std::byte* row[8];
  };
  CUTPLANE_INLINE const std::byte* begin_of(index_t i) const { return place(at(i), 0); }

  // Calls `use` with some columns of eight rows at a time, as floats: their matrix, where the rows
  // of that begin, and the first column. The last of them are at least as many as a vector holds.
  template <class Use>
  CUTPLANE_INLINE void by_tiles(const Eight& x, const Eight& next, const Use& use) const {
    alignas(64) float tile[8 * (kTile + kMostLanes)];
    const index_t bytes = column_stride * bytes_of(type);
    for (index_t begin = 0, end; begin < d; begin = end) {
      end = d - begin <= kTile + kMostLanes ? d : begin + kTile;
      const index_t width = end - begin;
      Eight from;
      typename Floats::Eight to;
      eight_times([&](int r) CUTPLANE_INLINED {
        from.row[r] = x.row[r] + begin * bytes;
        to.row[r] = tile + r * (kTile + kMostLanes);
      });
      if (column_stride == 1) prefetch_lines(next, begin * bytes, end * bytes);
      widen(type, from.row, 8, width, column_stride, tile, kTile + kMostLanes);
      use(Floats{tile, 0, 8, width, nullptr, most_lanes}, to, begin);
    }
  }
  CUTPLANE_INLINE static void prefetch_lines(const Eight& next, index_t begin, index_t end) {
    for (index_t at = begin; at < end; at += 64)
      eight_times([&](int r) CUTPLANE_INLINED { __builtin_prefetch(next.row[r] + at); });
  }

  template <int N>
  CUTPLANE_INLINE void dot_eight(const Eight& x, const Eight& next, const double* w,
                                 const Lanes<N>& last, double* out) const {
    Lanes<N> sums[8] = {};
#ifdef __aarch64__
    if (in_registers()) {
      with_type<neon::Types>(type, [&](auto known) CUTPLANE_INLINED {
        neon_rows(known, x, next).add_dots(w, last, sums);
      });
      return sum_each(sums, out);
    }
#endif
    if (in_typed_rows<N>(x, next,
                         [&](const auto& rows, const auto& now, const auto& then) CUTPLANE_INLINED {
                           rows.template dot_eight<N>(now, then, w, last, out);
                         }))
      return;
    by_tiles(x, next,
             [&](const Floats& part, const Floats::Eight& rows, index_t begin) CUTPLANE_INLINED {
               part.template add_dots<N>(rows, rows, w + begin, last, sums);
             });
    sum_each(sums, out);
  }
  template <int N>
  CUTPLANE_INLINE void axpy_eight(const Eight& x, const Eight& next, const double* coef,
                                  double* sum, Lanes<N>& end) const {
#ifdef __aarch64__
    if (in_registers())
      return with_type<neon::Types>(type, [&](auto known) CUTPLANE_INLINED {
        neon_rows(known, x, next).axpy(coef, sum, end);
      });
#endif
    if (in_typed_rows<N>(x, next,
                         [&](const auto& rows, const auto& now, const auto& then) CUTPLANE_INLINED {
                           rows.template axpy_eight<N>(now, then, coef, sum, end);
                         }))
      return;
    by_tiles(x, next,
             [&](const Floats& part, const Floats::Eight& rows, index_t begin) CUTPLANE_INLINED {
               part.template axpy_eight<N>(rows, rows, coef, sum + begin, end);
             });
  }
#ifdef __aarch64__
  CUTPLANE_INLINE bool in_registers() const { return column_stride == 1 && d >= neon::kEight; }
  template <class Type>
  CUTPLANE_INLINE neon::EightRows<Type> neon_rows(Type, const Eight& x, const Eight& next) const {
    return {x.row, next.row, d, bytes_of(type)};
  }
#endif
  // |x_i|^2 of eight rows; columns become the largest sizes so far.
  template <int N>
  CUTPLANE_INLINE void survey_eight(const Eight& x, const Eight& next, double* columns,
                                    double* out) const {
    if (in_typed_rows<N>(x, next,
                         [&](const auto& rows, const auto& now, const auto& then) CUTPLANE_INLINED {
                           rows.template survey_eight<N>(now, then, columns, out);
                         }))
      return;
    Lanes<N> sums[8] = {};
    by_tiles(x, next,
             [&](const Floats& part, const Floats::Eight& rows, index_t begin) CUTPLANE_INLINED {
               part.template add_survey<N>(rows, rows, columns + begin, sums);
             });
    sum_each(sums, out);
  }

  // Calls `use` with the rows as dense rows of their own type, where eight of them begin, and where
  // the next do; false where registers do not convert N values of them.
  template <int N, class Use>
  CUTPLANE_INLINE bool in_typed_rows([[maybe_unused]] const Eight& x,
                                     [[maybe_unused]] const Eight& next,
                                     [[maybe_unused]] const Use& use) const {
#ifdef __x86_64__
    if constexpr (N >= 4) {
      if (column_stride != 1) return false;
      with_type<x86::Types>(type, [&](auto known) CUTPLANE_INLINED {
        using T = decltype(known);
        const DenseRows<T> rows{reinterpret_cast<const T*>(values),
                                row_stride * bytes_of(type),
                                n,
                                d,
                                chosen,
                                most_lanes};
        typename DenseRows<T>::Eight now, then;
        eight_times([&](int r) CUTPLANE_INLINED {
          now.row[r] = reinterpret_cast<const T*>(x.row[r]);
          then.row[r] = reinterpret_cast<const T*>(next.row[r]);
        });
        use(rows, now, then);
      });
      return true;
    }
#endif
    return false;
  }
  template <int N>
  CUTPLANE_INLINE void add_end(const Lanes<N>& end, double* sum) const {
    for (index_t l = N - d % N; l < N; ++l) sum[d - N + l] += end[l];
  }

  // |x_i|^2; columns become the largest sizes so far.
  CUTPLANE_INLINE double survey(index_t i, double* columns) const {
    return Widened(*this, i).as_floats.survey(0, columns);
  }

  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      const Widened row(*this, i);
      row.as_floats.each(0)(body);
    };
  }
  CUTPLANE_INLINE void dot_many(index_t i, const double* w, index_t m, double* out) const {
    Widened(*this, i).as_floats.dot_many(0, w, m, out);
  }
  CUTPLANE_INLINE void dot_few(index_t i, const std::int16_t* at_columns, index_t count, index_t m,
                               const double* w, double* out) const {
    Widened(*this, i).as_floats.dot_few(0, at_columns, count, m, w, out);
  }
  CUTPLANE_INLINE void axpy_many(index_t i, const double* coef, index_t m, double* sum) const {
    Widened(*this, i).as_floats.axpy_many(0, coef, m, sum);
  }
  // sum (d x m) += x_i times the coefficients of a few columns.
  CUTPLANE_INLINE void axpy_few(index_t i, const std::int32_t* at_columns, const double* coef,
                                index_t count, index_t m, double* sum) const {
    Widened(*this, i).as_floats.axpy_few(0, at_columns, coef, count, m, sum);
  }
  // Rows first to last - 1 of the lower triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    Widened(*this, i).as_floats.outer(0, weight, first, last, sum);
  }
  CUTPLANE_INLINE double squared_norm(index_t i) const {
    return Widened(*this, i).as_floats.squared_norm(0);
  }
  CUTPLANE_INLINE bool usable(index_t i) const { return Widened(*this, i).as_floats.usable(0); }
};

}  // namespace cutplane
