// One epoch of dual coordinate ascent over the rows of a matrix: see dual_ascent.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/ascent/dual_ascent_state.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random_order.hpp"

namespace cutplane {

template <class Rows>
CUTPLANE_MULTIVERSION void ascend_rows(const Rows& rows, Ascent& state) {
  shuffle_runs(state.order, state.active, state.random);
  double largest = -INFINITY, smallest = INFINITY, gain = 0, open = 0;
  index_t s = 0;
  while (s < state.active) {
    if (s + kAhead < state.active) rows.prefetch(rows.at(state.order[s + kAhead]));
    const std::int32_t e = state.order[s];
    const index_t i = rows.at(e);
    const double y = state.y[e];
    const double upper = state.upper ? state.upper[e] : state.upper_all;
    const double per_curvature = state.per_curvature[e];
    double& alpha = state.alpha[e];
    const double score =
        rows.dot(i, state.v.data()) + state.bias * state.bias_weight + state.bias_center;
    const double gradient = y * score - 1.0;
    double projected = gradient;
    bool idle = false;
    if (alpha == 0.0) {
      idle = gradient > state.shrink_above;
      projected = gradient < 0.0 ? gradient : 0.0;
    } else if (alpha == upper) {
      idle = gradient < state.shrink_below;
      projected = gradient > 0.0 ? gradient : 0.0;
    }
    if (idle) {
      std::swap(state.order[s], state.order[--state.active]);
      continue;
    }
    ++s;
    largest = projected > largest ? projected : largest;
    smallest = projected < smallest ? projected : smallest;
    if (projected == 0.0) continue;
    open += alpha * gradient - upper * (gradient < 0.0 ? gradient : 0.0);
    double next = 0.0, curvature = 0.0;
    if (per_curvature > 0.0) {
      curvature = 1.0 / per_curvature;
      next = alpha - gradient * per_curvature;
      next = next < 0.0 ? 0.0 : (next > upper ? upper : next);
    } else {
      next = gradient < 0.0 ? upper : 0.0;  // an empty row: its loss is 1 whatever w is
    }
    const double change = (next - alpha) * y;
    gain -= (next - alpha) * (gradient + 0.5 * (next - alpha) * curvature);
    alpha = next;
    if (change != 0.0) {
      rows.axpy(i, change, state.v.data());
      state.bias_weight += change * state.bias;
    }
  }
  state.shrink_above = largest > 0.0 ? largest : INFINITY;
  state.shrink_below = smallest < 0.0 ? smallest : -INFINITY;
  state.gain = gain;
  state.open_gap = open;
}

}  // namespace cutplane
