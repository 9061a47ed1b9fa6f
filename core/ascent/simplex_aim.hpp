// Going on as weights have changed, on a simplex.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/parallel.hpp"

namespace cutplane {

// Sets aim(j) to `reach` times weight(j) - before(j), but so that no weight falls below zero; then
// what grows does so by less, and the aims sum to zero. For j = 0, ..., count - 1.
template <class Weight, class Before, class Aim>
void aim_on_simplex(index_t count, double reach, Weight&& weight, Before&& before, Aim&& aim) {
  double fall = 0, growth = 0;
  for (index_t j = 0; j < count; ++j) {
    aim(j) = std::max(-weight(j), reach * (weight(j) - before(j)));
    (aim(j) < 0.0 ? fall : growth) += std::abs(aim(j));
  }
  const double kept = growth > 0.0 ? fall / growth : 0.0;
  for (index_t j = 0; j < count; ++j)
    if (aim(j) > 0.0) aim(j) *= kept;
}

// How many times as far as the last change it is tried to go on, by how far was best.
class Reach {
 public:
  double now() const { return now_; }
  // `best`: in units of what was tried. The share of it to take.
  double take(double best) {
    now_ = std::clamp(now_ * best, std::max(kLeast, 0.5 * now_), 2.0 * now_);
    return std::clamp(best, 0.0, 1.0);
  }

 private:
  static constexpr double kLeast = 0.5;
  double now_ = kLeast;
};

}  // namespace cutplane
