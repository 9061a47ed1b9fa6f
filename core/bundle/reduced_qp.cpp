#include "core/bundle/reduced_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// A violation of this much of the objective is as good as none.
constexpr double kTolerance = 1e-13;
// A plane that enters more often than this in one solve is chasing rounding errors.
constexpr int kMostEntries = 8;
constexpr int kMostRefinements = 4;
// A factor worn out is made anew, then the weights are forgotten.
constexpr int kMostRestarts = 2;
// An imbalance, in units of what is tolerated, that is the factor's fault rather than rounding's.
constexpr double kDegraded = 100.0;
// The shift is chosen anew when the support's slopes have grown or shrunk by this factor, squared.
constexpr double kShiftDrift = 1e4;
// Squared slopes below this count as zero there: their inverse is too near to overflow. So do those
// this short next to the longest: they are what rounding left of a slope of zero.
constexpr double kShortest = 1e-150;
constexpr double kRoundingOnly = 1e-22;

}  // namespace

// Outside an anonymous namespace because run-time dispatch needs external linkage.
namespace factor_kernels {

CUTPLANE_INLINE double dot(const double* x, const double* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// x := R'^-1 x
CUTPLANE_MULTIVERSION void solve_transposed(const double* R, index_t stride, index_t n, double* x) {
  for (index_t i = 0; i < n; ++i) {
    const double* row = R + i * stride;
    const double xi = x[i] /= row[i];
#pragma omp simd
    for (index_t j = i + 1; j < n; ++j) x[j] -= xi * row[j];
  }
}

// x := R^-1 x
CUTPLANE_MULTIVERSION void solve(const double* R, index_t stride, index_t n, double* x) {
  for (index_t i = n - 1; i >= 0; --i) {
    const double* row = R + i * stride;
    x[i] = (x[i] - dot(row + i + 1, x + i + 1, n - i - 1)) / row[i];
  }
}

// Rotate rows i and i + 1 so that the entry below the diagonal in column i vanishes, for every i
// from `first` on: R, whose column `first` was taken out, is triangular again.
CUTPLANE_MULTIVERSION void retriangularise(double* R, index_t stride, index_t first, index_t n,
                                           double* ones) {
  for (index_t i = first; i + 1 < n; ++i) {
    double* upper = R + i * stride;
    double* below = upper + stride;
    const double length = std::sqrt(upper[i] * upper[i] + below[i] * below[i]);
    const double c = upper[i] / length;
    const double s = below[i] / length;
    upper[i] = length;
#pragma omp simd
    for (index_t j = i + 1; j < n - 1; ++j) {
      const double u = upper[j];
      const double b = below[j];
      upper[j] = c * u + s * b;
      below[j] = c * b - s * u;
    }
    const double u = ones[i];
    ones[i] = c * u + s * ones[i + 1];
    ones[i + 1] = c * ones[i + 1] - s * u;
  }
}

}  // namespace factor_kernels

void SupportFactor::reserve(index_t n) {
  if (n <= stride_) return;
  const index_t stride = std::max<index_t>(32, 2 * n);
  std::vector<double> wider(static_cast<std::size_t>(stride * stride));
  for (index_t i = 0; i < size_; ++i) {
    std::copy_n(R_.data() + i * stride_, size_, wider.data() + i * stride);
  }
  R_ = std::move(wider);
  stride_ = stride;
  ones_.resize(static_cast<std::size_t>(stride));
}

bool SupportFactor::append(std::span<double> column, double diagonal) {
  const index_t n = size_;
  reserve(n + 1);
  factor_kernels::solve_transposed(R_.data(), stride_, n, column.data());
  const double pivot = diagonal - factor_kernels::dot(column.data(), column.data(), n);
  // What the subtraction above, and the products behind it, leave of a pivot that should be zero.
  const double noise =
      4.0 * static_cast<double>(n + 8) * std::numeric_limits<double>::epsilon() * diagonal;
  if (!(pivot > noise)) {
    factor_kernels::solve(R_.data(), stride_, n, column.data());
    return false;
  }
  const double root = std::sqrt(pivot);
  for (index_t i = 0; i < n; ++i) R_[i * stride_ + n] = column[i];
  R_[n * stride_ + n] = root;
  ones_[n] = (1.0 - factor_kernels::dot(column.data(), ones_.data(), n)) / root;
  ++size_;
  return true;
}

void SupportFactor::remove(index_t position) {
  const index_t n = size_;
  for (index_t i = 0; i < n; ++i) {
    double* row = R_.data() + i * stride_;
    // Row i starts at its diagonal; below the removed column that entry lies left of the new
    // diagonal.
    const index_t first = std::max(position, i - 1);
    std::copy(row + first + 1, row + n, row + first);
  }
  factor_kernels::retriangularise(R_.data(), stride_, position, n, ones_.data());
  --size_;
}

void SupportFactor::newton(std::span<double> r) const {
  const index_t n = size_;
  factor_kernels::solve_transposed(R_.data(), stride_, n, r.data());
  const double nu = -factor_kernels::dot(ones_.data(), r.data(), n) /
                    factor_kernels::dot(ones_.data(), ones_.data(), n);
  for (index_t i = 0; i < n; ++i) r[i] += nu * ones_[i];
  factor_kernels::solve(R_.data(), stride_, n, r.data());
}

namespace qp_kernels {

// values = inverse_C * offsets - sum over the support of weight * Gram row
CUTPLANE_MULTIVERSION void plane_values(const double* gram, index_t stride, const index_t* support,
                                        index_t n_support, const double* weights,
                                        const double* offsets, double inverse_C, index_t n,
                                        double* values) {
#pragma omp simd
  for (index_t j = 0; j < n; ++j) values[j] = inverse_C * offsets[j];
  index_t k = 0;
  for (; k + 4 <= n_support; k += 4) {
    const double* g0 = gram + support[k] * stride;
    const double* g1 = gram + support[k + 1] * stride;
    const double* g2 = gram + support[k + 2] * stride;
    const double* g3 = gram + support[k + 3] * stride;
    const double w0 = weights[support[k]], w1 = weights[support[k + 1]];
    const double w2 = weights[support[k + 2]], w3 = weights[support[k + 3]];
#pragma omp simd
    for (index_t j = 0; j < n; ++j) {
      values[j] -= (w0 * g0[j] + w1 * g1[j]) + (w2 * g2[j] + w3 * g3[j]);
    }
  }
  for (; k < n_support; ++k) {
    const double* g = gram + support[k] * stride;
    const double w = weights[support[k]];
#pragma omp simd
    for (index_t j = 0; j < n; ++j) values[j] -= w * g[j];
  }
}

}  // namespace qp_kernels

ReducedQp::ReducedQp(double lower_bound) {
  reserve(1);
  norms_.push_back(0.0);
  offsets_.push_back(lower_bound);
  weights_.push_back(1.0);
  idle_.push_back(0);
  reset();
}

void ReducedQp::reserve(index_t n) {
  if (n <= stride_) return;
  const index_t stride = std::max<index_t>(64, n + n / 2);
  std::vector<double> wider(static_cast<std::size_t>(stride * stride));
  for (index_t i = 0; i < size(); ++i) {
    std::copy_n(gram_.data() + i * stride_, size(), wider.data() + i * stride);
  }
  gram_ = std::move(wider);
  stride_ = stride;
}

void ReducedQp::append(std::span<const double> products, double offset) {
  const index_t j = size();
  if (static_cast<index_t>(products.size()) != j) {
    throw std::invalid_argument("a new plane needs one product per plane, itself included");
  }
  reserve(j + 1);
  gram_[j * stride_] = gram_[j] = 0.0;
  for (index_t i = 1; i <= j; ++i) {
    gram_[j * stride_ + i] = gram_[i * stride_ + j] = products[i - 1];
  }
  norms_.push_back(std::sqrt(product(j, j)));
  offsets_.push_back(offset);
  weights_.push_back(0.0);
  idle_.push_back(0);
}

void ReducedQp::remove(std::span<const index_t> positions) {
  std::vector<index_t> kept;
  kept.reserve(static_cast<std::size_t>(size()));
  auto next = positions.begin();
  for (index_t i = 0; i < size(); ++i) {
    if (next != positions.end() && *next == i) {
      if (i == 0 || weights_[i] > 0.0) {
        throw std::invalid_argument("a plane that carries weight cannot be removed");
      }
      ++next;
    } else {
      kept.push_back(i);
    }
  }
  if (next != positions.end()) throw std::invalid_argument("positions must ascend and exist");

  std::vector<index_t> moved_to(static_cast<std::size_t>(size()), 0);
  const index_t n = static_cast<index_t>(kept.size());
  for (index_t i = 0; i < n; ++i) {
    const index_t from = kept[i];
    moved_to[from] = i;
    // Upwards and to the left only, so nothing is overwritten before it is read.
    for (index_t j = 0; j < n; ++j) gram_[i * stride_ + j] = gram_[from * stride_ + kept[j]];
    norms_[i] = norms_[from];
    offsets_[i] = offsets_[from];
    weights_[i] = weights_[from];
    idle_[i] = idle_[from];
  }
  norms_.resize(n);
  offsets_.resize(n);
  weights_.resize(n);
  idle_.resize(n);
  for (index_t& plane : support_) plane = moved_to[plane];
}

void ReducedQp::reset() {
  std::fill(weights_.begin(), weights_.end(), 0.0);
  weights_[0] = 1.0;
  support_.assign(1, 0);
  refactorise();
}

void ReducedQp::measure() {
  const index_t n = size();
  values_.resize(static_cast<std::size_t>(n));
  qp_kernels::plane_values(gram_.data(), stride_, support_.data(),
                           static_cast<index_t>(support_.size()), weights_.data(), offsets_.data(),
                           inverse_C_, n, values_.data());
  double level = 0.0, linear = 0.0, mean_norm = 0.0;
  for (const index_t i : support_) {
    level += weights_[i] * values_[i];
    linear += weights_[i] * offsets_[i];
    mean_norm += weights_[i] * norms_[i];
  }
  level_ = level;
  mean_norm_ = mean_norm;
  // q'beta - 1/2 beta'G beta, where beta'G beta = q'beta - level.
  objective_ = 0.5 * (inverse_C_ * linear + level);
}

// The difference between a plane's value and the level that is as good as none: a part of the
// objective, and what rounding does to the value, a sum of terms no larger than norm * mean_norm.
double ReducedQp::slack(index_t i) const {
  return kTolerance * std::abs(objective_) +
         2.0 * kEpsilon * (std::abs(inverse_C_ * offsets_[i]) + norms_[i] * mean_norm_);
}

// The largest difference between a support plane and the level, in units of what is tolerated.
double ReducedQp::imbalance() const {
  double worst = 0.0;
  for (const index_t i : support_) {
    const double difference = std::abs(values_[i] - level_);
    if (difference > 0.0) worst = std::max(worst, difference / slack(i));
  }
  return worst;
}

// The plane above the level by most, beyond what is tolerated, that may still enter; -1 if there is
// none.
index_t ReducedQp::most_violated(const std::vector<int>& entries) const {
  index_t best = -1;
  double most = 0.0;
  for (index_t j = 0; j < size(); ++j) {
    const double excess = values_[j] - level_;
    if (excess > most && weights_[j] == 0.0 && entries[j] < kMostEntries && excess > slack(j)) {
      most = excess;
      best = j;
    }
  }
  return best;
}

void ReducedQp::normalise() {
  double sum = 0.0;
  for (const index_t i : support_) sum += weights_[i];
  for (const index_t i : support_) weights_[i] /= sum;
}

void ReducedQp::drop(index_t position) {
  weights_[support_[position]] = 0.0;
  support_.erase(support_.begin() + position);
  factor_.remove(position);
  ++pivots_;
}

void ReducedQp::drop_weightless() {
  for (index_t k = factor_.size() - 1; k >= 0; --k) {
    if (!(weights_[support_[k]] > 0.0)) drop(k);
  }
}

// One Newton step on the support, cut short where a weight would turn negative. True if it was not
// cut.
bool ReducedQp::newton_step() {
  const index_t n = factor_.size();
  step_.resize(static_cast<std::size_t>(n));
  for (index_t k = 0; k < n; ++k) step_[k] = values_[support_[k]] - level_;
  factor_.newton(step_);
  if (!std::all_of(step_.begin(), step_.end(), [](double s) { return std::isfinite(s); })) {
    drop_weightless();  // overflow: stay at weights that are on the simplex
    return true;
  }

  double length = 1.0;
  index_t blocking = -1;
  for (index_t k = 0; k < n; ++k) {
    const double weight = weights_[support_[k]];
    if (weight + length * step_[k] < 0.0) {
      length = -weight / step_[k];
      blocking = k;
    }
  }
  for (index_t k = 0; k < n; ++k) {
    double& weight = weights_[support_[k]];
    weight = k == blocking ? 0.0 : std::max(0.0, weight + length * step_[k]);
  }
  drop_weightless();
  normalise();
  return factor_.size() == n;
}

// Bring `plane` into the factor with the weight it has (zero if it enters). While it depends on the
// planes there, shift weight along the direction that leaves w as it is, the way the objective
// rises, until a plane has none left.
void ReducedQp::absorb(index_t plane) {
  ++pivots_;
  for (;;) {
    const index_t n = factor_.size();
    step_.resize(static_cast<std::size_t>(n));
    for (index_t k = 0; k < n; ++k) step_[k] = product(plane, support_[k]) + shift_;
    if (factor_.append(step_, product(plane, plane) + shift_)) {
      support_.push_back(plane);
      return;
    }
    // step_ now holds z with slope_plane = sum of z_k slope_k and sum(z) = 1.
    double rise = values_[plane];
    for (index_t k = 0; k < n; ++k) rise -= step_[k] * values_[support_[k]];
    double& own = weights_[plane];
    const double sign = own > 0.0 && rise < 0.0 ? -1.0 : 1.0;
    double length = sign < 0.0 ? own : std::numeric_limits<double>::infinity();
    index_t blocking = -1;
    for (index_t k = 0; k < n; ++k) {
      const double pace = sign * step_[k];
      const double weight = weights_[support_[k]];
      if (pace > 0.0 && weight < length * pace) {
        length = weight / pace;
        blocking = k;
      }
    }
    // Without an end to the direction the combination is all rounding: better without the plane.
    if (!std::isfinite(length)) {
      own = 0.0;
      return;
    }
    for (index_t k = 0; k < n; ++k) {
      double& weight = weights_[support_[k]];
      weight = k == blocking ? 0.0 : std::max(0.0, weight - length * sign * step_[k]);
    }
    if (blocking < 0) {  // the plane itself has run out
      own = 0.0;
      drop_weightless();
      return;
    }
    own += sign * length;
    drop(blocking);
    drop_weightless();
  }
}

// The geometric mean of the squared slopes that matter: slopes far longer or far shorter than the
// shift are what makes independent planes look dependent.
double ReducedQp::wanted_shift() const {
  double logs = 0.0, longest = 0.0;
  index_t count = 0;
  for (index_t i = 0; i < size(); ++i) longest = std::max(longest, product(i, i));
  const auto include = [&](index_t i) {
    if (product(i, i) > std::max(kShortest, kRoundingOnly * longest)) {
      logs += std::log(product(i, i));
      ++count;
    }
  };
  for (const index_t i : support_) include(i);
  include(size() - 1);
  if (count > 0) return std::exp(logs / static_cast<double>(count));
  return longest > kShortest ? longest : shift_;
}

void ReducedQp::refactorise() {
  shift_ = wanted_shift();
  const std::vector<index_t> planes = std::move(support_);
  support_.clear();
  factor_.clear();
  values_.resize(static_cast<std::size_t>(size()), 0.0);
  for (const index_t plane : planes) {
    if (weights_[plane] > 0.0) absorb(plane);
  }
  normalise();
  refactorised_ = true;
}

// Newton steps until all planes of the support have one value. Steps that nothing cut short refine
// the last one; where that no longer helps and much is left, the factor has degraded.
void ReducedQp::settle() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double before = infinity;
  int refinements = 0;
  for (;;) {
    measure();
    const double now = imbalance();
    if (now <= 1.0) return;
    if (now < 0.5 * before && refinements < kMostRefinements) {
      const bool whole = newton_step();
      before = whole ? now : infinity;
      refinements = whole ? refinements + 1 : 0;
    } else if (now > kDegraded && !refactorised_) {
      refactorise();
      before = infinity;
      refinements = 0;
    } else {
      return;
    }
  }
}

ReducedQpOutcome ReducedQp::solve(double C) {
  inverse_C_ = 1.0 / C;
  pivots_ = 0;
  refactorised_ = false;
  measure();
  const double drift = wanted_shift() / shift_;
  if (drift > kShiftDrift || drift < 1.0 / kShiftDrift) refactorise();
  settle();
  enter_violated();
  for (int restarts = 0; restarts < kMostRestarts && stuck(); ++restarts) {
    if (restarts == 0) {
      refactorise();
    } else {
      reset();
    }
    refactorised_ = false;
    settle();
    enter_violated();
  }

  for (index_t i = 0; i < size(); ++i) idle_[i] = weights_[i] > 0.0 ? 0 : idle_[i] + 1;
  const double highest = *std::max_element(values_.begin(), values_.end());
  const double gap = std::max(0.0, highest - level_);
  const double scale = std::max(std::abs(objective_), std::numeric_limits<double>::min());
  return {gap / scale, C * highest, pivots_};
}

// Violated planes enter, one after the other, until there is none or rounding is all that is left.
void ReducedQp::enter_violated() {
  std::vector<int> entries(static_cast<std::size_t>(size()), 0);
  const index_t most_pivots = pivots_ + 200 + 20 * size();
  while (pivots_ < most_pivots) {
    const index_t entering = most_violated(entries);
    if (entering < 0) break;
    ++entries[entering];
    absorb(entering);
    newton_step();
    // It should have gained weight: that it did not says its violation was rounding.
    if (weights_[entering] == 0.0) entries[entering] = kMostEntries;
    settle();
  }
}

// Whether a plane lies above the level by far more than rounding explains: planes of very different
// lengths can wear the factor out, so that what enters seems to gain nothing.
bool ReducedQp::stuck() const {
  for (index_t j = 0; j < size(); ++j)
    if (values_[j] - level_ > kDegraded * slack(j)) return true;
  return false;
}

}  // namespace cutplane
