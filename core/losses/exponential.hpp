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
  // By pairs: no product waits for more than four others. The first two terms come last, which
  // leaves the rounding of one addition.
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double c2 = 0.5 + r * (1.0 / 6.0), c4 = 1.0 / 24.0 + r * (1.0 / 120.0);
  const double c6 = 1.0 / 720.0 + r * (1.0 / 5040.0), c8 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
  const double c10 = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
  const double c12 = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
  const double rest = (c2 + r2 * c4) + (r4 * (c6 + r2 * c8) + r8 * (c10 + r2 * c12));
  const double p = (r + r2 * rest) + 1.0;
  const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  return x > -708.0 ? p * std::bit_cast<double>(exponent) : 0.0;
}

// log(1 + e) for 0 <= e <= 1, to about 1e-16 relative: 2 artanh(e / (2 + e)).
CUTPLANE_INLINE double log1p_of_unit(double e) {
  const double u = e / (2.0 + e);  // at most 1/3
  const double q = u * u;
  const double q2 = q * q, q4 = q2 * q2, q8 = q4 * q4;
  const double c1 = 1.0 / 3.0 + q * (1.0 / 5.0), c3 = 1.0 / 7.0 + q * (1.0 / 9.0);
  const double c5 = 1.0 / 11.0 + q * (1.0 / 13.0), c7 = 1.0 / 15.0 + q * (1.0 / 17.0);
  const double c9 = 1.0 / 19.0 + q * (1.0 / 21.0), c11 = 1.0 / 23.0 + q * (1.0 / 25.0);
  const double c13 = 1.0 / 27.0 + q * (1.0 / 29.0), c15 = 1.0 / 31.0 + q * (1.0 / 33.0);
  const double low = (c1 + q2 * c3) + q4 * (c5 + q2 * c7);
  const double high = (c9 + q2 * c11) + q4 * (c13 + q2 * c15);
  const double p = 1.0 + q * (low + q8 * high);
  return 2.0 * u * p;
}

}  // namespace cutplane
