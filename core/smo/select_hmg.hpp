// Hybrid maximum gain (Glasmachers and Igel): one variable of the last pair again, with the partner
// of greatest gain within the box; the most violating pair where the last one ended in a corner.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

class SelectHybridMaximumGain {
 public:
  template <CandidateRows Rows>
  Pair select(const Candidates& c, const Extremes& extremes, Rows& rows) {
    Pair best{extremes.up, extremes.low, extremes.violation(), 0.0};
    if (usable(c, last_.up) && usable(c, last_.low) &&
        !(near_bound(c, last_.up) && near_bound(c, last_.low))) {
      const Pair first = best_partner(c, last_.up, rows.row(last_.up));
      const Pair second = best_partner(c, last_.low, rows.row(last_.low));
      const Pair& better = second.gain > first.gain ? second : first;
      if (better.up >= 0 && better.gain > 0.0) best = better;
    }
    last_ = best;
    return best;
  }
  // Candidates have been renumbered.
  void forget() { last_ = Pair{}; }

 private:
  static constexpr double kNear = 1e-8;  // of the width of the box

  static bool usable(const Candidates& c, index_t t) { return t >= 0 && t < c.n && c.allowed(t); }
  static bool near_bound(const Candidates& c, index_t t) {
    return std::min(c.room_up(t), c.room_down(t)) <= kNear * (c.high[t] - c.low[t]);
  }

  static Pair best_partner(const Candidates& c, index_t i, const float* k) {
    const double f_i = c.f[i], up_i = c.room_up(i), down_i = c.room_down(i);
    const Best best = argmax(c.n, [&](index_t t) {
      const double difference = c.f[t] - f_i;
      const double room =
          difference > 0.0 ? std::min(up_i, c.room_down(t)) : std::min(down_i, c.room_up(t));
      const double size = difference > 0.0 ? difference : -difference;
      const double gain = feasible_gain(size, curvature(c, i, t, k[t]), room);
      return room > 0.0 && size > 0.0 && c.allowed(t) ? gain : kNever;
    });
    if (best.at < 0) return {};
    const bool grows = c.f[best.at] > f_i;
    const double violation = grows ? c.f[best.at] - f_i : f_i - c.f[best.at];
    return grows ? Pair{i, best.at, violation, best.score}
                 : Pair{best.at, i, violation, best.score};
  }

  Pair last_;
};

}  // namespace cutplane::smo
