// What sweeps over the examples' blocks read and change.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// core/multiclass/ascent.hpp says what is maximised.
struct BlockAscent {
  index_t classes;
  index_t columns;  // classes, rounded up to whole vectors: V and the scores have so many
  const std::int32_t* y;
  const double* cost;               // classes x classes
  std::vector<double> padded_cost;  // classes x columns: so low beyond the classes that none is met
  const double* upper;              // null: upper_all for every example
  double upper_all;
  std::vector<double> per_curvature;  // 1 / (|x_i|² + bias²), 0 for an empty row
  std::vector<double> u;              // n x columns, zero beyond the classes
  LargeArray v;                       // d x columns
  double bias = 0;                    // 0: no intercepts
  std::vector<double> bias_weight;    // columns: bias * V's row of the constant feature
  std::vector<double> bias_center;    // columns: the intercepts the proximal term is centred at
  std::vector<std::int32_t> order;    // the active examples first
  index_t active = 0;
  double shrink_beyond;  // an example or class this far from having a violation has settled
  // Where there are many classes, those looked at come first in an example's list; else one list
  // for all examples, of all classes.
  std::vector<std::int16_t> class_lists;
  std::vector<std::int16_t> active_classes;
  std::uint64_t random;
  // The sum of the gaps that the visits of the last sweep met, each before its step; by the Gram
  // matrix of those that it has left.
  double open_gap = INFINITY;
  // How many classes a step of the last sweep over rows has changed, on average.
  double classes_changed = 0;
};

}  // namespace cutplane
