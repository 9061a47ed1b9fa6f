// What every selector of a pair shares: what it sees, what it returns, and how it scans.
//
// A selector picks, at a point that is not optimal, a variable `up` that shall grow and a variable
// `low` that shall shrink, f[low] > f[up]. Its `violation` is that difference; `gain`, where the
// selector computes one, estimates what the step takes off the objective.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

#include "core/multiversion.hpp"
#include "core/parallel.hpp"
#include "core/smo/dual.hpp"

namespace cutplane::smo {

// Curvature of a pair is taken for at least this: kernels that are not positive semidefinite.
inline constexpr double kLeastCurvature = 1e-12;

// Variables that can still move, side by side.
struct Candidates {
  index_t n;
  const double *f, *b, *low, *high, *diagonal;
  const std::int8_t* y;
  int group;  // 0: all; +1 or -1: those of this label only

  bool allowed(index_t t) const { return group == 0 || y[t] == group; }
  double room_up(index_t t) const { return high[t] - b[t]; }
  double room_down(index_t t) const { return b[t] - low[t]; }
};

struct Pair {
  index_t up = -1, low = -1;
  double violation = 0;
  double gain = 0;
};

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Best {
  index_t at = -1;
  double score = kNever;
};

// The t of greatest score(t), the least such t; scores of kNever do not count. Sixteen running
// maxima, so that the loop becomes vector instructions.
template <class Score>
CUTPLANE_INLINE Best argmax(index_t n, Score&& score) {
  constexpr int kLanes = 16;
  double best[kLanes];
  std::int64_t at[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    best[l] = kNever;
    at[l] = -1;
  }
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const double value = score(t + l);
      const bool better = value > best[l];
      best[l] = better ? value : best[l];
      at[l] = better ? t + l : at[l];
    }
  for (; t < n; ++t) {
    const double value = score(t);
    if (value > best[0]) {
      best[0] = value;
      at[0] = t;
    }
  }
  Best result;
  for (int l = 0; l < kLanes; ++l)
    if (at[l] >= 0 && (best[l] > result.score || (best[l] == result.score && at[l] < result.at)))
      result = {at[l], best[l]};
  return result;
}

CUTPLANE_INLINE Extremes find_extremes(const Candidates& c) {
  const Best up =
      argmax(c.n, [&](index_t t) { return c.b[t] < c.high[t] && c.allowed(t) ? -c.f[t] : kNever; });
  const Best low =
      argmax(c.n, [&](index_t t) { return c.b[t] > c.low[t] && c.allowed(t) ? c.f[t] : kNever; });
  return {up.at, low.at, -up.score, low.score};
}

CUTPLANE_INLINE double curvature(const Candidates& c, index_t i, index_t t, double k_it) {
  return std::max(c.diagonal[i] + c.diagonal[t] - 2.0 * k_it, kLeastCurvature);
}

// What the best step within the box takes off the objective, for a difference > 0 of the f.
CUTPLANE_INLINE double feasible_gain(double difference, double eta, double room) {
  const double step = std::min(difference / eta, room);
  return step * (difference - 0.5 * step * eta);
}

// Kernel values of one candidate with all of them.
template <class Rows>
concept CandidateRows = requires(Rows& rows, index_t i) {
  { rows.row(i) } -> std::convertible_to<const float*>;
};

}  // namespace cutplane::smo
