// OFS1 (Peng et al., Algorithm 1): the partner of greatest first-order gain by the feasible step.
#pragma once

#include "core/smo/select_ofs.hpp"

namespace cutplane::smo {

struct SelectOfs1 {
  template <CandidateRows Rows>
  Pair select(const Candidates& c, const Extremes& extremes, Rows& rows) {
    return select_by_step(c, extremes, rows, [](double difference, double eta, double room) {
      return std::max(std::min(difference / eta, room), kLeastStep) * difference;
    });
  }
  void forget() {}
};

}  // namespace cutplane::smo
