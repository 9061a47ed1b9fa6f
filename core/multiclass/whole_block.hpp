// One example's block of dual variables with all of its classes, in vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/multiclass/ascent_state.hpp"

namespace cutplane {

// The memory one example needs while it is visited.
struct BlockScratch {
  explicit BlockScratch(index_t columns)
      : scores(columns),
        lines(columns),
        target(columns),
        sorted(columns),
        changed(columns),
        change(columns),
        by_class(columns) {}
  std::vector<double> scores, lines, target, sorted;
  // What a step has changed: the first `changes` of these.
  index_t changes = 0;
  std::vector<std::int32_t> changed;
  std::vector<double> change;
  std::vector<double> by_class;  // zero between visits
};

// Where the lines of an example's classes lie: of those with weight the lowest, of those without
// the highest, the highest of all, and their mean by the weights.
struct BlockLines {
  double highest = -INFINITY, lowest = INFINITY, next = -INFINITY, mixed = 0;
};

// What a visit reads besides the row.
CUTPLANE_INLINE void prefetch_block(const BlockAscent& state, index_t e) {
  constexpr index_t kLine = 8;  // doubles
  const double* u = state.u.data() + e * state.columns;
  for (index_t j = 0; j < state.columns; j += kLine) __builtin_prefetch(u + j);
  __builtin_prefetch(state.y + e);
  __builtin_prefetch(state.per_curvature.data() + e);
}

namespace whole {

constexpr int kLanes = kCommonLanes;
constexpr double kFarBelow = -INFINITY;
using Lane = Lanes<kLanes>;
using Mask = LanesOf<kLanes>::mask;

CUTPLANE_INLINE void raise_to(const Lane& x, Lane& most) { most = x > most ? x : most; }

CUTPLANE_INLINE double highest(const Lane& x) {
  double most = x[0];
  for (int l = 1; l < kLanes; ++l) most = x[l] > most ? x[l] : most;
  return most;
}

CUTPLANE_INLINE double sum(const Lane& x) {
  double total = x[0];
  for (int l = 1; l < kLanes; ++l) total += x[l];
  return total;
}

// The projection on the simplex of this size of what lies `target` - `top`, at most zero:
// max(0, target - top - threshold). The mean of those above the last threshold, until none of them
// falls below it; rounding may bring back one that has.
CUTPLANE_INLINE double simplex_threshold(const double* target, index_t columns, double top,
                                         double size) {
  double threshold = -size, above = INFINITY;
  while (true) {
    Lane total{}, count{};
    for (index_t j = 0; j < columns; j += kLanes) {
      Lane x;
      load<kLanes>(target + j, x);
      x -= top;
      const Mask is_above = x > threshold;
      total += is_above ? x : Lane{};
      count += is_above ? Lane{} + 1.0 : Lane{};
    }
    const double now = sum(count);
    if (!(now < above) || now == 0.0) return threshold;
    above = now;
    threshold = (sum(total) - size) / now;
  }
}

}  // namespace whole

// The lines of all classes by their scores.
CUTPLANE_INLINE BlockLines whole_lines(const BlockAscent& state, index_t e, BlockScratch& scratch) {
  using namespace whole;
  const double* cost = state.padded_cost.data() + state.y[e] * state.columns;
  const double* u = state.u.data() + e * state.columns;
  const Lane far_below = Lane{} + kFarBelow;
  Lane high = far_below, low = far_below, next = far_below, mixed{};  // low: its opposite
  for (index_t j = 0; j < state.columns; j += kLanes) {
    Lane z, score, weight, center, own;
    load<kLanes>(cost + j, z);
    load<kLanes>(scratch.scores.data() + j, score);
    load<kLanes>(state.bias_weight.data() + j, weight);
    load<kLanes>(state.bias_center.data() + j, center);
    load<kLanes>(u + j, own);
    z = z + score + state.bias * weight + center;
    store<kLanes>(z, scratch.lines.data() + j);
    mixed += own * z;
    const Mask has = own > 0.0;
    raise_to(z, high);
    raise_to(has ? -z : far_below, low);
    raise_to(has ? far_below : z, next);
  }
  return {highest(high), -highest(low), highest(next), sum(mixed)};
}

// The best block of an example.
CUTPLANE_INLINE void step_whole(BlockAscent& state, index_t e, double step, double size,
                                BlockScratch& scratch) {
  using namespace whole;
  double* u = state.u.data() + e * state.columns;
  double* target = scratch.target.data();
  Lane tops = Lane{} + kFarBelow;
  for (index_t j = 0; j < state.columns; j += kLanes) {
    Lane own, z;
    load<kLanes>(u + j, own);
    load<kLanes>(scratch.lines.data() + j, z);
    own += z * step;
    store<kLanes>(own, target + j);
    raise_to(own, tops);
  }
  const double top = highest(tops);
  const double threshold = simplex_threshold(target, state.columns, top, size);
  double* change = scratch.target.data();
  for (index_t j = 0; j < state.columns; j += kLanes) {
    Lane own, fresh, weight;
    load<kLanes>(target + j, fresh);
    load<kLanes>(u + j, own);
    load<kLanes>(state.bias_weight.data() + j, weight);
    fresh = (fresh - top) - threshold;
    fresh = fresh > 0.0 ? fresh : Lane{};
    fresh = fresh < size ? fresh : Lane{} + size;
    own -= fresh;
    store<kLanes>(fresh, u + j);
    store<kLanes>(own, change + j);
    store<kLanes>(weight + state.bias * own, state.bias_weight.data() + j);
  }
  index_t count = 0;
  for (index_t y = 0; y < state.classes; ++y) {
    scratch.changed[count] = static_cast<std::int32_t>(y);
    scratch.change[count] = change[y];
    count += change[y] != 0.0;
  }
  scratch.changes = count;
}

}  // namespace cutplane
