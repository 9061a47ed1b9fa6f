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
#include <type_traits>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane::smo {

// Curvature of a pair is taken for at least this: kernels that are not positive semidefinite.
inline constexpr double kLeastCurvature = 1e-12;

// Variables that can still move, side by side. A variable can grow by room_up and shrink by
// room_down. What is asked of one is answered without branches and in Real, labels (+1 or -1)
// included: only so do scans of them become vector instructions.
template <class Real>
struct Candidates {
  index_t n;
  const Real *f, *room_up, *room_down, *diagonal, *label;
  Real group;  // 0: all; +1 or -1: those of this label only

  CUTPLANE_INLINE bool allowed(index_t t) const { return label[t] * group >= 0; }
  CUTPLANE_INLINE bool can_grow(index_t t) const { return (room_up[t] > 0) & allowed(t); }
  CUTPLANE_INLINE bool can_shrink(index_t t) const { return (room_down[t] > 0) & allowed(t); }
};

// The pair that violates most.
struct Extremes {
  index_t up = -1;   // least f among those that can grow
  index_t low = -1;  // greatest f among those that can shrink
  double up_value = 0, low_value = 0;
  double violation() const { return up < 0 || low < 0 ? 0.0 : low_value - up_value; }
};

// Without members where nothing can be selected: where f holds a NaN, say.
struct Pair {
  index_t up = -1, low = -1;
  double violation = 0;
  double gain = 0;
};

template <class Real>
inline constexpr Real kNever = -std::numeric_limits<Real>::infinity();

template <class Real>
struct Best {
  index_t at = -1;
  Real score = kNever<Real>;
};

// Sixteen running maxima, so that the loop over them becomes vector instructions.
template <class Real>
class RunningBest {
 public:
  static constexpr int kLanes = 16;
  using Position = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

  CUTPLANE_INLINE RunningBest() {
    for (int l = 0; l < kLanes; ++l) {
      score_[l] = kNever<Real>;
      at_[l] = -1;
    }
  }
  CUTPLANE_INLINE void offer(int lane, index_t t, Real score) {
    const bool better = score > score_[lane];
    score_[lane] = better ? score : score_[lane];
    at_[lane] = better ? static_cast<Position>(t) : at_[lane];
  }
  // The greatest, the first of equals.
  CUTPLANE_INLINE Best<Real> best() const {
    Best<Real> result;
    for (int l = 0; l < kLanes; ++l)
      if (at_[l] >= 0 &&
          (score_[l] > result.score || (score_[l] == result.score && at_[l] < result.at)))
        result = {at_[l], score_[l]};
    return result;
  }

 private:
  Real score_[kLanes];
  Position at_[kLanes];
};

// The t of greatest score(t), the least such t; scores of kNever do not count.
template <class Real, class Score>
CUTPLANE_INLINE Best<Real> argmax(index_t n, Score&& score) {
  constexpr int kLanes = RunningBest<Real>::kLanes;
  RunningBest<Real> running;
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) running.offer(l, t + l, score(t + l));
  for (; t < n; ++t) running.offer(static_cast<int>(t % kLanes), t, score(t));
  return running.best();
}

template <class Real>
CUTPLANE_INLINE Extremes find_extremes(const Candidates<Real>& c) {
  constexpr int kLanes = RunningBest<Real>::kLanes;
  RunningBest<Real> up, low;
  const auto look = [&](int lane, index_t t) {
    const Real f = c.f[t];
    up.offer(lane, t, c.can_grow(t) ? -f : kNever<Real>);
    low.offer(lane, t, c.can_shrink(t) ? f : kNever<Real>);
  };
  index_t t = 0;
  for (; t + kLanes <= c.n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) look(l, t + l);
  for (; t < c.n; ++t) look(static_cast<int>(t % kLanes), t);
  const Best<Real> least = up.best(), greatest = low.best();
  return {least.at, greatest.at, -static_cast<double>(least.score),
          static_cast<double>(greatest.score)};
}

template <class Real>
CUTPLANE_INLINE Real curvature(const Candidates<Real>& c, index_t i, index_t t, float k_it) {
  return std::max(c.diagonal[i] + c.diagonal[t] - Real{2} * static_cast<Real>(k_it),
                  static_cast<Real>(kLeastCurvature));
}

// What the best step within the box takes off the objective, for a difference > 0 of the f.
template <class Real>
CUTPLANE_INLINE Real feasible_gain(Real difference, Real eta, Real room) {
  const Real step = std::min(difference / eta, room);
  return step * (difference - Real{0.5} * step * eta);
}

// Kernel values of one candidate with all of them.
template <class Rows>
concept CandidateRows = requires(Rows& rows, index_t i) {
  { rows.row(i) } -> std::convertible_to<const float*>;
};

}  // namespace cutplane::smo
