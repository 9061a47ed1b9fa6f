#include "core/multiclass/block_sweep.hpp"

#include <algorithm>
#include <functional>

#include "core/base/lanes.hpp"

namespace cutplane {
namespace {

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
CUTPLANE_INLINE double lanes_threshold(const double* target, index_t columns, double top,
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

}  // namespace

// Only entries above the highest less `size` can stay positive.
double simplex_threshold(const double* target, index_t count, double top, double size,
                         double* sorted) {
  index_t near = 0;
  for (index_t y = 0; y < count; ++y)
    if (target[y] > top - size) sorted[near++] = target[y];
  if (near == 1) return top - size;
  std::sort(sorted, sorted + near, std::greater<>());
  double sum = 0, threshold = top - size;
  for (index_t j = 0; j < near; ++j) {
    const double next = (sum + sorted[j] - size) / static_cast<double>(j + 1);
    if (sorted[j] <= next) break;
    sum += sorted[j];
    threshold = next;
  }
  return threshold;
}

CUTPLANE_MULTIVERSION BlockLines whole_lines(const BlockAscent& state, index_t e,
                                             BlockScratch& scratch) {
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

CUTPLANE_MULTIVERSION BlockLines listed_lines(const BlockAscent& state, index_t e,
                                              const ActiveClasses& active, bool few,
                                              BlockScratch& scratch) {
  const double* scores = scratch.scores.data();
  const index_t count = active.size();
  const double* cost = state.cost + state.y[e] * state.classes;
  const double* u = state.u.data() + e * state.columns;
  BlockLines found;
  for (index_t c = 0; c < count; ++c) {
    const index_t y = active.list[c];
    const double z =
        cost[y] + scores[few ? c : y] + state.bias * state.bias_weight[y] + state.bias_center[y];
    scratch.lines[c] = z;
    found.mixed += u[y] * z;
    found.highest = z > found.highest ? z : found.highest;
    if (u[y] > 0.0) {
      found.lowest = z < found.lowest ? z : found.lowest;
    } else {
      found.next = z > found.next ? z : found.next;
    }
  }
  return found;
}

CUTPLANE_MULTIVERSION void step_whole(BlockAscent& state, index_t e, double step, double size,
                                      BlockScratch& scratch) {
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
  const double threshold = lanes_threshold(target, state.columns, top, size);
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

CUTPLANE_MULTIVERSION void step_listed(BlockAscent& state, index_t e, const ActiveClasses& active,
                                       double step, double size, BlockScratch& scratch) {
  double* u = state.u.data() + e * state.columns;
  double* target = scratch.target.data();
  const index_t count = active.size();
  double top = -INFINITY;
  for (index_t c = 0; c < count; ++c) {
    target[c] = u[active.list[c]] + scratch.lines[c] * step;
    top = target[c] > top ? target[c] : top;
  }
  const double threshold = simplex_threshold(target, count, top, size, scratch.sorted.data());
  scratch.changes = 0;
  for (index_t c = 0; c < count; ++c) {
    const index_t y = active.list[c];
    const double fresh = target[c] > threshold ? std::min(target[c] - threshold, size) : 0.0;
    const double change = u[y] - fresh;
    if (change == 0.0) continue;
    u[y] = fresh;
    scratch.changed[scratch.changes] = static_cast<std::int32_t>(y);
    scratch.change[scratch.changes++] = change;
    state.bias_weight[y] += change * state.bias;
  }
}

void drop_classes(const ActiveClasses& active, const double* u, double below, double* lines) {
  index_t count = *active.count;
  for (index_t c = 0; c < count;) {
    if (u[active.list[c]] > 0.0 || lines[c] >= below) {
      ++c;
      continue;
    }
    --count;
    std::swap(active.list[c], active.list[count]);
    lines[c] = lines[count];
  }
  *active.count = static_cast<std::int16_t>(count);
}

}  // namespace cutplane
