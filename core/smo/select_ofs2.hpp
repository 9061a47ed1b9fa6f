// OFS2 (Peng et al., Algorithm 2): the partner whose feasible step takes most off the objective.
#pragma once

#include "core/smo/select_ofs.hpp"

namespace cutplane::smo {

struct SelectOfs2 {
  template <class Real, CandidateRows Rows>
  CUTPLANE_INLINE Pair select(const Candidates<Real>& c, const Extremes& extremes, Rows& rows) {
    return select_by_step(c, extremes, rows, [](Real difference, Real eta, Real room) {
      return feasible_gain(difference, eta, std::max(room, static_cast<Real>(kLeastStep)));
    });
  }
  void forget() {}
};

}  // namespace cutplane::smo
