#include "core/ascent/extrapolation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/vectors.hpp"

namespace cutplane {
namespace {

// An extrapolation that meets bounds is tried this often, each time shortened so much.
constexpr int kTries = 3;
constexpr double kShorter = 0.25;
// Two ways are told apart where the square of the sine between them is at least this.
constexpr double kIndependent = 1e-9;
// Of the dual value: a rise that is less than this is rounding, and where it leads, too. Steps
// along it would be long, and v would no longer be what the variables add up to.
constexpr double kRounding = 1e-15;
// Of a number that is gone on from: twice, for v and for the variables are.
constexpr double kRoundings = 2 * 6;

}  // namespace

void Extrapolation::go_on(const Matrix& matrix, Ascent& state) {
  DualVariables& now = state;
  Steps steps = best_steps(state);
  bool done = steps == Steps{};
  const double before = done ? 0.0 : penalised_dual_value(state, now);
  for (int tries = 0; tries < kTries && !done; ++tries) {
    look(matrix, state, steps);
    done = penalised_dual_value(state, further_) > before;
    if (done) {
      std::swap(now, further_);
      state.keep_above();
    }
    for (double& step : steps) step *= kShorter;
  }
  std::swap(earlier_[0], earlier_[1]);
  earlier_[0] = now;
}

Extrapolation::Steps Extrapolation::best_steps(const Ascent& state) const {
  if (earlier_[0].v.empty()) return {};
  // The dual value is a paraboloid over the steps: its rise and its curvature along each way.
  const DualVariables &last = earlier_[0], &before = earlier_[1].v.empty() ? last : earlier_[1];
  const double *v = state.v.data(), *v0 = last.v.data(), *v1 = before.v.data();
  const double* w = state.weights();
  const index_t n = std::ssize(state.alpha), d = std::ssize(state.v);
  double slope0 = 0, slope1 = 0, square0 = 0, square1 = 0, product = 0, size = 0;
#pragma omp simd reduction(+ : slope0, slope1, square0, square1, product, size)
  for (index_t j = 0; j < d; ++j) {
    const double change0 = v[j] - v0[j], change1 = v[j] - v1[j];
    slope0 += change0 * w[j];
    slope1 += change1 * w[j];
    square0 += change0 * change0;
    square1 += change1 * change1;
    product += change0 * change1;
    size += std::abs(v[j] * w[j]);
  }
  if (state.bias != 0.0) {
    const double change0 = state.bias_weight - last.bias_weight;
    const double change1 = state.bias_weight - before.bias_weight;
    const double weight = state.bias_weight + state.bias_center / state.bias;
    slope0 += change0 * weight;
    slope1 += change1 * weight;
    square0 += change0 * change0;
    square1 += change1 * change1;
    product += change0 * change1;
  }
  double rise0 = -slope0, rise1 = -slope1;
  if (state.loss.linear()) {
    const double total = sum(state.alpha.data(), n, 1);
    rise0 += total - sum(last.alpha.data(), n, 1);
    rise1 += total - sum(before.alpha.data(), n, 1);
  } else {
    for (index_t e = 0; e < n; ++e) {
      const double alpha = state.alpha[e];
      const double change0 = alpha - last.alpha[e], change1 = alpha - before.alpha[e];
      if (change0 == 0.0 && change1 == 0.0) continue;
      const DualTerm term = state.loss.at(e);
      const double slope = term.slope(alpha), bend = term.bend(alpha);
      rise0 += slope * change0;
      rise1 += slope * change1;
      square0 += bend * change0 * change0;
      square1 += bend * change1 * change1;
      product += bend * change0 * change1;
    }
  }
  if (std::max(std::abs(rise0), std::abs(rise1)) <= kRounding * size) return {};
  const double determinant = square0 * square1 - product * product;
  if (determinant > kIndependent * square0 * square1)
    return {(rise0 * square1 - rise1 * product) / determinant,
            (rise1 * square0 - rise0 * product) / determinant};
  return {square0 > 0.0 ? std::max(rise0 / square0, 0.0) : 0.0, 0.0};
}

void Extrapolation::look(const Matrix& matrix, const Ascent& state, const Steps& steps) {
  const index_t n = std::ssize(state.alpha), d = std::ssize(state.v);
  const DualVariables &last = earlier_[0], &before = earlier_[1].v.empty() ? last : earlier_[1];
  const auto on = [&](double now, double from_last, double from_before) {
    return now + steps[0] * (now - from_last) + steps[1] * (now - from_before);
  };
  further_.alpha.resize(n);
  further_.v.resize(d);
  beyond_.resize(n);
  double balance = 0;
  for (index_t e = 0; e < n; ++e) {
    const DualTerm term = state.loss.at(e);
    const double wanted = on(state.alpha[e], last.alpha[e], before.alpha[e]);
    further_.alpha[e] = std::clamp(wanted, term.low, term.high);
    beyond_[e] = (further_.alpha[e] - wanted) * term.sign;
    balance += further_.alpha[e] * term.sign;
  }
  // Neither v nor the earlier ones were longer than all changes before, and what each of them is
  // off by, the steps multiply. Then follow the changes that bounds ask for, and a sum of all
  // variables.
  double travelled = 0, changes = 0;
  for (index_t e = 0; e < n; ++e) {
    travelled += std::abs(beyond_[e]);
    changes += beyond_[e] != 0.0;
  }
  const double growth = 1.0 + 2.0 * (std::abs(steps[0]) + std::abs(steps[1]));
  further_.travelled = growth * state.travelled + travelled;
  further_.roundings = state.roundings + kRoundings + changes + static_cast<double>(n);
  double* v = further_.v.data();
  const double *now = state.v.data(), *v0 = last.v.data(), *v1 = before.v.data();
#pragma omp simd
  for (index_t j = 0; j < d; ++j) v[j] = on(now[j], v0[j], v1[j]);
  matrix.add_few(beyond_.data(), v);
  further_.bias_weight = state.bias * balance;
}

}  // namespace cutplane
