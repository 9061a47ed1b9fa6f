// One example's block of dual variables: where its lines lie, and the best block for them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

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

}  // namespace cutplane
