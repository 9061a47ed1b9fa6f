#include "core/multiclass/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/ascent/ascent_scale.hpp"
#include "core/base/vectors.hpp"
#include "core/matrix/any_rows.hpp"
#include "core/matrix/columns.hpp"
#include "core/multiclass/block_sweep.hpp"

namespace cutplane {
namespace {

Blocks active_blocks(const BlockAscent& state) { return make_blocks(state.active, 512, 64); }

// body(example) for those that are active, on all threads; each has so many numbers.
template <class Body>
void for_active(const BlockAscent& state, int n_threads, Body&& body) {
  for_blocks(active_blocks(state), useful_threads(n_threads, state.active * state.classes),
             [&](index_t, index_t begin, index_t end) {
               for (index_t s = begin; s < end; ++s) body(state.order[s]);
             });
}

// From so many classes on, an example keeps a list of those that matter to it.
constexpr index_t kManyClasses = 24;
// Doubles in a line of the cache.
constexpr index_t kLine = 8;
// Of what is no class: finite, so that it can be multiplied by the weight it has not.
constexpr double kNoCost = -1e300;

// The sum of term(i), each over `work` numbers.
template <class Term>
double sum_in_blocks(index_t size, index_t work, int n_threads, Term&& term) {
  const Blocks blocks = make_blocks(size, 1024, 64);
  std::vector<double> partial(blocks.count, 0.0);
  for_blocks(blocks, useful_threads(n_threads, size * work),
             [&](index_t b, index_t begin, index_t end) {
               double sum = 0;
               for (index_t i = begin; i < end; ++i) sum += term(i);
               partial[b] = sum;
             });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace

void BlockExtrapolation::go_on(const Matrix& matrix, BlockAscent& state, int n_threads) {
  const index_t k = state.classes, columns = state.columns, size = matrix.cols() * columns;
  if (before_.empty()) {
    before_ = state.u;
    coef_ = LargeArray(static_cast<std::size_t>(matrix.rows() * columns));
    direction_ = LargeArray(static_cast<std::size_t>(size));
    return;
  }
  double along = aim(state, n_threads);
  matrix.combine(coef_.data(), columns, direction_.data(), n_threads);
  along += inner(state.v.data(), direction_.data(), size, n_threads);
  double square = inner(direction_.data(), direction_.data(), size, n_threads);
  std::vector<double> sums(columns, 0.0);  // of the coefficients by class: the constant feature's
  if (state.bias > 0.0) {
    for (index_t s = 0; s < state.active; ++s)
      for (index_t y = 0; y < k; ++y) sums[y] += coef_.data()[state.order[s] * columns + y];
    for (index_t y = 0; y < k; ++y) {
      along += sums[y] * (state.bias * state.bias_weight[y] + state.bias_center[y]);
      square += state.bias * state.bias * sums[y] * sums[y];
    }
  }
  const double share = reach_.take(square > 0.0 ? along / square : 0.0);
  for_active(state, n_threads, [&](index_t e) {
    double *u = state.u.data() + e * columns, *before = before_.data() + e * columns,
           *coef = coef_.data() + e * columns;
    for (index_t y = 0; y < k; ++y) {
      before[y] = u[y];
      u[y] += share * coef[y];
      coef[y] = 0.0;
    }
  });
  for (index_t y = 0; y < k; ++y) state.bias_weight[y] -= share * state.bias * sums[y];
  double *v = state.v.data(), *direction = direction_.data();
  for_blocks(make_blocks(size, 1 << 15, 64), useful_threads(n_threads, size),
             [&](index_t, index_t begin, index_t end) {
               for (index_t j = begin; j < end; ++j) v[j] -= share * direction[j];
             });
}

double BlockExtrapolation::aim(const BlockAscent& state, int n_threads) {
  const index_t k = state.classes;
  const Blocks blocks = active_blocks(state);
  std::vector<double> costs(blocks.count, 0.0);
  for_blocks(blocks, useful_threads(n_threads, state.active * k),
             [&](index_t b, index_t begin, index_t end) {
               for (index_t s = begin; s < end; ++s) {
                 const index_t e = state.order[s];
                 const double *u = state.u.data() + e * state.columns,
                              *before = before_.data() + e * state.columns,
                              *cost = state.cost + state.y[e] * k;
                 double* coef = coef_.data() + e * state.columns;
                 aim_on_simplex(
                     k, reach_.now(), [&](index_t y) { return u[y]; },
                     [&](index_t y) { return before[y]; },
                     [&](index_t y) -> double& { return coef[y]; });
                 for (index_t y = 0; y < k; ++y) costs[b] += coef[y] * cost[y];
               }
             });
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

BlockDualAscent::BlockDualAscent(const Matrix& matrix, index_t classes, const std::int32_t* y,
                                 const double* cost, const double* upper, double upper_all,
                                 bool intercept, std::uint64_t seed, int n_threads)
    : matrix_(matrix), n_threads_(n_threads) {
  const index_t n = matrix.rows();
  state_.classes = classes;
  state_.columns = padded_columns(classes);
  state_.y = y;
  state_.cost = cost;
  state_.upper = upper;
  state_.upper_all = upper_all;
  std::vector<double> squares(n);
  matrix.squared_norms(squares.data(), n_threads);
  const AscentScale scale(std::move(squares));
  state_.bias = intercept ? scale.typical_bias() : 0.0;
  state_.per_curvature = scale.per_curvature(state_.bias);
  mean_square_ = scale.mean_square;
  state_.u.assign(n * state_.columns, 0.0);
  for (index_t i = 0; i < n; ++i)
    state_.u[i * state_.columns + y[i]] = upper ? upper[i] : upper_all;
  state_.padded_cost.assign(classes * state_.columns, kNoCost);
  for (index_t k = 0; k < classes; ++k)
    std::copy_n(cost + k * classes, classes, state_.padded_cost.data() + k * state_.columns);
  const Met met = state_.columns >= kLine ? Met::together : Met::alone;
  state_.v = LargeArray(static_cast<std::size_t>(matrix.cols() * state_.columns), met);
  state_.bias_weight.assign(state_.columns, 0.0);
  state_.bias_center.assign(state_.columns, 0.0);
  state_.order = identity_order(n);
  state_.random = seed;
  const bool wide = classes >= kManyClasses;
  state_.class_lists.resize((wide ? n : 1) * classes);
  for (std::size_t j = 0; j < state_.class_lists.size(); ++j)
    state_.class_lists[j] = static_cast<std::int16_t>(j % static_cast<std::size_t>(classes));
  state_.active_classes.resize(wide ? n : 0);
  unshrink();
}

void BlockDualAscent::unshrink() {
  state_.active = std::ssize(state_.order);
  state_.shrink_beyond = INFINITY;
  std::fill(state_.active_classes.begin(), state_.active_classes.end(),
            static_cast<std::int16_t>(state_.classes));
}

void BlockDualAscent::epoch(const Deadline& deadline) {
  if (gram_) {
    ascend_blocks_by_gram(matrix_, gram_, state_, deadline, n_threads_);
  } else {
    visit_rows(matrix_, [&](const auto& rows) { ascend_row_blocks(rows, state_, deadline); });
  }
  if (++epochs_ == revival_) {
    unshrink();
    revival_ *= 2;
  }
  // The step of the method of multipliers.
  for (index_t y = 0; y < state_.classes; ++y)
    state_.bias_center[y] += state_.bias * state_.bias_weight[y];
}

double BlockDualAscent::dual_value() const {
  const index_t classes = state_.classes;
  const double cost = sum_in_blocks(examples(), classes, n_threads_, [&](index_t i) {
    const double* costs = state_.cost + state_.y[i] * classes;
    const double* u = state_.u.data() + i * state_.columns;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t y = 0; y < classes; ++y) sum += u[y] * costs[y];
    return sum;
  });
  const double norm = sum_in_blocks(features(), state_.columns, n_threads_, [&](index_t j) {
    const double* v = state_.v.data() + j * state_.columns;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t y = 0; y < state_.columns; ++y) sum += v[y] * v[y];
    return sum;
  });
  return cost - 0.5 * norm;
}

double BlockDualAscent::coefficients(double scale, double* coef) const {
  const index_t classes = state_.classes;
  return sum_in_blocks(examples(), classes, n_threads_, [&](index_t i) {
    const index_t k = state_.y[i];
    const double* costs = state_.cost + k * classes;
    const double* u = state_.u.data() + i * state_.columns;
    double* mine = coef + i * classes;
    // Next to examples of tiny lengths the projection's targets are huge, and its result is off its
    // simplex by their rounding: a block that is too large would prove too much.
    const double size = state_.upper ? state_.upper[i] : state_.upper_all;
    double others = 0;
    for (index_t y = 0; y < classes; ++y)
      if (y != k) others += u[y];
    const double within = others > size ? scale * (size / others) : scale;
    double own = 0, offset = 0;
    for (index_t y = 0; y < classes; ++y) {
      mine[y] = within * u[y];
      offset += mine[y] * costs[y];
      if (y != k) own += mine[y];
    }
    mine[k] = -own;
    return offset;
  });
}

void BlockDualAscent::weights(double* out) const {
  for_blocks(make_blocks(features(), 1024, 64),
             useful_threads(n_threads_, features() * state_.classes),
             [&](index_t, index_t begin, index_t end) {
               for (index_t j = begin; j < end; ++j)
                 std::copy_n(state_.v.data() + j * state_.columns, state_.classes,
                             out + j * state_.classes);
             });
}

}  // namespace cutplane
