#include "core/multiclass/extrapolation.hpp"

#include <numeric>

#include "core/base/vectors.hpp"

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

}  // namespace cutplane
