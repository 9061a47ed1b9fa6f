// Hybrid maximum gain (Glasmachers and Igel): one variable of the last pair again, with the partner
// of greatest gain within the box; the most violating pair where the last one ended in a corner.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

class SelectHybridMaximumGain {
 public:
  template <class Real, CandidateRows Rows>
  CUTPLANE_INLINE Pair select(const Candidates<Real>& c, const Extremes& extremes, Rows& rows) {
    Pair best{};
    if (usable(c, last_.up) && usable(c, last_.low) &&
        !(near_bound(c, last_.up) && near_bound(c, last_.low))) {
      const Pair first = best_partner(c, last_.up, rows.row(last_.up));
      const Pair second = best_partner(c, last_.low, rows.row(last_.low));
      const Pair& better = second.gain > first.gain ? second : first;
      if (better.up >= 0 && better.gain > 0.0) best = better;
    }
    if (best.up < 0) best = most_violating(c, extremes, rows.row(extremes.up));
    last_ = best;
    return best;
  }
  // Candidates have been renumbered.
  void forget() { last_ = Pair{}; }

 private:
  static constexpr double kNear = 1e-8;  // of the width of the box

  template <class Real>
  static bool usable(const Candidates<Real>& c, index_t t) {
    return t >= 0 && t < c.n && c.allowed(t);
  }
  template <class Real>
  static bool near_bound(const Candidates<Real>& c, index_t t) {
    const Real width = c.room_up[t] + c.room_down[t];
    return std::min(c.room_up[t], c.room_down[t]) <= static_cast<Real>(kNear) * width;
  }

  // With its gain, for pairs of two groups are compared by it.
  template <class Real>
  static Pair most_violating(const Candidates<Real>& c, const Extremes& e, const float* k) {
    const double room = std::min(c.room_up[e.up], c.room_down[e.low]);
    const double eta = curvature(c, e.up, e.low, k[e.low]);
    return {e.up, e.low, e.violation(), feasible_gain(e.violation(), eta, room)};
  }

  template <class Real>
  CUTPLANE_INLINE static Pair best_partner(const Candidates<Real>& c, index_t i, const float* k) {
    const Real f_i = c.f[i], up_i = c.room_up[i], down_i = c.room_down[i];
    const Best<Real> best = argmax<Real>(c.n, [&](index_t t) {
      const Real difference = c.f[t] - f_i;
      const Real if_up = std::min(up_i, c.room_down[t]), if_down = std::min(down_i, c.room_up[t]);
      const Real room = difference > 0 ? if_up : if_down;
      const Real size = difference > 0 ? difference : -difference;
      const Real gain = feasible_gain(size, curvature(c, i, t, k[t]), room);
      return ((room > 0) & (size > 0) & c.allowed(t)) ? gain : kNever<Real>;
    });
    if (best.at < 0) return {};
    const double difference = static_cast<double>(c.f[best.at]) - f_i;
    return difference > 0.0 ? Pair{i, best.at, difference, best.score}
                            : Pair{best.at, i, -difference, best.score};
  }

  Pair last_;
};

}  // namespace cutplane::smo
