// exp and log1p as loops can use them: polynomials without a branch, which compilers turn into
// vectors on every platform.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/multiversion.hpp"

namespace cutplane {

// exp(x) for x <= 0, to about 1e-16 relative; 0 below -708.
CUTPLANE_INLINE double exp_negative(double x) {
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  // Adding this rounds to an integer and leaves it in the low bits.
  constexpr double kRound = 6755399441055744.0;
  const double bounded = x > -708.0 ? x : -708.0;
  const double shifted = bounded * kLog2e + kRound;
  const double k = shifted - kRound;
  const double r = (bounded - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  return x > -708.0 ? p * std::bit_cast<double>(exponent) : 0.0;
}

// log(1 + e) for 0 <= e <= 1, to about 1e-16 relative: 2 artanh(e / (2 + e)).
CUTPLANE_INLINE double log1p_of_unit(double e) {
  const double u = e / (2.0 + e);  // at most 1/3
  const double q = u * u;
  double p = 1.0 / 33.0;
  p = p * q + 1.0 / 31.0;
  p = p * q + 1.0 / 29.0;
  p = p * q + 1.0 / 27.0;
  p = p * q + 1.0 / 25.0;
  p = p * q + 1.0 / 23.0;
  p = p * q + 1.0 / 21.0;
  p = p * q + 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  p = p * q + 1.0;
  return 2.0 * u * p;
}

}  // namespace cutplane
