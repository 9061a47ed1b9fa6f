// The most violating pair (Keerthi et al.): first-order.
#pragma once

#include "core/smo/selection.hpp"

namespace cutplane::smo {

struct SelectMostViolating {
  template <class Real, CandidateRows Rows>
  CUTPLANE_INLINE Pair select(const Candidates<Real>&, const Extremes& extremes, Rows&) {
    return {extremes.up, extremes.low, extremes.violation(), 0.0};
  }
  void forget() {}
};

}  // namespace cutplane::smo
