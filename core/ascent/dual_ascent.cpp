#include "core/ascent/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ascent/row_ascent.hpp"
#include "core/base/vectors.hpp"
#include "core/matrix/any_rows.hpp"

namespace cutplane {

double dual_value(const DualVariables& variables) {
  const double* v = variables.v.data();
  return sum(variables.alpha.data(), std::ssize(variables.alpha), 1) -
         0.5 * inner(v, v, std::ssize(variables.v), 1);
}

double penalised_dual_value(const Ascent& state, const DualVariables& variables) {
  const double value = dual_value(variables), weight = variables.bias_weight;
  return state.bias == 0.0 ? value
                           : value - weight * (0.5 * weight + state.bias_center / state.bias);
}

DualAscent::DualAscent(const Matrix& matrix, std::shared_ptr<const AscentScale> scale,
                       const std::int8_t* y, const double* upper, double upper_all,
                       std::uint64_t seed)
    : matrix_(matrix), scale_(std::move(scale)) {
  const index_t n = matrix.rows();
  state_.y = y;
  state_.upper = upper;
  state_.upper_all = upper_all;
  state_.per_curvature = scale_->per_curvature.data();
  state_.bias = scale_->bias;
  state_.alpha.assign(n, 0.0);
  state_.v.assign(matrix.cols(), 0.0);
  state_.order = identity_order(n);
  state_.random = seed;
  unshrink();
}

void DualAscent::unshrink() {
  state_.active = std::ssize(state_.order);
  state_.shrink_above = INFINITY;
  state_.shrink_below = -INFINITY;
}

void DualAscent::unshrink(const double* scores) {
  for (index_t s = state_.active; s < std::ssize(state_.order); ++s) {
    const std::int32_t e = state_.order[s];
    const double gradient = state_.y[e] * scores[e] - 1.0;
    const double upper = state_.upper ? state_.upper[e] : state_.upper_all;
    if ((gradient > 0.0 && state_.alpha[e] > 0.0) || (gradient < 0.0 && state_.alpha[e] < upper))
      std::swap(state_.order[s], state_.order[state_.active++]);
  }
}

void DualAscent::shrink(const double* scores, double distance) {
  unshrink();
  for (index_t s = 0; s < state_.active;) {
    const std::int32_t e = state_.order[s];
    const double gradient = state_.y[e] * scores[e] - 1.0;
    const double upper = state_.upper ? state_.upper[e] : state_.upper_all;
    const bool settled = (gradient > distance && state_.alpha[e] == 0.0) ||
                         (gradient < -distance && state_.alpha[e] == upper);
    if (settled)
      std::swap(state_.order[s], state_.order[--state_.active]);
    else
      ++s;
  }
}

void DualAscent::start(double fraction, const double* all) {
  double balance = 0;
  for (std::size_t i = 0; i < state_.alpha.size(); ++i) {
    state_.alpha[i] = fraction * (state_.upper ? state_.upper[i] : state_.upper_all);
    balance += state_.alpha[i] * state_.y[i];
  }
  for (std::size_t j = 0; j < state_.v.size(); ++j) state_.v[j] = fraction * all[j];
  state_.bias_weight = state_.bias * balance;
  unshrink();
}

void DualAscent::resume(const double* alpha, const double* v, double intercept) {
  double balance = 0;
  for (std::size_t i = 0; i < state_.alpha.size(); ++i) {
    state_.alpha[i] = alpha[i];
    balance += alpha[i] * state_.y[i];
  }
  std::copy_n(v, state_.v.size(), state_.v.begin());
  state_.bias_weight = state_.bias * balance;
  state_.bias_center = state_.bias > 0.0 ? intercept : 0.0;
  unshrink();
}

void DualAscent::epoch() {
  visit_rows(matrix_, [&](const auto& rows) { ascend_rows(rows, state_); });
  // The step of the method of multipliers.
  state_.bias_center += state_.bias * state_.bias_weight;
}

double DualAscent::share_at_bounds() const {
  index_t above = 0, at_bounds = 0;
  for (std::size_t e = 0; e < state_.alpha.size(); ++e) {
    above += state_.alpha[e] > 0.0;
    const double upper = state_.upper ? state_.upper[e] : state_.upper_all;
    at_bounds += state_.alpha[e] > 0.0 && state_.alpha[e] >= upper;
  }
  return above == 0 ? 0.0 : static_cast<double>(at_bounds) / static_cast<double>(above);
}

std::vector<double> DualAscent::coefficients(double scale, bool balanced) const {
  double positive = 0, negative = 0;
  for (std::size_t i = 0; i < state_.alpha.size(); ++i)
    (state_.y[i] > 0 ? positive : negative) += state_.alpha[i];
  const double least = std::min(positive, negative);
  const double on_positive = balanced && positive > 0 ? scale * (least / positive) : scale;
  const double on_negative = balanced && negative > 0 ? scale * (least / negative) : scale;
  std::vector<double> coef(state_.alpha.size());
  for (std::size_t i = 0; i < coef.size(); ++i)
    coef[i] = -state_.y[i] * state_.alpha[i] * (state_.y[i] > 0 ? on_positive : on_negative);
  return coef;
}

}  // namespace cutplane
