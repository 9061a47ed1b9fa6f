// One score a row and one coefficient a row: the two passes of every iteration, over a block of
// rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/lanes.hpp"
#include "core/multiversion.hpp"
#include "core/parallel.hpp"

namespace cutplane {

// A row is asked for at most so many rows before its turn: a multiple of four.
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

// The rows of a block that have coefficients, in order, as far as they are known: a ring that is
// written everywhere and kept where it counts, for whether the next row has one cannot be foreseen.
class ActiveRows {
 public:
  ActiveRows(index_t begin, index_t end) : next_(begin), end_(end) {}

  // Knows `count` of them, or all that are left.
  CUTPLANE_INLINE void know(index_t count, const double* coef) {
    while (known() < count && next_ < end_) {
      const index_t stop = std::min(next_ + kLook, end_);
      index_t last = last_;
      for (index_t i = next_; i < stop; ++i) {
        ring_[last % kRing] = i;
        last += coef[i] != 0.0;
      }
      last_ = last;
      next_ = stop;
    }
  }
  CUTPLANE_INLINE index_t known() const { return last_ - first_; }
  // The k-th of them and, where the number left behind so far and k are multiples of four, the next
  // three.
  CUTPLANE_INLINE const index_t* at(index_t k) const { return ring_.data() + (first_ + k) % kRing; }
  CUTPLANE_INLINE void leave(index_t count) { first_ += count; }

 private:
  static constexpr index_t kLook = 32;
  static constexpr std::uint64_t kRing = 128;
  static_assert(kRing >= kMostAhead + 4 + kLook);
  index_t next_, end_;
  std::uint64_t first_ = 0, last_ = 0;
  std::array<index_t, kRing> ring_;
};

// Calls `add` with four active rows, four of later ones, and the coefficients of the first, as long
// as there are four.
template <class Rows, class Add>
CUTPLANE_INLINE void by_quartets(const Rows& rows, ActiveRows& active, const double* coef,
                                 Add add) {
  const auto four = [&](const index_t* i) __attribute__((always_inline)) {
    return std::array{rows.at(i[0]), rows.at(i[1]), rows.at(i[2]), rows.at(i[3])};
  };
  const index_t ahead = rows.rows_ahead();
  for (active.know(ahead + 4, coef); active.known() >= 4; active.know(ahead + 4, coef)) {
    const index_t* now = active.at(0);
    const index_t* later = active.known() >= ahead + 4 ? active.at(ahead) : now;
    const double weights[4] = {coef[now[0]], coef[now[1]], coef[now[2]], coef[now[3]]};
    add(four(now).data(), four(later).data(), weights);
    active.leave(4);
  }
}

// Sums of so many groups of eight numbers stay in registers.
inline constexpr index_t kRegisterGroups = 8;

template <index_t kGroups, class Rows>
CUTPLANE_INLINE void add_short_quartets(const Rows& rows, ActiveRows& active, const double* coef,
                                        double* sum) {
  if constexpr (kGroups < kRegisterGroups) {
    if (rows.d > kGroups * kLanes) return add_short_quartets<kGroups + 1>(rows, active, coef, sum);
  }
  Lanes sums[kGroups] = {};
  by_quartets(rows, active, coef,
              [&](const index_t* now, const index_t* later, const double* weights)
                  __attribute__((always_inline)) {
                    rows.template axpy_four_short<kGroups>(now, later, weights, sums);
                  });
  rows.template add_groups<kGroups>(sums, sum);
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_rows(const Rows& rows, index_t begin, index_t end,
                                    const double* coef, double* sum) {
  ActiveRows active(begin, end);
  if constexpr (Quartets<Rows>) {
    if (rows.in_fours() && rows.d <= kRegisterGroups * kLanes) {
      add_short_quartets<1>(rows, active, coef, sum);
    } else if (rows.in_fours()) {
      Lanes last{};
      by_quartets(
          rows, active, coef,
          [&](const index_t* now, const index_t* later, const double* weights)
              __attribute__((always_inline)) { rows.axpy_four(now, later, weights, sum, last); });
      rows.add_end(last, sum);
    }
  }
  for (active.know(1, coef); active.known() > 0; active.know(1, coef)) {
    for (; active.known() > 0; active.leave(1)) {
      const index_t i = *active.at(0);
      rows.axpy(rows.at(i), coef[i], sum);
    }
  }
}

}  // namespace cutplane
