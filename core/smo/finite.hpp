// Whether kernel values are numbers.
#pragma once

#include <cmath>

#include "core/base/parallel.hpp"

namespace cutplane::smo {

// The first position of a value that is infinite or not a number, or -1.
inline index_t first_not_finite(const float* values, index_t n) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};  // 0 times a finite value is 0, times any other is not a number
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) sums[l] += 0.0f * values[t + l];
  for (; t < n; ++t) sums[0] += 0.0f * values[t];
  bool finite = true;
  for (const float sum : sums) finite &= sum == 0.0f;
  if (finite) return -1;
  for (index_t at = 0; at < n; ++at)
    if (!std::isfinite(values[at])) return at;
  return -1;
}

}  // namespace cutplane::smo
