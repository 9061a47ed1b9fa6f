// How a pair is chosen: what every rule sees, what it returns, and the scans that it takes.
//
// A rule picks, at a point that is not optimal, a variable `up` that shall grow and a variable
// `low` that shall shrink, f[low] > f[up]. Its `violation` is that difference; `gain`, where the
// rule computes one, estimates what the step takes off the objective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane::smo {

enum class Rule {
  // The most violating pair (Keerthi et al.): first-order.
  mvp,
  // LIBSVM's WSS2 (Fan, Chen, Lin): the most violating `up`, and the `low` of greatest gain if
  // there were no box.
  second_order,
  // Hybrid maximum gain (Glasmachers and Igel): one variable of the last pair again, with the
  // partner of greatest gain within the box; the most violating pair where the last one ended in a
  // corner.
  hmg,
  // Peng et al., Algorithms 1 and 2: the variable of greatest |gradient| that can move against it,
  // in whichever direction, with the partner of greatest first-order gain by the feasible step
  // (ofs1), or the partner whose feasible step takes most off the objective (ofs2).
  ofs1,
  ofs2,
  // Second-order with conjugate directions within working sets (core/smo/inner_solver.cpp); one
  // pair at a time it is second_order itself.
  conjugate
};

// Curvature of a pair is taken for at least this: kernels that are not positive semidefinite.
inline constexpr double kLeastCurvature = 1e-12;
// Share of a pair's curvature that must be left of it along a conjugate direction.
inline constexpr double kLeastShare = 1e-3;

// Variables that can still move, side by side. A variable can grow by room_up and shrink by
// room_down. What is asked of one is answered without branches and in Real, labels (+1 or -1)
// included: only so do scans of them become vector instructions.
template <class Real>
struct Candidates {
  index_t n;
  const Real *f, *room_up, *room_down, *diagonal, *label;
  Real group;                   // 0: all; +1 or -1: those of this label only
  const Real* slope = nullptr;  // conjugate: K p for the last direction p
  Real inverse = 0;             // 1 / p'Kp, or 0 where the directions begin anew

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

// One variable of a pair, whose partner is sought.
template <class Real>
struct Known {
  const float* kernel;  // its values with all candidates
  Real f, diagonal;
  Real room_up = 0, room_down = 0, slope = 0;
  bool grows = true;
};

// Passes over all candidates, compiled for every CPU. Of equals they find the first.
Extremes find_extremes(const Candidates<float>& all);
Extremes find_extremes(const Candidates<double>& all);
Best<float> find_partner(Rule rule, const Known<float>& known, const Candidates<float>& all);
Best<double> find_partner(Rule rule, const Known<double>& known, const Candidates<double>& all);
// f[t] += step * (k_up[t] - k_low[t])
void add_difference(index_t n, float step, const float* k_up, const float* k_low, float* f);
void add_difference(index_t n, double step, const float* k_up, const float* k_low, double* f);

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

// What the best step within the box takes off the objective, for a difference > 0 of the f.
template <class Real>
CUTPLANE_INLINE Real feasible_gain(Real difference, Real eta, Real room) {
  const Real step = std::min(difference / eta, room);
  return step * (difference - Real{0.5} * step * eta);
}

template <class Real>
Pair with_partner(Rule rule, const Candidates<Real>& c, index_t i, bool grows, const float* k) {
  const Real slope = c.slope != nullptr ? c.slope[i] : Real{0};
  const Best<Real> best =
      find_partner(rule, {k, c.f[i], c.diagonal[i], c.room_up[i], c.room_down[i], slope, grows}, c);
  if (best.at < 0) return {};
  const double difference = static_cast<double>(c.f[best.at]) - c.f[i];
  return difference > 0.0 ? Pair{i, best.at, difference, best.score}
                          : Pair{best.at, i, -difference, best.score};
}

// One of the last pair and its best partner, if that pair did not end in a corner.
template <class Real, class Row>
Pair from_last_pair(const Candidates<Real>& c, const Pair& last, const Row& row) {
  constexpr Real kNear = static_cast<Real>(1e-8);  // of the width of the box
  const auto usable = [&](index_t t) { return t >= 0 && t < c.n && c.allowed(t); };
  const auto near_bound = [&](index_t t) {
    return std::min(c.room_up[t], c.room_down[t]) <= kNear * (c.room_up[t] + c.room_down[t]);
  };
  if (!usable(last.up) || !usable(last.low) || (near_bound(last.up) && near_bound(last.low)))
    return {};
  const Pair first = with_partner(Rule::hmg, c, last.up, true, row(last.up));
  const Pair second = with_partner(Rule::hmg, c, last.low, true, row(last.low));
  const Pair& better = second.gain > first.gain ? second : first;
  return better.gain > 0.0 ? better : Pair{};
}

// The pair that a rule picks. last: the pair that it picked before among the same candidates.
// row(i): kernel values of a candidate with all of them.
template <class Real, class Row>
Pair select_pair(Rule rule, const Candidates<Real>& c, const Extremes& e, Pair& last,
                 const Row& row) {
  if (rule == Rule::mvp) return {e.up, e.low, e.violation(), 0.0};
  if (rule == Rule::ofs1 || rule == Rule::ofs2) {
    const bool grows = -e.up_value >= e.low_value;
    const index_t i = grows ? e.up : e.low;
    return with_partner(rule, c, i, grows, row(i));
  }
  if (rule == Rule::hmg) {
    last = from_last_pair(c, last, row);
    if (last.up >= 0) return last;
    // With its gain, for pairs of two groups are compared by it.
    const double room = std::min(c.room_up[e.up], c.room_down[e.low]);
    const double eta = curvature(c, e.up, e.low, row(e.up)[e.low]);
    return last = {e.up, e.low, e.violation(), feasible_gain(e.violation(), eta, room)};
  }
  Pair pair = with_partner(rule, c, e.up, true, row(e.up));
  pair.gain *= 0.5;
  return pair;
}

// The best pair of all groups, of which there are two if `grouped`, and the maximal violation.
// candidates(label): those with this label, or all for 0.
template <class Groups, class Row>
Pair best_pair(Rule rule, bool grouped, const Groups& candidates, Pair (&last)[2], const Row& row,
               double& violation) {
  Pair best;
  violation = 0.0;
  for (int g = 0; g < (grouped ? 2 : 1); ++g) {
    const auto c = candidates(grouped ? 1 - 2 * g : 0);
    const Extremes extremes = find_extremes(c);
    if (!(extremes.violation() > 0.0)) continue;
    violation = std::max(violation, extremes.violation());
    const Pair pair = select_pair(rule, c, extremes, last[g], row);
    if (pair.up < 0) continue;
    if (best.up < 0 || pair.gain > best.gain ||
        (pair.gain == best.gain && pair.violation > best.violation))
      best = pair;
  }
  return best;
}

}  // namespace cutplane::smo
