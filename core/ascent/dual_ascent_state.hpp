// What dual coordinate ascent reads and changes: see dual_ascent.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

struct DualVariables {
  std::vector<double> alpha;
  std::vector<double> v;
  double bias_weight = 0;  // bias * sum alpha_i y_i
};

struct Ascent : DualVariables {
  const std::int8_t* y;
  const double* upper;  // null: upper_all for every example
  double upper_all;
  const double* per_curvature;      // 1 / (|x_i|² + bias²), 0 for an empty row
  double bias = 0;                  // 0: no intercept
  double bias_center = 0;           // the intercept the proximal term is centred at
  std::vector<std::int32_t> order;  // the active examples first
  index_t active = 0;
  double shrink_above;  // last sweep's extreme violations: beyond them an example at its bound has
                        // settled
  double shrink_below;
  double gain = 0;  // of the dual value in the last sweep
  // |v|² + sum upper_i max(0, 1 - y_i <x_i, v>) - sum alpha_i, the duality gap at v, is the sum of
  // upper_i max(0, -g_i) + alpha_i g_i, g_i = y_i <x_i, v> - 1. Here each term is as the last sweep
  // met its example, and those that rest count for nothing.
  double open_gap = 0;
  std::uint64_t random;
};

// sum_i alpha_i - ½|v|²
double dual_value(const DualVariables& variables);

// What the epochs maximise: the dual value, less the penalty of the proximal method of multipliers.
double penalised_dual_value(const Ascent& state, const DualVariables& variables);

}  // namespace cutplane
