// The grid that scores are put on before they are compared.
//
// It is so wide that sums of all scores, and numbers of pairs times scores, have no digits to lose:
// sweeps over windows of scores, divided by a narrow width, would raise what rounding leaves in
// them to any size.
#pragma once

#include <cmath>
#include <limits>

#include "core/base/parallel.hpp"

namespace cutplane {

// The step of the grid of n scores, the largest of which has this size: a power of 2, or 0 for none
// where a score is not finite.
inline double grid_step(index_t n, double largest) {
  const double size = 1.0 + largest;
  if (!(size <= std::numeric_limits<double>::max())) return 0.0;
  return std::exp2(std::ceil(std::log2(4.0 * static_cast<double>(n) * size)) - 53.0);
}

// The size of the largest of n scores; infinite where one is not finite.
double largest_size(const double* s, index_t n, int n_threads);

class ScoreGrid {
 public:
  explicit ScoreGrid(double step) : step_(step), per_step_(1.0 / step) {}

  // The nearest point, of two the even one: numbers below 2^51 are whole after 1.5 * 2^52 was
  // added.
  double nearest(double score) const {
    constexpr double kWhole = 6755399441055744.0;
    return ((score * per_step_ + kWhole) - kWhole) * step_;
  }

 private:
  double step_, per_step_;  // powers of 2
};

}  // namespace cutplane
