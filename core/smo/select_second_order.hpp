// LIBSVM's WSS2 (Fan, Chen, Lin): the most violating `up`, and the `low` of greatest gain if there
// were no box.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

struct SelectSecondOrder {
  template <class Real, CandidateRows Rows>
  CUTPLANE_INLINE Pair select(const Candidates<Real>& c, const Extremes& extremes, Rows& rows) {
    const index_t i = extremes.up;
    const float* k = rows.row(i);
    const Real f_i = c.f[i];
    const Best<Real> best = argmax<Real>(c.n, [&](index_t t) {
      const Real difference = c.f[t] - f_i;
      const Real gain = second_order_gain(difference, curvature(c, i, t, k[t]));
      return (c.can_shrink(t) & (difference > 0)) ? gain : kNever<Real>;
    });
    if (best.at < 0) return {};
    return {i, best.at, static_cast<double>(c.f[best.at]) - f_i, 0.5 * best.score};
  }
  void forget() {}
};

}  // namespace cutplane::smo
