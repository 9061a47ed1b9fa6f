#include "core/ascent/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/multiversion.hpp"
#include "core/base/vectors.hpp"
#include "core/matrix/any_rows.hpp"

namespace cutplane {
namespace {

// Products before a way that has left the box is given up for the face that it met: a few at least,
// for a variable that is barely free would end every one of them at once.
constexpr index_t kLeastProducts = 5;
// What is left of a gradient that counts as zero: squared, relative to the first.
constexpr double kSolved = 1e-24;
// Of the gap that the variables on bounds leave: what the free ones may. To solve more closely for
// these is in vain where those will leave their bounds.
constexpr double kProportion = 0.1;

bool has_free_intercept(const Ascent& state) { return state.bias != 0.0 && !state.penalised; }

using Examples = std::vector<std::int32_t>;

template <class Rows>
CUTPLANE_MULTIVERSION void add_rows(const Rows& rows, const Examples& examples,
                                    const std::vector<double>& coef, double* out) {
  for (std::size_t k = 0; k < examples.size(); ++k)
    if (coef[k] != 0.0) rows.axpy(rows.at(examples[k]), coef[k], out);
}

template <class Rows>
CUTPLANE_MULTIVERSION void score_rows(const Rows& rows, const Examples& examples, const double* w,
                                      std::vector<double>& out) {
  for (std::size_t k = 0; k < examples.size(); ++k) out[k] = rows.dot(rows.at(examples[k]), w);
}

void score(const Matrix& matrix, const Examples& examples, const double* w,
           std::vector<double>& out) {
  out.resize(examples.size());
  visit_rows(matrix, [&](const auto& rows) { score_rows(rows, examples, w, out); });
}

}  // namespace

void Face::collect(const Ascent& state) {
  // In the order of the matrix, passes find the next row in the cache.
  examples_.assign(state.order.begin(), state.order.begin() + state.active);
  std::sort(examples_.begin(), examples_.end());
  free_.clear();
  others_.clear();
  std::erase_if(examples_, [&](std::int32_t e) {
    const DualTerm term = state.loss.at(e);
    const double alpha = state.alpha[e], per = state.per_curvature[e];
    const DualRoom room = term.room(alpha);
    if (!(room.low < alpha && alpha < room.high) || per == 0.0) {
      others_.push_back(e);
      return true;
    }
    const double bend = term.bend(alpha), low = term.sign * room.low, high = term.sign * room.high;
    free_.push_back({term.sign, term.sign * alpha, std::min(low, high), std::max(low, high), bend,
                     per / (1.0 + per * bend)});
    return false;
  });
}

void Face::differentiate(const Matrix& matrix, const Ascent& state) {
  score(matrix, examples_, state.v.data(), first_);
  const double shift = state.penalised ? state.constant * state.constant_weight() : 0.0;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const std::int32_t e = examples_[k];
    first_[k] = free_[k].sign * state.loss.at(e).slope(state.alpha[e]) - first_[k] - shift;
  }
}

double Face::best_intercept(const Ascent& state) const {
  if (!has_free_intercept(state)) return 0.0;
  double total = 0, weight = 0;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    total += free_[k].per_curvature * gradient_[k];
    weight += free_[k].per_curvature;
  }
  return total / weight;
}

double Face::curvature(const Matrix& matrix, const Ascent& state, const std::vector<double>& way) {
  std::fill(combined_.begin(), combined_.end(), 0.0);
  visit_rows(matrix, [&](const auto& rows) { add_rows(rows, examples_, way, combined_.data()); });
  constant_ = state.constant * std::accumulate(way.begin(), way.end(), 0.0);
  double total = inner(combined_.data(), combined_.data(), std::ssize(combined_), 1);
  for (std::size_t k = 0; k < way.size(); ++k) total += free_[k].bend * way[k] * way[k];
  return total + constant_ * constant_;
}

void Face::advance(const Matrix& matrix, const Ascent& state, double step) {
  score(matrix, examples_, combined_.data(), scores_);
  const double constant = state.constant * constant_;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    way_[k] += step * direction_[k];
    gradient_[k] -= step * (scores_[k] + free_[k].bend * direction_[k] + constant);
  }
}

void Face::balance(double imbalance) {
  double weight = 0;
  for (const Free& one : free_) weight += one.per_curvature;
  for (std::size_t k = 0; k < free_.size(); ++k)
    direction_[k] = -imbalance * free_[k].per_curvature / weight;
}

double Face::look_at_others(const Matrix& matrix, Ascent& state) {
  gradient_ = first_;
  const double shift =
      has_free_intercept(state) ? best_intercept(state) : state.constant * state.constant_weight();
  const index_t active = state.active, awake = std::ssize(others_);
  others_.insert(others_.end(), state.order.begin() + active, state.order.end());
  score(matrix, others_, state.v.data(), scores_);
  double open = 0;
  for (index_t k = 0; k < std::ssize(others_); ++k) {
    const std::int32_t e = others_[k];
    const DualTerm term = state.loss.at(e);
    const double there = scores_[k] + shift;
    open += term.open(state.alpha[e], there);
    if (k >= awake && term.wants_to_move(state.alpha[e], there))
      std::swap(state.order[active + k - awake], state.order[state.active++]);
  }
  return open;
}

index_t Face::solve(const Matrix& matrix, const Ascent& state, const ClimbUntil& until) {
  const std::size_t n = free_.size();
  gradient_ = first_;
  way_.assign(n, 0.0);
  direction_.assign(n, 0.0);
  index_t products = 0;
  const double imbalance = has_free_intercept(state) ? state.bias_weight / state.bias : 0.0;
  if (imbalance != 0.0) {
    balance(imbalance);
    curvature(matrix, state, direction_);
    advance(matrix, state, 1.0);
    ++products;
  }
  double before = INFINITY, first = 0;
  for (;; ++products) {
    intercept_ = best_intercept(state);
    double now = 0, open = 0;
    bool outside = false;
    for (std::size_t k = 0; k < n; ++k) {
      const Free& one = free_[k];
      const double gradient = gradient_[k] - intercept_, coef = one.coef + way_[k];
      now += gradient * gradient * one.per_curvature;
      open += std::abs(gradient) * (gradient > 0.0 ? one.high - coef : coef - one.low);
      outside = outside || coef < one.low || coef > one.high;
    }
    first = std::max(first, now);
    if (now <= kSolved * first || (!outside && open <= until.gap)) break;
    if (products >= until.products || until.deadline.passed() ||
        (outside && products >= kLeastProducts))
      break;
    const double kept = now / before;  // none at first
    for (std::size_t k = 0; k < n; ++k)
      direction_[k] = (gradient_[k] - intercept_) * free_[k].per_curvature + kept * direction_[k];
    before = now;
    const double bent = curvature(matrix, state, direction_);
    if (!(bent > 0.0)) break;
    advance(matrix, state, now / bent);
  }
  return products;
}

double Face::move(const Matrix& matrix, Ascent& state) {
  met_ = false;
  double slope = 0, total = 0;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const Free& one = free_[k];
    const double end = std::clamp(one.coef + way_[k], one.low, one.high);
    met_ = met_ || end == one.low || end == one.high;
    way_[k] = end - one.coef;
    slope += (first_[k] - intercept_) * way_[k];
    total += way_[k];
  }
  const double bent = curvature(matrix, state, way_);
  if (!(slope > 0.0 && bent > 0.0)) return 0.0;
  const double step = std::min(1.0, slope / bent);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const Free& one = free_[k];
    const double end = std::clamp(one.coef + step * way_[k], one.low, one.high);
    state.alpha[examples_[k]] = one.sign * end;
  }
  for (std::size_t j = 0; j < combined_.size(); ++j) state.v[j] += step * combined_[j];
  state.bias_weight += step * state.bias * total;
  state.bias_center = has_free_intercept(state)
                          ? intercept_
                          : state.centred * state.constant * state.constant_weight();
  return step * (slope - 0.5 * step * bent);
}

Climb Face::climb(const Matrix& matrix, Ascent& state, const ClimbUntil& until) {
  Climb done;
  combined_.resize(state.v.size());
  if (!state.loss.parabolas()) return done;
  double rise = 0;
  do {
    collect(state);
    if (free_.empty()) break;
    differentiate(matrix, state);
    const double others = look_at_others(matrix, state);
    const double gap = until.gap > 0.0 ? std::max(until.gap, kProportion * others) : 0.0;
    const index_t products =
        solve(matrix, state,
              {.products = until.products - done.products, .gap = gap, .deadline = until.deadline});
    if (products == 0) break;
    done.products += 2 + products;
    rise = move(matrix, state);
    done.rise += rise;
    done.stands = rise > 0.0 && !met_;
  } while (rise > 0.0 && met_ && done.products < until.products && !until.deadline.passed());
  return done;
}

}  // namespace cutplane
