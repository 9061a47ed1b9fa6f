// OFS1 (Peng et al., Algorithm 1): the partner of greatest first-order gain by the feasible step.
#pragma once

#include "core/smo/select_ofs.hpp"

namespace cutplane::smo {

struct SelectOfs1 {
  template <class Real, CandidateRows Rows>
  CUTPLANE_INLINE Pair select(const Candidates<Real>& c, const Extremes& extremes, Rows& rows) {
    return select_by_step(c, extremes, rows, [](Real difference, Real eta, Real room) {
      const Real step = std::min(difference / eta, room);
      return std::max(step, static_cast<Real>(kLeastStep)) * difference;
    });
  }
  void forget() {}
};

}  // namespace cutplane::smo
