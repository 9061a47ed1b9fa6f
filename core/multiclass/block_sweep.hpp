// One sweep of dual ascent over the examples' blocks, for any layout of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/multiclass/ascent.hpp"
#include "core/multiversion.hpp"
#include "core/random_order.hpp"

namespace cutplane {

// The memory one example needs while it is visited.
struct BlockScratch {
  explicit BlockScratch(index_t columns) : scores(columns), target(columns), sorted(columns) {}
  std::vector<double> scores, target, sorted;
  std::vector<std::int32_t> changed;
  std::vector<double> change;
};

// The projection of target on the simplex of this size: max(0, target - threshold). Only entries
// above the highest less `size` can stay positive.
CUTPLANE_INLINE double simplex_threshold(const double* target, index_t count, double top,
                                         double size, double* sorted) {
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

template <class Rows>
CUTPLANE_MULTIVERSION void ascend_row_blocks(const Rows& rows, BlockAscent& state) {
  shuffle_runs(state.order, state.active, state.random);
  const index_t classes = state.classes, columns = state.columns;
  BlockScratch scratch(columns);
  double* scores = scratch.scores.data();
  double* target = scratch.target.data();
  double largest = 0;
  index_t s = 0;
  while (s < state.active) {
    if (s + kAhead < state.active) rows.prefetch(rows.at(state.order[s + kAhead]));
    const std::int32_t e = state.order[s];
    const index_t i = rows.at(e), k = state.y[e];
    const double size = state.upper ? state.upper[e] : state.upper_all;
    const double* cost = state.cost + k * classes;
    double* u = state.u.data() + static_cast<index_t>(e) * classes;
    rows.dot_many(i, state.v.data(), columns, scores);
    if (state.bias > 0.0)
      for (index_t y = 0; y < classes; ++y)
        scores[y] += state.bias * state.bias_weight[y] + state.bias_center[y];
    // The lines, the highest of all, the lowest with weight, and the highest without.
    double highest = -INFINITY, lowest = INFINITY, next = -INFINITY;
    for (index_t y = 0; y < classes; ++y) {
      const double z = cost[y] + scores[y];
      scores[y] = z;
      highest = z > highest ? z : highest;
      if (u[y] > 0.0) {
        lowest = z < lowest ? z : lowest;
      } else {
        next = z > next ? z : next;
      }
    }
    const double violation = highest - lowest;
    if (violation <= 0.0 && lowest - next > state.shrink_beyond && size > 0.0) {
      std::swap(state.order[s], state.order[--state.active]);
      continue;
    }
    ++s;
    if (violation <= 1e-14 || size <= 0.0) continue;
    largest = violation > largest ? violation : largest;
    const double per_curvature = state.per_curvature[e];
    double threshold;
    if (per_curvature > 0.0) {
      double top = -INFINITY;
      for (index_t y = 0; y < classes; ++y) {
        target[y] = u[y] + scores[y] * per_curvature;
        top = target[y] > top ? target[y] : top;
      }
      threshold = simplex_threshold(target, classes, top, size, scratch.sorted.data());
    } else {  // an empty row: its loss is the highest cost whatever V is
      const index_t at = std::max_element(scores, scores + classes) - scores;
      for (index_t y = 0; y < classes; ++y) target[y] = y == at ? size : 0.0;
      threshold = 0.0;
    }
    scratch.changed.clear();
    scratch.change.clear();
    for (index_t y = 0; y < classes; ++y) {
      const double fresh = target[y] > threshold ? target[y] - threshold : 0.0;
      const double change = u[y] - fresh;
      if (change == 0.0) continue;
      u[y] = fresh;
      scratch.changed.push_back(static_cast<std::int32_t>(y));
      scratch.change.push_back(change);
      state.bias_weight[y] += change * state.bias;
    }
    rows.axpy_few(i, scratch.changed.data(), scratch.change.data(), std::ssize(scratch.changed),
                  columns, state.v.data());
  }
  state.shrink_beyond = largest > 0.0 ? largest : INFINITY;
}

}  // namespace cutplane
