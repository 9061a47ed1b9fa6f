// One epoch of dual coordinate ascent over the rows of a matrix: see dual_ascent.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/ascent/dual_ascent_state.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random_order.hpp"

namespace cutplane {

template <class Rows, class Loss>
CUTPLANE_MULTIVERSION void ascend_rows(const Rows& rows, const Loss& loss, Ascent& state) {
  shuffle_runs(state.order, state.active, state.random);
  double largest = -INFINITY, smallest = INFINITY, gain = 0, open = 0;
  const double* weights = state.weights();
  index_t s = 0;
  while (s < state.active) {
    if (s + kAhead < state.active) rows.prefetch(rows.at(state.order[s + kAhead]));
    const std::int32_t e = state.order[s];
    const index_t i = rows.at(e);
    const auto term = loss.at(e);
    double& alpha = state.alpha[e];
    const double score = rows.dot(i, weights) + state.bias * state.bias_weight + state.bias_center;
    const DualMove move = term.move(alpha, score, state.per_curvature[e], state.shrink);
    if (move.idle) {
      std::swap(state.order[s], state.order[--state.active]);
      continue;
    }
    ++s;
    largest = move.projected > largest ? move.projected : largest;
    smallest = move.projected < smallest ? move.projected : smallest;
    if (move.projected == 0.0) continue;
    open += move.open;
    gain += move.gain;
    const double change = (move.next - alpha) * term.sign;
    alpha = move.next;
    if (change != 0.0) {
      rows.axpy(i, change, state.v.data());
      if (!state.floor.empty())
        rows.each(i)([&](double, index_t j) CUTPLANE_INLINED {
          state.above[j] = std::max(state.v[j], state.floor[j]);
        });
      state.bias_weight += change * state.bias;
    }
  }
  state.shrink = {largest > 0.0 ? largest : INFINITY, smallest < 0.0 ? smallest : -INFINITY};
  state.gain = gain;
  state.open_gap = open;
}

}  // namespace cutplane
