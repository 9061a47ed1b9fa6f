// OFS2 (Peng et al., Algorithm 2): the partner whose feasible step takes most off the objective.
#pragma once

#include "core/smo/select_ofs.hpp"

namespace cutplane::smo {

struct SelectOfs2 {
  template <CandidateRows Rows>
  Pair select(const Candidates& c, const Extremes& extremes, Rows& rows) {
    return select_by_step(c, extremes, rows, [](double difference, double eta, double room) {
      return feasible_gain(difference, eta, std::max(room, kLeastStep));
    });
  }
  void forget() {}
};

}  // namespace cutplane::smo
