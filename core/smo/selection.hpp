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

// Scores of some candidates at a time, which stay in the first cache: their greatest is found by
// vector instructions, and where it is only if it is greater than all before. Where each maximum
// was met could be noted as well, but GCC would keep those notes in memory.
inline constexpr index_t kScoredTogether = 1024;

// NaN is not greater than anything.
template <class Real>
CUTPLANE_INLINE Real greatest(const Real* scores, index_t count) {
  Real most = kNever<Real>;
#pragma omp simd reduction(max : most)
  for (index_t l = 0; l < count; ++l) most = scores[l] > most ? scores[l] : most;
  return most;
}

// The first of `count` scores, in blocks, that is equal to this one.
template <class Real>
CUTPLANE_INLINE index_t place_of(const Real* scores, index_t count, Real wanted) {
  constexpr index_t kLookedAt = 64;
  index_t begin = 0;
  for (; begin + kLookedAt <= count; begin += kLookedAt) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (index_t l = 0; l < kLookedAt; ++l) found |= scores[begin + l] == wanted;
    if (found) break;
  }
  while (scores[begin] != wanted) ++begin;
  return begin;
}

// The t of greatest score(t), the least such t; scores of kNever do not count.
template <class Real, class Score>
CUTPLANE_INLINE Best<Real> argmax(index_t n, Score&& score) {
  Real scores[kScoredTogether];
  Best<Real> best;
  for (index_t begin = 0; begin < n; begin += kScoredTogether) {
    const index_t count = std::min(kScoredTogether, n - begin);
    for (index_t l = 0; l < count; ++l) scores[l] = score(begin + l);
    const Real most = greatest(scores, count);
    if (most > best.score) best = {begin + place_of(scores, count, most), most};
  }
  return best;
}

template <class Real>
CUTPLANE_INLINE Extremes find_extremes(const Candidates<Real>& c) {
  const Best<Real> up = argmax<Real>(
      c.n, [&](index_t t) CUTPLANE_INLINED { return c.can_grow(t) ? -c.f[t] : kNever<Real>; });
  const Best<Real> low = argmax<Real>(
      c.n, [&](index_t t) CUTPLANE_INLINED { return c.can_shrink(t) ? c.f[t] : kNever<Real>; });
  return {up.at, low.at, -static_cast<double>(up.score), static_cast<double>(low.score)};
}

// Of a pair, by its entries of the diagonal and its kernel value.
template <class Real>
CUTPLANE_INLINE Real curvature(Real d_i, Real d_t, float k_it) {
  return std::max(d_i + d_t - Real{2} * static_cast<Real>(k_it),
                  static_cast<Real>(kLeastCurvature));
}
template <class Real>
CUTPLANE_INLINE Real curvature(const Candidates<Real>& c, index_t i, index_t t, float k_it) {
  return curvature(c.diagonal[i], c.diagonal[t], k_it);
}

// Twice what the best step takes off the objective if there were no box.
template <class Real>
CUTPLANE_INLINE Real second_order_gain(Real difference, Real eta) {
  return difference * difference / eta;
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
