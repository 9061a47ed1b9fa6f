// One score a row and one coefficient a row: the two passes of every iteration, over a block of
// rows.
//
// Dense rows are taken eight at a time, from eight places of the block: the processor foresees
// where each of them goes on, and reads memory faster at several places than at one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

inline constexpr index_t kStreams = 8;

// Rows that are looked at twice: so many entries stay in the second cache.
inline constexpr index_t kEntriesTogether = 1 << 16;
inline constexpr index_t kLeastTogether = 64;
inline index_t rows_together(index_t entries_per_row) {
  return std::clamp<index_t>(kEntriesTogether / std::max<index_t>(entries_per_row, 1),
                             kLeastTogether, kRowsTogether);
}

// Vectors of weights and sums up to this length are copied to where no group of numbers crosses the
// lines of the cache.
inline constexpr index_t kAligned = 1024;

// Rows that can be taken so.
template <class Rows>
concept Octets = requires { typename Rows::Eight; };

// Calls `use` with the beginnings of eight rows, one of each stream, those of the next eight, the
// place of the first row and the distance between two: for all of `count` rows but the last few,
// whose place it returns. row_at(k) is the k-th row.
template <class Rows, class RowAt, class Use>
CUTPLANE_INLINE index_t by_octets(const Rows& rows, index_t count, RowAt row_at, Use use) {
  const index_t length = count / kStreams;
  typename Rows::Eight now, next;
  const auto find = [&](index_t k) CUTPLANE_INLINED {
    eight_times([&](int s)
                    CUTPLANE_INLINED { next.row[s] = rows.begin_of(row_at(s * length + k)); });
  };
  if (length > 0) find(0);
  for (index_t k = 0; k < length; ++k) {
    now = next;
    if (k + 1 < length) find(k + 1);
    use(now, next, k, length);
  }
  return kStreams * length;
}

template <int N, class Rows>
CUTPLANE_INLINE index_t score_octets(const Rows& rows, index_t begin, index_t end, const double* w,
                                     double* out) {
  alignas(64) double aligned[kAligned];
  if (rows.d <= kAligned) w = std::copy_n(w, rows.d, aligned) - rows.d;
  Lanes<N> last;
  load_last<N>(w, rows.d, last);
  const auto row_at = [&](index_t k) CUTPLANE_INLINED { return begin + k; };
  const auto score = [&](const auto& now, const auto& next, index_t k, index_t length)
                         CUTPLANE_INLINED {
                           double scores[kStreams];
                           rows.template dot_eight<N>(now, next, w, last, scores);
                           for (index_t s = 0; s < kStreams; ++s)
                             out[begin + k + s * length] = scores[s];
                         };
  return begin + by_octets(rows, end - begin, row_at, score);
}

// Scores eight rows at a time where the machine does. Returns the first row that is left.
template <class Rows>
index_t score_by_octets(const Rows& rows, index_t begin, index_t end, const double* w,
                        double* out) {
  with_lanes(rows.most_lanes, [&](auto lanes) CUTPLANE_INLINED {
    if (rows.d >= lanes()) begin = score_octets<lanes()>(rows, begin, end, w, out);
  });
  return begin;
}

// So many rows are looked at, and those that have coefficients listed, before they are added.
inline constexpr index_t kListed = 2048;

// Adds the listed rows but the last few, whose place it returns.
template <int N, class Rows>
CUTPLANE_INLINE index_t add_octets(const Rows& rows, const index_t* listed, index_t count,
                                   const double* coef, double* sum) {
  Lanes<N> last{};
  alignas(64) double aligned[kAligned];
  double* to = rows.d <= kAligned ? aligned : sum;
  if (to == aligned) std::fill_n(aligned, rows.d, 0.0);
  const auto row_at = [&](index_t k) CUTPLANE_INLINED { return listed[k]; };
  const auto add = [&](const auto& now, const auto& next, index_t k,
                       index_t length) CUTPLANE_INLINED {
    double weights[kStreams];
    eight_times([&](int s) CUTPLANE_INLINED { weights[s] = coef[listed[k + s * length]]; });
    rows.template axpy_eight<N>(now, next, weights, to, last);
  };
  const index_t rest = by_octets(rows, count, row_at, add);
  if (to == aligned) {
    for (index_t j = 0; j < rows.d; ++j) sum[j] += aligned[j];
  }
  rows.template add_end<N>(last, sum);
  return rest;
}

// Adds listed rows as score_by_octets scores rows, and returns how many.
template <class Rows>
index_t add_by_octets(const Rows& rows, const index_t* listed, index_t count, const double* coef,
                      double* sum) {
  index_t added = 0;
  with_lanes(rows.most_lanes, [&](auto lanes) CUTPLANE_INLINED {
    if (rows.d >= lanes()) added = add_octets<lanes()>(rows, listed, count, coef, sum);
  });
  return added;
}

// Calls `add` with lists of the rows that have coefficients.
template <class Add>
void list_rows(index_t begin, index_t end, const double* coef, const Add& add) {
  index_t listed[kListed];
  for (index_t start = begin; start < end; start += kListed) {
    // Written everywhere and kept where it counts: whether the next row has a coefficient cannot be
    // foreseen.
    index_t count = 0;
    for (index_t i = start; i < std::min(start + kListed, end); ++i) {
      listed[count] = i;
      count += coef[i] != 0.0;
    }
    add(listed, count);
  }
}

template <int N, class Rows>
CUTPLANE_INLINE index_t survey_octets(const Rows& rows, index_t begin, index_t end, double* columns,
                                      double* squares, double& longest) {
  const auto row_at = [&](index_t k) CUTPLANE_INLINED { return begin + k; };
  const auto survey = [&](const auto& now, const auto& next, index_t k, index_t length)
                          CUTPLANE_INLINED {
                            double found[kStreams];
                            rows.template survey_eight<N>(now, next, columns, found);
                            for (index_t s = 0; s < kStreams; ++s) {
                              longest = std::max(longest, found[s]);
                              if (squares) squares[begin + k + s * length] = found[s];
                            }
                          };
  return begin + by_octets(rows, end - begin, row_at, survey);
}

// Surveys rows as score_by_octets scores them; `longest` is the largest square.
template <class Rows>
index_t survey_by_octets(const Rows& rows, index_t begin, index_t end, double* columns,
                         double* squares, double& longest) {
  with_lanes(rows.most_lanes, [&](auto lanes) CUTPLANE_INLINED {
    if (rows.d >= lanes())
      begin = survey_octets<lanes()>(rows, begin, end, columns, squares, longest);
  });
  return begin;
}

}  // namespace cutplane
