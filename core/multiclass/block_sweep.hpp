// One sweep of dual ascent over the examples' blocks, for any layout of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/base/deadline.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/columns.hpp"
#include "core/multiclass/ascent_state.hpp"
#include "core/multiclass/whole_block.hpp"

namespace cutplane {

// Visits from one look at the clock to the next.
constexpr index_t kVisitsPerLook = 64;

// V += row e times the changes of its block: of a few classes one by one, else of all classes side
// by side.
template <class Rows>
CUTPLANE_INLINE void move_weights(const Rows& rows, index_t e, BlockAscent& state,
                                  BlockScratch& scratch) {
  const index_t count = scratch.changes, i = rows.at(e);
  const std::int32_t* changed = scratch.changed.data();
  const double* change = scratch.change.data();
  if (count <= kFewColumns || few_columns(count, state.columns))
    return rows.axpy_few(i, changed, change, count, state.columns, state.v.data());
  for (index_t c = 0; c < count; ++c) scratch.by_class[changed[c]] = change[c];
  rows.axpy_many(i, scratch.by_class.data(), state.columns, state.v.data());
  for (index_t c = 0; c < count; ++c) scratch.by_class[changed[c]] = 0.0;
}

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

// The classes of an example that are looked at, and how many they are.
struct ActiveClasses {
  std::int16_t* list;
  std::int16_t* count;  // null: all of them, always
  index_t classes;

  CUTPLANE_INLINE index_t size() const { return count ? *count : classes; }
};

template <class Rows>
CUTPLANE_INLINE BlockLines block_lines(const Rows& rows, const BlockAscent& state, index_t e,
                                       const ActiveClasses& active, BlockScratch& scratch) {
  const index_t i = rows.at(e), count = active.size();
  double* scores = scratch.scores.data();
  const bool few = few_columns(count, state.columns);
  if (few) {
    rows.dot_few(i, active.list, count, state.columns, state.v.data(), scores);
  } else {
    rows.dot_many(i, state.v.data(), state.columns, scores);
  }
  if (!active.count) return whole_lines(state, e, scratch);
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

// The best block of an example for the classes that are looked at, the others as they are.
CUTPLANE_INLINE void step_listed(BlockAscent& state, index_t e, const ActiveClasses& active,
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

// Classes without weight whose lines lie far below are looked at no more.
CUTPLANE_INLINE void drop_classes(const ActiveClasses& active, const double* u, double below,
                                  double* lines) {
  if (!active.count) return;
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

template <class Rows>
CUTPLANE_MULTIVERSION void ascend_row_blocks(const Rows& rows, BlockAscent& state,
                                             const Deadline& deadline) {
  shuffle_runs(state.order, state.active, state.random);
  const index_t classes = state.classes;
  const bool wide = !state.active_classes.empty();
  BlockScratch scratch(state.columns);
  double violations = 0, open = 0;
  index_t s = 0, steps = 0, changes = 0;
  while (s < state.active) {
    if (s % kVisitsPerLook == 0 && deadline.passed()) break;
    if (s + 2 * kAhead < state.active) prefetch_block(state, state.order[s + 2 * kAhead]);
    if (s + kAhead < state.active) rows.prefetch(rows.at(state.order[s + kAhead]));
    const index_t e = state.order[s];
    const double size = state.upper ? state.upper[e] : state.upper_all;
    const ActiveClasses active{state.class_lists.data() + (wide ? e * classes : 0),
                               wide ? state.active_classes.data() + e : nullptr, classes};
    const BlockLines found = block_lines(rows, state, e, active, scratch);
    const double violation = found.highest - found.lowest;
    if (size <= 0.0 || (violation <= 0.0 && found.lowest - found.next > state.shrink_beyond)) {
      std::swap(state.order[s], state.order[--state.active]);
      continue;
    }
    ++s;
    if (violation <= 1e-14) continue;
    violations += violation;
    open += size * found.highest - found.mixed;
    // An empty row's loss is its highest cost whatever V is: a huge step takes it there.
    const double step = state.per_curvature[e] > 0.0 ? state.per_curvature[e] : 1e30;
    if (wide) {
      step_listed(state, e, active, step, size, scratch);
    } else {
      step_whole(state, e, step, size, scratch);
    }
    move_weights(rows, e, state, scratch);
    ++steps;
    changes += scratch.changes;
    drop_classes(active, state.u.data() + e * state.columns, found.lowest - state.shrink_beyond,
                 scratch.lines.data());
  }
  state.open_gap = s < state.active ? INFINITY : open;
  state.classes_changed =
      static_cast<double>(changes) / static_cast<double>(std::max<index_t>(steps, 1));
  // What is further from mattering than a typical violation has settled, for now.
  state.shrink_beyond =
      violations > 0.0 ? violations / static_cast<double>(state.active) : INFINITY;
}

}  // namespace cutplane
