// exp and tanh in single precision, written so that compilers turn loops over them into vector
// instructions: no branch, no table, no call.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/multiversion.hpp"

namespace cutplane::smo {

// Relative error below 2e-7 where the result is at least 1.2e-38; below that, and for arguments
// below -87.3, the result is 0. Arguments above 0 are taken for 0: distances are never negative,
// but their rounded differences are.
CUTPLANE_INLINE float fast_exp(float x) {
  constexpr float kLeast = -87.33654f, kLog2e = 1.44269504f, kShift = 12582912.0f;  // 1.5 * 2^23
  constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;
  const float clamped = std::min(std::max(x, kLeast), 0.0f);
  const float shifted = clamped * kLog2e + kShift;  // rounds to the nearest integer
  const float n = shifted - kShift;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  // Minimax on [-ln2/2, ln2/2].
  float p = 1.381453976e-03f;
  p = p * r + 8.368745142e-03f;
  p = p * r + 4.166839079e-02f;
  p = p * r + 1.666652040e-01f;
  p = p * r + 4.999999343e-01f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::int32_t exponent =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kShift);
  const float scale = std::bit_cast<float>((exponent + 127) << 23);
  return x < kLeast ? 0.0f : p * scale;
}

// Absolute error below 3e-7.
CUTPLANE_INLINE float fast_tanh(float x) {
  const float size = x < 0.0f ? -x : x;
  const float e = fast_exp(-2.0f * size);
  const float value = (1.0f - e) / (1.0f + e);
  return x < 0.0f ? -value : value;
}

}  // namespace cutplane::smo
