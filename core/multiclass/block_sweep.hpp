// One sweep of dual ascent over the examples' blocks, for any layout of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/deadline.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/columns.hpp"
#include "core/multiclass/ascent_state.hpp"

namespace cutplane {

// One example's block of dual variables: where its lines lie, and the best block for them.

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

// The classes of an example that are looked at, and how many they are.
struct ActiveClasses {
  std::int16_t* list;
  std::int16_t* count;  // null: all of them, always
  index_t classes;

  CUTPLANE_INLINE index_t size() const { return count ? *count : classes; }
};

// The threshold of the projection on the simplex of this size: max(0, target - threshold). `top` is
// the highest of the target; `sorted` is room for as many.
double simplex_threshold(const double* target, index_t count, double top, double size,
                         double* sorted);

// The lines of all classes by their scores; or of those that are looked at, whose scores lie in
// their order (`few`), or each in the place of its class.
BlockLines whole_lines(const BlockAscent& state, index_t e, BlockScratch& scratch);
BlockLines listed_lines(const BlockAscent& state, index_t e, const ActiveClasses& active, bool few,
                        BlockScratch& scratch);

// The best block of an example; or the best for the classes that are looked at, the others as they
// are.
void step_whole(BlockAscent& state, index_t e, double step, double size, BlockScratch& scratch);
void step_listed(BlockAscent& state, index_t e, const ActiveClasses& active, double step,
                 double size, BlockScratch& scratch);

// Classes without weight whose lines lie far below are looked at no more.
void drop_classes(const ActiveClasses& active, const double* u, double below, double* lines);

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
  return active.count ? listed_lines(state, e, active, few, scratch)
                      : whole_lines(state, e, scratch);
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
    if (wide)
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
