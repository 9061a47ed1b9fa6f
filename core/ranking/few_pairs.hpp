// Sums over pairs, one by one: where examples have few partners, sooner than to sort them.
#pragma once

#include "core/ranking/pairs.hpp"

namespace cutplane {

// Whether it is sooner.
bool has_few_pairs(const PairSample& sample);

// As pair_cut, from scores by place.
PairCut few_pairs_cut(const PairSample& sample, const std::vector<double>& scores, double* coef,
                      int n_threads);

// The risk at scores by place, and its right derivative along a direction.
PairSlope few_pairs_slope(const PairSample& sample, const std::vector<double>& scores,
                          const std::vector<double>& direction, int n_threads);

}  // namespace cutplane
