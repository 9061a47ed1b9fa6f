// One score a row and one coefficient a row: the two passes of every iteration, over a block of
// rows.
#pragma once

#include <algorithm>
#include <array>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "core/parallel.hpp"

namespace cutplane {

// A row is asked for at most so many rows before its turn.
inline constexpr index_t kMostAhead = 64;

// Rows that can be taken four at a time: dense ones.
template <class Rows>
concept Quartets =
    requires(const Rows& rows, const index_t* at, const double* in, double* out, Lanes& end) {
      rows.in_fours();
      rows.rows_ahead();
      rows.dot_four(at, at, in, out);
      rows.axpy_four(at, at, in, out, end);
      rows.add_end(end, out);
    };

template <class Rows>
CUTPLANE_MULTIVERSION void score_rows(const Rows& rows, index_t begin, index_t end, const double* w,
                                      double* out) {
  index_t i = begin;
  if constexpr (Quartets<Rows>) {
    if (rows.in_fours()) {
      const auto four = [&](index_t from) __attribute__((always_inline)) {
        return std::array{rows.at(from), rows.at(from + 1), rows.at(from + 2), rows.at(from + 3)};
      };
      const index_t ahead = rows.rows_ahead();
      for (; i + 4 <= end; i += 4) {
        const index_t later = i + ahead + 4 <= end ? i + ahead : i;
        rows.dot_four(four(i).data(), four(later).data(), w, out + i);
      }
    }
  }
  for (; i < end; ++i) out[i] = rows.dot(rows.at(i), w);
}

// The rows of a block that have coefficients, in order: a list written everywhere and kept where it
// counts, for whether the next row has one cannot be foreseen.
class ActiveRows {
 public:
  ActiveRows(index_t begin, index_t end) : next_(begin), end_(end) {}

  // Looks at more rows, behind those from `used` on, which stay. False: there are no more.
  CUTPLANE_INLINE bool extend(const double* coef, index_t used) {
    std::copy(rows_.begin() + used, rows_.begin() + count_, rows_.begin());
    count_ -= used;
    const index_t stop = std::min(next_ + kStretch, end_);
    index_t count = count_;
    for (index_t i = next_; i < stop; ++i) {
      rows_[count] = i;
      count += coef[i] != 0.0;
    }
    count_ = count;
    next_ = stop;
    return next_ < end_;
  }
  CUTPLANE_INLINE index_t count() const { return count_; }
  CUTPLANE_INLINE index_t operator[](index_t k) const { return rows_[k]; }

 private:
  static constexpr index_t kStretch = 512;
  index_t next_, end_, count_ = 0;
  std::array<index_t, kStretch + kMostAhead + 4> rows_;
};

template <class Rows>
CUTPLANE_MULTIVERSION void add_rows(const Rows& rows, index_t begin, index_t end,
                                    const double* coef, double* sum) {
  ActiveRows active(begin, end);
  index_t k = 0;
  if constexpr (Quartets<Rows>) {
    if (rows.in_fours()) {
      Lanes last{};
      const auto four = [&](index_t from) __attribute__((always_inline)) {
        return std::array{rows.at(active[from]), rows.at(active[from + 1]),
                          rows.at(active[from + 2]), rows.at(active[from + 3])};
      };
      const auto add_four = [&](index_t from, index_t later) __attribute__((always_inline)) {
        const double weights[4] = {coef[active[from]], coef[active[from + 1]],
                                   coef[active[from + 2]], coef[active[from + 3]]};
        rows.axpy_four(four(from).data(), four(later).data(), weights, sum, last);
      };
      const index_t ahead = rows.rows_ahead();
      for (bool more = true; more;) {
        more = active.extend(coef, k);
        // Some rows wait until those to ask for before their turn are known.
        for (k = 0; k + 4 + ahead <= active.count(); k += 4) add_four(k, k + ahead);
      }
      for (; k + 4 <= active.count(); k += 4) add_four(k, k);
      rows.add_end(last, sum);
      for (; k < active.count(); ++k) rows.axpy(rows.at(active[k]), coef[active[k]], sum);
      return;
    }
  }
  for (bool more = true; more;) {
    more = active.extend(coef, k);
    for (k = 0; k < active.count(); ++k) rows.axpy(rows.at(active[k]), coef[active[k]], sum);
  }
}

}  // namespace cutplane
