// Dual variables out of balance prove little where an intercept is free: planes must not lean on
// it.
#pragma once

#include <vector>

#include "core/ascent/dual_ascent_state.hpp"

namespace cutplane {

// The dual variables, moved so that alpha_i sign_i sum to zero (to what the intercept asks for,
// where that is penalised) as far as those between their bounds have room for it. These are where
// the dual value is about greatest, and moving them costs a square of the imbalance; to scale all
// variables of one sign costs in proportion to it.
std::vector<double> balanced_by_free(const Ascent& state);

}  // namespace cutplane
