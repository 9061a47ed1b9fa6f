// What every dual ascent starts from: the curvature along each example, and how long the constant
// feature is that stands for free intercepts.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/matrix/matrix.hpp"

namespace cutplane {

struct AscentScale {
  std::vector<double> per_curvature;  // 1 / (|x_i|² + bias²), 0 for an empty row
  double mean_square;                 // of the examples' lengths
  double bias;                        // 0: no intercept

  AscentScale(const Matrix& matrix, bool intercept, int n_threads) : per_curvature(matrix.rows()) {
    matrix.squared_norms(per_curvature.data(), n_threads);
    const double sum = std::accumulate(per_curvature.begin(), per_curvature.end(), 0.0);
    mean_square = sum / static_cast<double>(matrix.rows());
    // A constant feature as long as a typical example: the intercept then moves at the pace of the
    // weights.
    bias = intercept ? std::sqrt(std::max(mean_square, 1e-12)) : 0.0;
    for (double& value : per_curvature) {
      const double curvature = value + bias * bias;
      value = curvature > 0.0 ? 1.0 / curvature : 0.0;
    }
  }
};

// All positions, in order.
inline std::vector<std::int32_t> identity_order(index_t n) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace cutplane
