// What dual coordinate ascent reads and changes: see dual_ascent.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ascent/dual_losses.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

// Of a change: its difference, its product with an entry, and its sum with v.
inline constexpr double kFewRoundings = 4;

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
  // The constant feature that sweeps go by; 0: no intercept. A penalised intercept is that of a
  // longer one, or of this.
  double bias = 0;
  bool penalised = false;
  double constant = 0;  // where penalised: the feature itself
  // What scores have of the intercept besides bias * bias_weight: a share, `centred`, of the one
  // that the proximal term is centred at. The share is all of it where nothing is penalised, and
  // nothing where the constant feature is as long as the one that sweeps go by.
  double bias_center = 0;
  double centred = 1;
  std::vector<std::int32_t> order;  // the active examples first
  index_t active = 0;
  ShrinkBounds shrink;
  double gain = 0;  // of the dual value in the last sweep
  // The duality gap at v is a sum over the examples. Here each term is as the last sweep met its
  // example, and those that rest count for nothing.
  double open_gap = 0;
  std::uint64_t random;

  // Of a penalised intercept: the weight of its feature, as the variables have it.
  double constant_weight() const { return bias == 0.0 ? 0.0 : constant / bias * bias_weight; }
  // The intercept that sweeps have come to, and the step of the method of multipliers towards it.
  double intercept() const {
    return centred > 0.0 ? bias_center / centred : bias * bias_weight + bias_center;
  }
  // Of sum_i alpha_i sign_i: by how much it is off from what a penalised intercept asks for, which
  // is 0 where it is free.
  double lean() const {
    const double sum = bias == 0.0 ? 0.0 : bias_weight / bias;
    return penalised ? sum - intercept() / (constant * constant) : sum;
  }
  void recentre() { bias_center = centred * (bias_center + bias * bias_weight); }

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
