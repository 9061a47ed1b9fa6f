// What every dual ascent starts from: the lengths of the examples, and how long the constant
// feature is that stands for free intercepts.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/matrix/matrix.hpp"

namespace cutplane {

struct AscentScale {
  std::vector<double> squares;  // of the examples' lengths
  double mean_square;

  explicit AscentScale(std::vector<double> lengths) : squares(std::move(lengths)) {
    const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
    mean_square = sum / static_cast<double>(squares.size());
  }

  double median_square() const {
    std::vector<double> ordered(squares);
    const auto middle = ordered.begin() + std::ssize(ordered) / 2;
    std::nth_element(ordered.begin(), middle, ordered.end());
    return ordered.empty() ? 0.0 : *middle;
  }

  // A constant feature as long as a typical example: the intercept then moves at the pace of the
  // weights.
  double typical_bias() const { return std::sqrt(std::max(mean_square, 1e-12)); }

  // 1 / (|x_i|² + bias²), 0 for an empty row without a bias.
  std::vector<double> per_curvature(double bias) const {
    std::vector<double> result(squares.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double curvature = squares[i] + bias * bias;
      result[i] = curvature > 0.0 ? 1.0 / curvature : 0.0;
    }
    return result;
  }
};

// All positions, in order.
inline std::vector<std::int32_t> identity_order(index_t n) {
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace cutplane
