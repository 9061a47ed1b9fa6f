#include "core/multiclass/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/multiclass/block_sweep.hpp"

namespace cutplane {
namespace multiclass {

// How far above the lowest line with weight the highest lies, for m examples whose lines are side
// by side; idle is zero for a line with weight, else infinite.
CUTPLANE_MULTIVERSION void measure_violations(const double* lines, const double* idle,
                                              index_t classes, index_t m, double* __restrict high,
                                              double* __restrict violations) {
  for (index_t a = 0; a < m; ++a) high[a] = -INFINITY, violations[a] = INFINITY;
  for (index_t y = 0; y < classes; ++y) {
    const double* __restrict z = lines + y * m;
    const double* __restrict without = idle + y * m;
#pragma omp simd
    for (index_t a = 0; a < m; ++a) {
      high[a] = z[a] > high[a] ? z[a] : high[a];
      const double weighted = z[a] + without[a];
      violations[a] = weighted < violations[a] ? weighted : violations[a];
    }
  }
#pragma omp simd
  for (index_t a = 0; a < m; ++a) violations[a] = high[a] - violations[a];
}

CUTPLANE_MULTIVERSION void add_products(const float* __restrict products, double change, index_t m,
                                        double* __restrict lines) {
#pragma omp simd
  for (index_t a = 0; a < m; ++a) lines[a] += change * static_cast<double>(products[a]);
}

}  // namespace multiclass

namespace {

// A sweep ends when the largest violation has come down to this fraction, or after so many steps an
// example: then it looks at all of them again.
constexpr double kDone = 0.3;
constexpr index_t kStepsPerExample = 25;
// A round goes to the examples with at least this fraction of the largest violation: with less,
// most steps are spent on what others would have settled; with more, on looking.
constexpr double kLarge = 0.3;

// The examples that matter for now, their lines and their part of the Gram matrix, by class.
class ActiveBlocks {
 public:
  ActiveBlocks(const BlockAscent& state, const float* gram, std::vector<std::int32_t> examples,
               const double* scores)
      : examples_(std::move(examples)),
        m_(std::ssize(examples_)),
        classes_(state.classes),
        gram_(m_ * m_),
        lines_(classes_ * m_),
        idle_(classes_ * m_),
        violations_(m_),
        highest_(m_) {
    const auto n = static_cast<index_t>(state.order.size());
    const double constant = state.bias * state.bias;
    for (index_t a = 0; a < m_; ++a) {
      const index_t e = examples_[a];
      const double* cost = state.cost + state.y[e] * classes_;
      for (index_t b = 0; b < m_; ++b)
        gram_[a * m_ + b] = static_cast<float>(gram[e * n + examples_[b]] + constant);
      for (index_t y = 0; y < classes_; ++y) {
        lines_[y * m_ + a] = cost[y] + scores[e * state.columns + y];
        idle_[y * m_ + a] = state.u[e * state.columns + y] > 0.0 ? 0.0 : INFINITY;
      }
    }
  }

  index_t size() const { return m_; }

  // The sum of what the examples' highest lines are above their mixed ones.
  double gap(const BlockAscent& state) const {
    double sum = 0;
    for (index_t a = 0; a < m_; ++a) {
      const index_t e = examples_[a];
      double high = -INFINITY, mixed = 0;
      for (index_t y = 0; y < classes_; ++y) {
        const double z = lines_[y * m_ + a];
        high = std::max(high, z);
        mixed += state.u[e * state.columns + y] * z;
      }
      sum += (state.upper ? state.upper[e] : state.upper_all) * high - mixed;
    }
    return sum;
  }

  // The largest distance of a line above one that has weight.
  double look() {
    multiclass::measure_violations(lines_.data(), idle_.data(), classes_, m_, highest_.data(),
                                   violations_.data());
    return m_ == 0 ? 0.0 : *std::max_element(violations_.begin(), violations_.end());
  }

  // Steps on the examples whose violation is above `large`, the largest first; returns how many.
  index_t go(BlockAscent& state, double large) {
    order_.clear();
    for (index_t a = 0; a < m_; ++a)
      if (violations_[a] > large) order_.push_back(static_cast<std::int32_t>(a));
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return violations_[a] > violations_[b] || (violations_[a] == violations_[b] && a < b);
    });
    BlockScratch scratch(state.columns);
    index_t steps = 0;
    for (std::int32_t a : order_) steps += step(state, a, 0.5 * large, scratch);
    return steps;
  }

 private:
  // The best block of one example; nothing where others have brought its violation down since.
  bool step(BlockAscent& state, index_t a, double small, BlockScratch& scratch) {
    const index_t e = examples_[a];
    const double size = state.upper ? state.upper[e] : state.upper_all;
    const double step = state.per_curvature[e] > 0.0 ? state.per_curvature[e] : 1e30;
    double* u = state.u.data() + e * state.columns;
    double* target = scratch.target.data();
    double top = -INFINITY, high = -INFINITY, low = INFINITY;
    for (index_t y = 0; y < classes_; ++y) {
      const double z = lines_[y * m_ + a];
      target[y] = u[y] + z * step;
      top = target[y] > top ? target[y] : top;
      high = z > high ? z : high;
      if (u[y] > 0.0) low = z < low ? z : low;
    }
    if (high - low <= small) return false;
    const double threshold = simplex_threshold(target, classes_, top, size, scratch.sorted.data());
    for (index_t y = 0; y < classes_; ++y) {
      const double fresh = target[y] > threshold ? std::min(target[y] - threshold, size) : 0.0;
      const double change = u[y] - fresh;
      if (change == 0.0) continue;
      u[y] = fresh;
      idle_[y * m_ + a] = fresh > 0.0 ? 0.0 : INFINITY;
      state.bias_weight[y] += change * state.bias;
      multiclass::add_products(gram_.data() + a * m_, change, m_, lines_.data() + y * m_);
    }
    return true;
  }

  std::vector<std::int32_t> examples_;
  index_t m_, classes_;
  std::vector<float> gram_;                   // m x m
  std::vector<double> lines_, idle_;          // classes x m; idle: 0 with weight, else infinite
  std::vector<double> violations_, highest_;  // m
  std::vector<std::int32_t> order_;
};

// The examples that have a violation, or may come to have one while the largest is brought down.
std::vector<std::int32_t> examples_that_matter(const BlockAscent& state, const double* scores) {
  const auto n = static_cast<index_t>(state.order.size());
  std::vector<double> room(n);  // how far it is to a violation; none: minus its size
  double largest = 0;
  for (index_t e = 0; e < n; ++e) {
    const double* cost = state.cost + state.y[e] * state.classes;
    const double* u = state.u.data() + e * state.columns;
    double low = INFINITY, next = -INFINITY, high = -INFINITY;
    for (index_t y = 0; y < state.classes; ++y) {
      const double z = cost[y] + scores[e * state.columns + y];
      high = std::max(high, z);
      u[y] > 0.0 ? low = std::min(low, z) : next = std::max(next, z);
    }
    const bool without = (state.upper ? state.upper[e] : state.upper_all) <= 0.0;
    largest = without ? largest : std::max(largest, high - low);
    room[e] = without ? INFINITY : (high > low ? low - high : low - next);
  }
  std::vector<std::int32_t> found;
  for (index_t e = 0; e < n; ++e)
    if (room[e] <= largest) found.push_back(static_cast<std::int32_t>(e));
  return found;
}

// V and its row of the constant feature, from the dual variables.
void sum_up(const Matrix& matrix, BlockAscent& state, int n_threads) {
  const index_t n = matrix.rows(), columns = state.columns;
  LargeArray coef(static_cast<std::size_t>(n * columns));
  std::fill(state.bias_weight.begin(), state.bias_weight.end(), 0.0);
  for (index_t e = 0; e < n; ++e) {
    const index_t k = state.y[e];
    const double* u = state.u.data() + e * state.columns;
    double* mine = coef.data() + e * columns;
    double own = 0;
    for (index_t y = 0; y < state.classes; ++y) {
      if (y == k) continue;
      mine[y] = -u[y];
      own += u[y];
    }
    mine[k] = own;
    for (index_t y = 0; y < state.classes; ++y) state.bias_weight[y] += state.bias * mine[y];
  }
  matrix.combine(coef.data(), columns, state.v.data(), n_threads);
}

}  // namespace

void ascend_blocks_by_gram(const Matrix& matrix, const float* gram, BlockAscent& state,
                           const Deadline& deadline, int n_threads) {
  const index_t n = matrix.rows(), columns = state.columns;
  LargeArray scores(static_cast<std::size_t>(n * columns));
  matrix.scores(state.v.data(), columns, scores.data(), n_threads);
  for (index_t e = 0; e < n; ++e)
    for (index_t y = 0; y < state.classes; ++y)
      scores.data()[e * columns + y] += state.bias * state.bias_weight[y] + state.bias_center[y];
  ActiveBlocks blocks(state, gram, examples_that_matter(state, scores.data()), scores.data());
  double violation = blocks.look();
  const double enough = kDone * violation;
  index_t left = kStepsPerExample * blocks.size();
  while (violation > enough && left > 0 && !deadline.passed()) {
    left -= blocks.go(state, kLarge * violation);
    violation = blocks.look();
  }
  // Of the others none had come near to a violation.
  state.open_gap = blocks.gap(state);
  sum_up(matrix, state, n_threads);
}

}  // namespace cutplane
