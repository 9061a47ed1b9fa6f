// LIBSVM's WSS2 (Fan, Chen, Lin): the most violating `up`, and the `low` of greatest gain if there
// were no box.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

struct SelectSecondOrder {
  template <CandidateRows Rows>
  Pair select(const Candidates& c, const Extremes& extremes, Rows& rows) {
    const index_t i = extremes.up;
    const float* k = rows.row(i);
    const Best best = argmax(c.n, [&](index_t t) {
      const double difference = c.f[t] - extremes.up_value;
      const double gain = difference * difference / curvature(c, i, t, k[t]);
      return c.b[t] > c.low[t] && difference > 0.0 && c.allowed(t) ? gain : kNever;
    });
    return {i, best.at, c.f[best.at] - extremes.up_value, 0.5 * best.score};
  }
  void forget() {}
};

}  // namespace cutplane::smo
