#include "core/multiclass/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/losses/exponential.hpp"
#include "core/matrix/block_sums.hpp"

namespace cutplane {
namespace {

constexpr index_t kGrain = 512, kManyBlocks = 1024;
// A power of e takes as long as so many additions.
constexpr index_t kWorkPerScore = 4;

Blocks example_blocks(index_t n) { return make_blocks(n, kGrain, kManyBlocks); }

int sweep_threads(const SoftmaxSample& sample, int n_threads) {
  return useful_threads(n_threads, kWorkPerScore * sample.n * sample.classes);
}

// Per-block sums of so many numbers, added in block order.
template <class Body>
std::vector<double> sum_blocks(const SoftmaxSample& sample, index_t size, int n_threads,
                               Body&& body) {
  const Blocks blocks = example_blocks(sample.n);
  PartialSums partial(blocks.count, size);
  for_blocks(blocks, sweep_threads(sample, n_threads),
             [&](index_t b, index_t begin, index_t end) { body(begin, end, partial.cleared(b)); });
  std::vector<double> total(size, 0.0);
  partial.add_to(total.data(), blocks.count, n_threads);
  return total;
}

// One example: powers relative to the highest score.
struct Powers {
  double top;   // the highest score
  double rest;  // the sum of the powers of all classes but the highest
};

CUTPLANE_INLINE Powers powers_of(const double* s, const double* b, index_t classes, double* e) {
  double top = -INFINITY;
  for (index_t k = 0; k < classes; ++k) {
    e[k] = b ? s[k] + b[k] : s[k];
    top = e[k] > top ? e[k] : top;
  }
  index_t at = 0;
  for (index_t k = classes; k-- > 0;) at = e[k] == top ? k : at;
  for (index_t k = 0; k < classes; ++k) e[k] = exp_negative(e[k] - top);
  double rest = 0;
  for (index_t k = 0; k < classes; ++k) rest += k == at ? 0.0 : e[k];
  return {top, rest};
}

CUTPLANE_INLINE double weight_of(const SoftmaxSample& sample, index_t i) {
  return sample.c ? sample.c[i] : sample.each;
}

CUTPLANE_MULTIVERSION void cut_block(const SoftmaxSample& sample, const double* s, const double* b,
                                     double* coef, index_t begin, index_t end, double* sums) {
  const index_t classes = sample.classes;
  double value = 0, offset = 0;
  for (index_t i = begin; i < end; ++i) {
    const double* row = s + i * classes;
    double* __restrict out = coef + i * classes;
    const index_t y = sample.y[i];
    const double weight = weight_of(sample, i);
    const auto [top, rest] = powers_of(row, b, classes, out);
    const double height = std::log1p(rest);
    const double below = (b ? row[y] + b[y] : row[y]) - top;
    value += weight * (height - below);
    const double share = 1.0 / (1.0 + rest);
    double mean = 0, others = 0;  // of the scores below the highest; of the coefficients
    for (index_t k = 0; k < classes; ++k) {
      const double p = out[k] * share;
      mean += p > 0.0 ? p * ((b ? row[k] + b[k] : row[k]) - top) : 0.0;
      out[k] = weight * p;
    }
    offset += weight * (height - mean);
    out[y] = 0.0;
    for (index_t k = 0; k < classes; ++k) others += out[k];
    out[y] = -others;
    for (index_t k = 0; k < classes; ++k) sums[2 + k] += out[k];
  }
  sums[0] = value;
  sums[1] = offset;
}

CUTPLANE_MULTIVERSION void intercepts_block(const SoftmaxSample& sample, const double* s,
                                            const double* b, index_t begin, index_t end,
                                            double* sums) {
  const index_t classes = sample.classes;
  std::vector<double> p(classes);
  double value = 0;
  double* __restrict totals = sums + 1;
  double* __restrict hessian = totals + classes;
  for (index_t i = begin; i < end; ++i) {
    const index_t y = sample.y[i];
    const double weight = weight_of(sample, i);
    const double* row = s + i * classes;
    const auto [top, rest] = powers_of(row, b, classes, p.data());
    value += weight * (std::log1p(rest) - (row[y] + b[y] - top));
    const double share = 1.0 / (1.0 + rest);
    double others = 0;
    for (index_t k = 0; k < classes; ++k) p[k] *= share;
    for (index_t k = 0; k < classes; ++k) {
      const double of_k = weight * p[k];
      if (k != y) totals[k] += of_k, others += of_k;
      for (index_t l = 0; l < classes; ++l) hessian[k * classes + l] -= of_k * p[l];
      hessian[k * classes + k] += of_k;
    }
    totals[y] -= others;
  }
  sums[0] = value;
}

CUTPLANE_MULTIVERSION void along_block(const SoftmaxSample& sample, const double* s,
                                       const double* direction, double t, index_t begin,
                                       index_t end, double* sums) {
  const index_t classes = sample.classes;
  std::vector<double> moved(classes), p(classes);
  for (index_t i = begin; i < end; ++i) {
    const index_t y = sample.y[i];
    const double weight = weight_of(sample, i);
    const double* d = direction + i * classes;
    for (index_t k = 0; k < classes; ++k) moved[k] = s[i * classes + k] + t * d[k];
    const auto [top, rest] = powers_of(moved.data(), nullptr, classes, p.data());
    const double share = 1.0 / (1.0 + rest);
    double mean = 0, square = 0;  // of the direction less that of the true class
    for (index_t k = 0; k < classes; ++k) {
      const double change = d[k] - d[y];
      mean += p[k] * share * change;
      square += p[k] * share * change * change;
    }
    sums[0] += weight * (std::log1p(rest) - (moved[y] - top));
    sums[1] += weight * mean;
    sums[2] += weight * (square - mean * mean);
  }
}

template <class Real>
CUTPLANE_INLINE void curve_rows(const SoftmaxSample& sample, const double* coef, Real* v,
                                index_t begin, index_t end, double* totals) {
  const index_t classes = sample.classes;
  for (index_t i = begin; i < end; ++i) {
    const double weight = weight_of(sample, i);
    const double* __restrict own = coef + i * classes;
    Real* __restrict row = v + i * classes;
    const index_t y = sample.y[i];
    const double of_true = weight + own[y];  // c p of the true class
    const double v_true = static_cast<double>(row[y]);
    double along = 0;  // <c p, v>, less that of the true class's v
    for (index_t k = 0; k < classes; ++k) along += own[k] * (static_cast<double>(row[k]) - v_true);
    const double mean = weight > 0.0 ? along / weight : 0.0;
    for (index_t k = 0; k < classes; ++k)
      row[k] = static_cast<Real>(own[k] * (static_cast<double>(row[k]) - v_true - mean));
    row[y] = static_cast<Real>(-of_true * mean);
    for (index_t k = 0; k < classes; ++k) totals[k] += static_cast<double>(row[k]);
  }
}

CUTPLANE_MULTIVERSION void curve_block(const SoftmaxSample& sample, const double* coef, double* v,
                                       index_t begin, index_t end, double* totals) {
  curve_rows(sample, coef, v, begin, end, totals);
}

CUTPLANE_MULTIVERSION void curve_block(const SoftmaxSample& sample, const double* coef, float* v,
                                       index_t begin, index_t end, double* totals) {
  curve_rows(sample, coef, v, begin, end, totals);
}

}  // namespace

index_t softmax_depth(index_t n) {
  const Blocks blocks = example_blocks(n);
  return n / blocks.count + 1 + blocks.count;
}

SoftmaxCut softmax_cut(const SoftmaxSample& sample, const double* s, const double* b, double* coef,
                       double* totals, int n_threads) {
  const std::vector<double> sums = sum_blocks(sample, sample.classes + 2, n_threads,
                                              [&](index_t begin, index_t end, double* out) {
                                                cut_block(sample, s, b, coef, begin, end, out);
                                              });
  std::copy(sums.begin() + 2, sums.end(), totals);
  return {sums[0], sums[1]};
}

double softmax_in_intercepts(const SoftmaxSample& sample, const double* s, const double* b,
                             double* totals, double* hessian, int n_threads) {
  const index_t classes = sample.classes;
  const std::vector<double> sums = sum_blocks(sample, 1 + classes + classes * classes, n_threads,
                                              [&](index_t begin, index_t end, double* out) {
                                                intercepts_block(sample, s, b, begin, end, out);
                                              });
  std::copy(sums.begin() + 1, sums.begin() + 1 + classes, totals);
  std::copy(sums.begin() + 1 + classes, sums.end(), hessian);
  return sums[0];
}

SoftmaxDerivatives softmax_along(const SoftmaxSample& sample, const double* s,
                                 const double* direction, double t, int n_threads) {
  const std::vector<double> sums =
      sum_blocks(sample, 3, n_threads, [&](index_t begin, index_t end, double* out) {
        along_block(sample, s, direction, t, begin, end, out);
      });
  return {sums[0], sums[1], sums[2]};
}

template <class Real>
void softmax_curve(const SoftmaxSample& sample, const double* coef, Real* v, double* totals,
                   int n_threads) {
  const std::vector<double> sums =
      sum_blocks(sample, sample.classes, n_threads, [&](index_t begin, index_t end, double* out) {
        curve_block(sample, coef, v, begin, end, out);
      });
  std::copy(sums.begin(), sums.end(), totals);
}

template void softmax_curve<float>(const SoftmaxSample&, const double*, float*, double*, int);
template void softmax_curve<double>(const SoftmaxSample&, const double*, double*, double*, int);

}  // namespace cutplane
