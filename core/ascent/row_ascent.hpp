// One sweep of dual coordinate ascent over the rows of a matrix: see dual_ascent.hpp.
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

// How a row meets weights that are free.
template <DualLoss::Kind kKind, class Rows>
struct FreeWeights {
  const Rows& rows;
  Ascent& state;

  CUTPLANE_INLINE double sign(index_t e) const { return state.loss.sign(kKind, e); }
  CUTPLANE_INLINE double score(index_t i) const { return rows.dot(i, state.v.data()); }
  CUTPLANE_INLINE DualMove move(index_t, std::int32_t e, double, double, double shifted) const {
    return state.loss.move(kKind, e, state.alpha[e], shifted, state.per_curvature[e], state.shrink);
  }
  CUTPLANE_INLINE void add(index_t i, double change) const { rows.axpy(i, change, state.v.data()); }
};

// The same for weights that stay above a floor. Those at the floor do not move at once, so that
// less bends than the whole row: steps are as long as what moves allows, where that is as good as
// it promises, and otherwise as short as the whole row asks for.
template <class Rows>
struct FlooredWeights {
  static constexpr double kLeastShare = 0.02;    // of the row that is taken to move
  static constexpr double kEnoughOfGain = 0.25;  // of what was promised

  const Rows& rows;
  Ascent& state;
  double moving = 0;  // the squared length of that part of the last row

  double sign(index_t e) const { return state.loss.sign(e); }
  CUTPLANE_INLINE double score(index_t i) {
    double total = 0, square = 0;
    rows.each(i)([&](double x, index_t j) CUTPLANE_INLINED {
      total += x * state.above[j];
      square += state.v[j] > state.floor[j] ? x * x : 0.0;
    });
    moving = square;
    return total;
  }
  CUTPLANE_INLINE DualMove move(index_t i, std::int32_t e, double sign, double score,
                                double shifted) const {
    const double safe = state.per_curvature[e], alpha = state.alpha[e];
    const auto move = [&](double per) {
      return state.loss.move(e, alpha, shifted, per, state.shrink);
    };
    if (safe == 0.0) return move(safe);
    const double constant = state.bias * state.bias, whole = 1.0 / safe - constant;
    const double part = std::max(moving, kLeastShare * whole);
    const DualMove bold = move(1.0 / (part + constant));
    const double change = (bold.next - alpha) * sign;
    if (change == 0.0) return bold;
    double deeper = 0;  // <w, v> - ½|w|² along the change, less what was promised
    rows.each(i)([&](double x, index_t j) CUTPLANE_INLINED {
      const double v = state.v[j] + change * x, w = std::max(v, state.floor[j]);
      const double w0 = state.above[j];
      deeper += w * (v - 0.5 * w) - w0 * (state.v[j] - 0.5 * w0);
    });
    deeper -= change * (score + 0.5 * change * part);
    return deeper <= (1.0 - kEnoughOfGain) * bold.gain
               ? DualMove{bold.next, bold.projected, bold.gain - deeper, bold.open, bold.idle}
               : move(safe);
  }
  CUTPLANE_INLINE void add(index_t i, double change) const {
    rows.axpy(i, change, state.v.data());
    rows.each(i)([&](double, index_t j)
                     CUTPLANE_INLINED { state.above[j] = std::max(state.v[j], state.floor[j]); });
  }
};

// A sweep over the active examples.
template <class Weights>
CUTPLANE_INLINE void ascend(Weights weights) {
  const auto& rows = weights.rows;
  Ascent& state = weights.state;
  shuffle_runs(state.order, state.active, state.random);
  double largest = -INFINITY, smallest = INFINITY, gain = 0, open = 0, travelled = 0;
  index_t changes = 0;
  index_t s = 0;
  while (s < state.active) {
    if (s + kAhead < state.active) rows.prefetch(rows.at(state.order[s + kAhead]));
    const std::int32_t e = state.order[s];
    const index_t i = rows.at(e);
    const double sign = weights.sign(e);
    double& alpha = state.alpha[e];
    const double score = weights.score(i);
    const double shifted = score + state.bias * state.bias_weight + state.bias_center;
    const DualMove move = weights.move(i, e, sign, score, shifted);
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
    const double change = (move.next - alpha) * sign;
    alpha = move.next;
    if (change != 0.0) {
      weights.add(i, change);
      state.bias_weight += change * state.bias;
      travelled += std::abs(change);
      ++changes;
    }
  }
  state.shrink = {largest > 0.0 ? largest : INFINITY, smallest < 0.0 ? smallest : -INFINITY};
  state.gain = gain;
  state.open_gap = open;
  state.travelled += travelled;
  state.roundings += static_cast<double>(changes);
}

template <DualLoss::Kind kKind, class Rows>
CUTPLANE_MULTIVERSION void ascend_free(const Rows& rows, Ascent& state) {
  ascend(FreeWeights<kKind, Rows>{rows, state});
}

// Floors are rare, and their loops go entry by entry: one version does.
template <class Rows>
void ascend_floored(const Rows& rows, Ascent& state) {
  ascend(FlooredWeights<Rows>{rows, state});
}

}  // namespace cutplane
