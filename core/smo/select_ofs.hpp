// What OFS1 and OFS2 share (Peng et al., Algorithms 1 and 2): the first variable is the one of
// greatest |gradient| that can move against it, in whichever direction.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

// The least step a partner is credited with (the paper's tau).
inline constexpr double kLeastStep = 1e-10;

// Score: (difference, curvature, room) -> what the partner is worth.
template <class Real, CandidateRows Rows, class Score>
CUTPLANE_INLINE Pair select_by_step(const Candidates<Real>& c, const Extremes& extremes, Rows& rows,
                                    Score&& score) {
  const bool grows = -extremes.up_value >= extremes.low_value;
  const index_t i = grows ? extremes.up : extremes.low;
  const float* k = rows.row(i);
  const Real f_i = c.f[i], sign = grows ? 1 : -1;
  const Real room_i = grows ? c.room_up[i] : c.room_down[i];
  const Real* partner_room = grows ? c.room_down : c.room_up;
  const Best<Real> best = argmax<Real>(c.n, [&](index_t t) {
    const Real difference = sign * (c.f[t] - f_i), room = partner_room[t];
    const Real worth = score(difference, curvature(c, i, t, k[t]), std::min(room_i, room));
    return ((room > 0) & (difference > 0) & c.allowed(t)) ? worth : kNever<Real>;
  });
  if (best.at < 0) return {};
  const double violation = sign * (static_cast<double>(c.f[best.at]) - f_i);
  return grows ? Pair{i, best.at, violation, best.score} : Pair{best.at, i, violation, best.score};
}

}  // namespace cutplane::smo
