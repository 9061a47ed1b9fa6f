// Eight rows at a time of a dense matrix of values of one or two bytes.
//
// Some values at a time become floats in the nearest cache, and are then rows of floats like any
// other (core/matrix/dense_rows.hpp): sums are those of a matrix of floats, to the bit. Of the type
// only core/matrix/narrow.hpp knows, so that a type more costs the compiler next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

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
  index_t stride;  // from one row to the next, in bytes
  index_t n, d;
  const std::int64_t* chosen;
  int most_lanes;  // numbers of a vector

  using Floats = DenseRows<float>;

  // Values of each of eight rows that are widened at a time: whole vectors of every machine.
  static constexpr index_t kTile = 256;

  CUTPLANE_INLINE const std::byte* begin_of(index_t i) const {
    return values + (chosen ? chosen[i] : i) * stride;
  }

  // Where eight rows begin.
  struct Eight {
    const std::byte* row[8];
  };

  // Calls `use` with some columns of eight rows at a time, as floats: their matrix, where the rows
  // of that begin, and the first column. The last of them are at least as many as a vector holds.
  template <class Use>
  CUTPLANE_INLINE void by_tiles(const Eight& x, const Eight& next, const Use& use) const {
    alignas(64) float tile[8 * (kTile + kMostLanes)];
    const index_t bytes = bytes_of(type);
    for (index_t begin = 0, end; begin < d; begin = end) {
      end = d - begin <= kTile + kMostLanes ? d : begin + kTile;
      const index_t width = end - begin;
      Eight from;
      typename Floats::Eight to;
      eight_times([&](int r) CUTPLANE_INLINED {
        from.row[r] = x.row[r] + begin * bytes;
        to.row[r] = tile + r * (kTile + kMostLanes);
      });
      prefetch_lines(next, begin * bytes, end * bytes);
      widen(type, from.row, 8, width, 1, tile, kTile + kMostLanes);
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
  CUTPLANE_INLINE bool in_registers() const { return d >= neon::kEight; }
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
      with_type<x86::Types>(type, [&](auto known) CUTPLANE_INLINED {
        using T = decltype(known);
        const DenseRows<T> rows{
            reinterpret_cast<const T*>(values), stride, n, d, chosen, most_lanes};
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
};

}  // namespace cutplane
