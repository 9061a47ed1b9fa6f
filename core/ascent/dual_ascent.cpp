#include "core/ascent/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ascent/row_ascent.hpp"
#include "core/base/vectors.hpp"
#include "core/matrix/any_rows.hpp"

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

// How fast the sum of the dual variables answers to the intercept says how long the constant
// feature should be. At small C, examples cross their kinks: in proportion to C. At large C, those
// on a kink answer by their own lengths. Measured on news20, its raw counts, TF-IDF text, rcv1,
// w8a, a9a and MNIST, C from 1e-4 to 10: with these, epochs are about as many as without an
// intercept.
constexpr double kPerC = 0.01, kShortest = 0.003, kLongest = 1.0;
// A penalised intercept that is dear has far to go from zero at small C.
constexpr double kLongestPenalised = 100.0;

double best_bias(const AscentScale& scale, double weight, double longest) {
  const double median = scale.median_square();
  const double typical = median > 0.0 ? median : std::max(scale.mean_square, 1e-12);
  return std::sqrt(std::clamp(kPerC / weight, kShortest * typical, longest * typical));
}

// Where examples are few, a certificate takes as long as many sweeps: an epoch then has several, so
// that it reads at least kLeastWork entries. A visit costs about as much as kVisit entries besides
// its own. Chosen on 500 x 5 and digits.
constexpr index_t kLeastWork = 300'000, kVisit = 10;

// ½|v|², or <w, v> - ½|w|² for w = max(v, floor).
double depth(const std::vector<double>& floor, const std::vector<double>& v) {
  const index_t d = std::ssize(v);
  if (floor.empty()) return 0.5 * inner(v.data(), v.data(), d, 1);
  double total = 0;
#pragma omp simd reduction(+ : total)
  for (index_t j = 0; j < d; ++j) {
    const double w = std::max(v[j], floor[j]);
    total += w * (v[j] - 0.5 * w);
  }
  return total;
}

double plain_dual_value(const Ascent& state, const DualVariables& variables) {
  const double* alpha = variables.alpha.data();
  const index_t n = std::ssize(variables.alpha);
  double heights = 0;
  if (state.loss.linear())
    heights = sum(alpha, n, 1);
  else
    for (index_t e = 0; e < n; ++e) heights += state.loss.at(e).height(alpha[e]);
  return heights - depth(state.floor, variables.v);
}

// Variables that meet their bounds leave the others a rest of the imbalance: so often these share
// it anew.
constexpr int kRounds = 8;

// A free variable as a coefficient: where it is, how far it may go, and how readily it moves.
struct Free {
  index_t example;
  double sign, coef, low, high, ready;
};

std::vector<Free> free_ones(const Ascent& state) {
  std::vector<Free> found;
  for (index_t e = 0; e < std::ssize(state.alpha); ++e) {
    const auto term = state.loss.at(e);
    const double alpha = state.alpha[e], per = state.per_curvature[e];
    const DualRoom room = term.room(alpha);
    if (!(room.low < alpha && alpha < room.high) || per == 0.0) continue;
    const double low = term.sign * room.low, high = term.sign * room.high;
    found.push_back({e, term.sign, term.sign * alpha, std::min(low, high), std::max(low, high),
                     per / (1.0 + per * term.bend(alpha))});
  }
  return found;
}

// Dual variables out of balance prove little where an intercept is free: planes must not lean on
// it. The dual variables, moved so that alpha_i sign_i sum to zero (to what the intercept asks for,
// where that is penalised) as far as those between their bounds have room for it. These are where
// the dual value is about greatest, and moving them costs a square of the imbalance; to scale all
// variables of one sign costs in proportion to it.
std::vector<double> balanced_by_free(const Ascent& state) {
  std::vector<double> alpha(state.alpha);
  double lean = state.penalised ? -state.intercept() / (state.constant * state.constant) : 0.0;
  for (index_t e = 0; e < std::ssize(alpha); ++e) lean += state.loss.sign(e) * alpha[e];
  if (lean == 0.0) return alpha;
  std::vector<Free> free = free_ones(state);
  for (int round = 0; round < kRounds && !free.empty() && lean != 0.0; ++round) {
    double ready = 0, moved = 0;
    for (const Free& one : free) ready += one.ready;
    const double each = -lean / ready;
    for (Free& one : free) {
      const double next = std::clamp(one.coef + each * one.ready, one.low, one.high);
      moved += next - one.coef;
      one.coef = next;
      alpha[one.example] = one.sign * next;
    }
    std::erase_if(free,
                  [](const Free& one) { return one.coef <= one.low || one.coef >= one.high; });
    lean += moved;
  }
  return alpha;
}

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

double penalised_dual_value(const Ascent& state, const DualVariables& variables) {
  const double value = plain_dual_value(state, variables), weight = variables.bias_weight;
  return state.bias == 0.0 ? value
                           : value - weight * (0.5 * weight + state.bias_center / state.bias);
}

void DualAscent::keep_above(const double* floor) {
  state_.floor.assign(floor, floor + state_.v.size());
  state_.above.resize(state_.v.size());
  state_.keep_above();
}

std::vector<double> DualAscent::w() const {
  std::vector<double> result(state_.weights(), state_.weights() + state_.v.size());
  if (state_.penalised) result.push_back(state_.intercept() / state_.constant);
  return result;
}

std::vector<double> DualAscent::v() const {
  std::vector<double> result(state_.v);
  if (state_.penalised) result.push_back(state_.constant_weight());
  return result;
}

double DualAscent::dual_value() const {
  if (!state_.penalised) return penalised_dual_value(state_, state_);
  const double lean = state_.lean(), sum = state_.bias_weight / state_.bias;
  const double of_intercept = 0.5 * state_.intercept() * (sum + lean);
  const double of_lean = 0.5 * state_.bias * state_.bias * lean * lean;
  return plain_dual_value(state_, state_) - of_intercept - of_lean;
}

double DualAscent::cost_of_lean() const {
  const double weight = state_.constant * state_.lean();
  return state_.penalised ? 0.5 * weight * weight : 0.0;
}

DualAscent::DualAscent(const Matrix& matrix, const AscentScale& scale, DualLoss loss, double weight,
                       AscentIntercept intercept, std::uint64_t seed)
    : matrix_(matrix) {
  const index_t n = matrix.rows();
  state_.loss = loss;
  state_.penalised = !intercept.free && intercept.constant != 0.0;
  if (intercept.free) state_.bias = best_bias(scale, weight, kLongest);
  if (state_.penalised) {
    // A long feature couples all examples: sweeps go by a shorter one, and by a centre that moves.
    const double best = best_bias(scale, weight, kLongestPenalised);
    state_.constant = intercept.constant;
    state_.bias = std::abs(intercept.constant) <= best ? intercept.constant : best;
    const double share = state_.bias / state_.constant;
    state_.centred = 1.0 - share * share;
  }
  state_.per_curvature = scale.per_curvature(state_.bias);
  state_.alpha.assign(n, 0.0);
  state_.v.assign(matrix.cols(), 0.0);
  state_.order = identity_order(n);
  state_.random = seed;
  sweeps_ = std::max<index_t>(1, kLeastWork / std::max<index_t>(1, matrix.entries() + kVisit * n));
  unshrink();
}

void DualAscent::unshrink() {
  state_.active = std::ssize(state_.order);
  state_.shrink = {};
}

void DualAscent::unshrink(const double* scores) {
  for (index_t s = state_.active; s < std::ssize(state_.order); ++s) {
    const std::int32_t e = state_.order[s];
    if (state_.loss.at(e).wants_to_move(state_.alpha[e], scores[e]))
      std::swap(state_.order[s], state_.order[state_.active++]);
  }
}

void DualAscent::shrink(const double* scores, double distance) {
  unshrink();
  for (index_t s = 0; s < state_.active;) {
    const std::int32_t e = state_.order[s];
    if (state_.loss.at(e).settled(state_.alpha[e], scores[e], distance))
      std::swap(state_.order[s], state_.order[--state_.active]);
    else
      ++s;
  }
}

void DualAscent::resume(const double* coefficients, const double* v, double intercept,
                        double roundings) {
  double balance = 0, travelled = 0;
  for (std::size_t i = 0; i < state_.alpha.size(); ++i) {
    const DualTerm term = state_.loss.at(static_cast<index_t>(i));
    const double given = coefficients[i] * term.sign;
    state_.alpha[i] = std::clamp(given, term.low, term.high);
    if (state_.alpha[i] != given) roundings = INFINITY;  // v is that of other variables
    balance += state_.alpha[i] * term.sign;
    travelled += std::abs(given);
  }
  std::copy_n(v, state_.v.size(), state_.v.begin());
  state_.keep_above();
  state_.bias_weight = state_.bias * balance;
  state_.travelled = travelled;
  state_.roundings = kFewRoundings + roundings + static_cast<double>(state_.alpha.size());
  if (state_.penalised && std::isnan(intercept))
    intercept = state_.constant * state_.constant_weight();
  state_.bias_center = state_.bias != 0.0 ? state_.centred * intercept : 0.0;
  extrapolation_ = {};
  unshrink();
}

void DualAscent::epoch() {
  double gain = 0;
  for (index_t k = 0; k < sweeps_; ++k) {
    sweep();
    gain += state_.gain;
    if (state_.gain == 0.0) break;
  }
  state_.gain = gain;
}

bool DualAscent::go_in_batches(const AscentScale& scale, int n_threads) {
  if (state_.floor.empty()) batches_ = make_batch_ascent(matrix_, scale, state_.loss, n_threads);
  return batches_ != nullptr;
}

void DualAscent::sweep() {
  if (!batches_ || !batches_->sweep(state_)) visit_one_by_one();
  state_.recentre();
}

void DualAscent::visit_one_by_one() {
  visit_rows(matrix_, [&](const auto& rows) {
    using enum DualLoss::Kind;
    if (!state_.floor.empty()) return ascend_floored(rows, state_);
    switch (state_.loss.kind) {
      case hinge:
        return ascend_free<hinge>(rows, state_);
      case quadratic:
        return ascend_free<quadratic>(rows, state_);
      case logistic:
        return ascend_free<logistic>(rows, state_);
    }
  });
}

Climb DualAscent::climb(const ClimbUntil& until) {
  if (!state_.floor.empty()) return {};
  const Climb done = face_.climb(matrix_, state_, until);
  if (done.products > 0) state_.roundings = INFINITY;  // nobody counts those of a climb
  return done;
}

double DualAscent::share_at_bounds() const {
  index_t moved = 0, at_bounds = 0;
  for (std::size_t i = 0; i < state_.alpha.size(); ++i) {
    const DualTerm term = state_.loss.at(static_cast<index_t>(i));
    const double alpha = state_.alpha[i];
    moved += alpha != 0.0;
    at_bounds += alpha != 0.0 && (alpha <= term.low || alpha >= term.high);
  }
  return moved == 0 ? 0.0 : static_cast<double>(at_bounds) / static_cast<double>(moved);
}

std::vector<double> DualAscent::coefficients(double scale, bool balanced) const {
  std::vector<double> coef = balanced ? balanced_by_free(state_) : state_.alpha;
  double positive = 0, negative = 0;
  for (std::size_t i = 0; i < coef.size(); ++i) {
    coef[i] *= -state_.loss.sign(static_cast<index_t>(i));
    (coef[i] < 0.0 ? positive : negative) += std::abs(coef[i]);
  }
  const double least = std::min(positive, negative);
  const bool even = balanced && !state_.penalised;
  const double on_positive = even && positive > 0 ? scale * (least / positive) : scale;
  const double on_negative = even && negative > 0 ? scale * (least / negative) : scale;
  for (double& value : coef) value *= value < 0.0 ? on_positive : on_negative;
  return coef;
}

}  // namespace cutplane
