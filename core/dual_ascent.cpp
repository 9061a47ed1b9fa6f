#include "core/dual_ascent.hpp"

#include <algorithm>
#include <cmath>

#include "core/ascent_scale.hpp"
#include "core/vectors.hpp"

namespace cutplane {

DualAscent::DualAscent(const Matrix& matrix, const std::int8_t* y, const double* upper,
                       double upper_all, bool intercept, std::uint64_t seed, int n_threads)
    : matrix_(matrix) {
  const index_t n = matrix.rows();
  state_.y = y;
  state_.upper = upper;
  state_.upper_all = upper_all;
  AscentScale scale(matrix, intercept, n_threads);
  state_.per_curvature = std::move(scale.per_curvature);
  state_.bias = scale.bias;
  mean_square_ = scale.mean_square;
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
    if (state_.alpha[e] > 0.0 ? gradient > 0.0 : gradient < 0.0 && upper > 0.0)
      std::swap(state_.order[s], state_.order[state_.active++]);
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
  matrix_.ascend(state_);
  // The step of the method of multipliers.
  state_.bias_center += state_.bias * state_.bias_weight;
}

double DualAscent::dual_value() const {
  const double* v = state_.v.data();
  return sum(state_.alpha.data(), std::ssize(state_.alpha), 1) -
         0.5 * inner(v, v, std::ssize(state_.v), 1);
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
