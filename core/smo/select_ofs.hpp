// What OFS1 and OFS2 share (Peng et al., Algorithms 1 and 2): the first variable is the one of
// greatest |gradient| that can move against it, in whichever direction.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

// The least step a partner is credited with (the paper's tau).
inline constexpr double kLeastStep = 1e-10;

// Score: (difference, curvature, room) -> what the partner is worth.
template <CandidateRows Rows, class Score>
CUTPLANE_INLINE Pair select_by_step(const Candidates& c, const Extremes& extremes, Rows& rows,
                                    Score&& score) {
  const bool first_grows = -extremes.up_value >= extremes.low_value;
  const index_t i = first_grows ? extremes.up : extremes.low;
  const double f_i = c.f[i];
  const double room_i = first_grows ? c.room_up(i) : c.room_down(i);
  const float* k = rows.row(i);
  Best best;
  if (first_grows) {
    best = argmax(c.n, [&](index_t t) {
      const double difference = c.f[t] - f_i, room = c.room_down(t);
      const double worth = score(difference, curvature(c, i, t, k[t]), std::min(room_i, room));
      return room > 0.0 && difference > 0.0 && c.allowed(t) ? worth : kNever;
    });
    return {i, best.at, c.f[best.at] - f_i, best.score};
  }
  best = argmax(c.n, [&](index_t t) {
    const double difference = f_i - c.f[t], room = c.room_up(t);
    const double worth = score(difference, curvature(c, i, t, k[t]), std::min(room_i, room));
    return room > 0.0 && difference > 0.0 && c.allowed(t) ? worth : kNever;
  });
  return {best.at, i, f_i - c.f[best.at], best.score};
}

}  // namespace cutplane::smo
