// The softmax risk in score space: sums over examples, one sweep each.
//
// Example i has a score s_k for every class k, the class y_i and the weight c_i. Its loss is
//
//     c_i (log sum_k exp(s_k) - s_{y_i}).
//
// For any p on the simplex, log sum_k exp(s_k) >= <p, s> + H(p) with the entropy H(p) = -sum_k p_k
// log p_k, and equal at p = softmax(s). So coefficients c_i (p_i - e_{y_i}) and the offset
// sum_i c_i H(p_i) are a plane below the risk, whatever the p_i are.
#pragma once

#include <cstdint>

#include "core/base/parallel.hpp"

namespace cutplane {

struct SoftmaxSample {
  const std::int32_t* y;
  const double* c;  // null: `each` for every example
  double each;
  index_t n;
  index_t classes;
};

struct SoftmaxCut {
  double value;   // the risk at the scores
  double offset;  // of the plane
};

// What rounding is charged by: the longest chain of additions in the sums below, for n examples.
index_t softmax_depth(index_t n);

// At s + b (n x classes; b: classes, may be null), coef: c_i p_i, but at the true class minus the
// sum of the others, so that tiny coefficients keep their digits. totals: what the coefficients of
// each class add up to.
SoftmaxCut softmax_cut(const SoftmaxSample& sample, const double* s, const double* b, double* coef,
                       double* totals, int n_threads);

// totals as above, and hessian (classes x classes): the second derivative of the risk in b.
double softmax_in_intercepts(const SoftmaxSample& sample, const double* s, const double* b,
                             double* totals, double* hessian, int n_threads);

struct SoftmaxDerivatives {
  double value, slope, curvature;
};

// The risk and its derivatives along s + t direction.
SoftmaxDerivatives softmax_along(const SoftmaxSample& sample, const double* s,
                                 const double* direction, double t, int n_threads);

// v (n x classes) times the second derivative in the scores, where it lies: c_i (p v - p <p, v>),
// p being read from the coefficients of a cut. totals: the sums over the examples.
template <class Real>
void softmax_curve(const SoftmaxSample& sample, const double* coef, Real* v, double* totals,
                   int n_threads);

}  // namespace cutplane
