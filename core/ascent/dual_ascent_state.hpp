// What dual coordinate ascent reads and changes: see dual_ascent.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/ascent/dual_losses.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

// Of a change: its difference, its product with an entry, and its sum with v.
inline constexpr double kFewRoundings = 4;

using DualLoss = std::variant<HingeDual, QuadraticDual, LogisticDual>;

struct DualVariables {
  std::vector<double> alpha;
  std::vector<double> v;
  double bias_weight = 0;  // bias * sum alpha_i sign_i
  // How far v can be from what the variables add up to, by rounding. With m_j the sizes of all
  // changes of variables so far, each times |x_ij|, |v_j| <= m_j but for rounding, and v_j is off
  // by at most gamma(roundings) m_j: a change rounds v_j once, which is at most m_j, and its own
  // product, as the first few do. `travelled` is the sum of the sizes of the changes.
  double travelled = 0;
  double roundings = kFewRoundings;
};

struct Ascent : DualVariables {
  DualLoss loss;
  std::vector<double> floor;          // what no weight falls below; empty: nothing
  std::vector<double> above;          // max(v, floor), where there is a floor
  std::vector<double> per_curvature;  // 1 / (|x_i|² + bias²), 0 for an empty row
  double bias = 0;                    // 0: no intercept
  bool penalised = false;  // the constant feature is one of the features, and stays as it is
  double bias_center = 0;  // the intercept the proximal term is centred at
  std::vector<std::int32_t> order;  // the active examples first
  index_t active = 0;
  ShrinkBounds shrink;
  double gain = 0;  // of the dual value in the last sweep
  // The duality gap at v is a sum over the examples. Here each term is as the last sweep met its
  // example, and those that rest count for nothing.
  double open_gap = 0;
  std::uint64_t random;

  // The weights that v stands for: v, but not below the floor.
  const double* weights() const { return floor.empty() ? v.data() : above.data(); }
  void keep_above() {
    for (std::size_t j = 0; j < floor.size(); ++j) above[j] = std::max(v[j], floor[j]);
  }
};

// sum_i height_i(alpha_i) - <w, v> + ½|w|², w being the weights: ½|v|² is what is left without a
// floor. Of this, the penalty of the proximal method of multipliers is taken off: it is what the
// epochs maximise, and about what is left of the dual value once the coefficients are in balance.
double penalised_dual_value(const Ascent& state, const DualVariables& variables);

}  // namespace cutplane
