// Kernel functions as a reduction over features followed by a function of one number.
//
//   linear      <x, z>                          sigmoid    tanh(gamma <x, z> + coef0)
//   rbf         exp(-gamma |x - z|²)            laplacian  exp(-gamma |x - z|_1)
//   poly        (gamma <x, z> + coef0)^degree   chi2       exp(-gamma sum (x - z)² / (x + z))
#pragma once

#include "core/multiversion.hpp"
#include "core/parallel.hpp"
#include "core/smo/fast_exp.hpp"

namespace cutplane::smo {

enum class Kind { linear, rbf, poly, sigmoid, laplacian, chi2 };

struct KernelFunction {
  Kind kind = Kind::linear;
  float gamma = 1;
  float coef0 = 0;
  int degree = 3;
};

// What is summed over the features of a pair.
enum class Reduction { product, squared_difference, absolute_difference, chi_square };

CUTPLANE_INLINE float integer_power(float base, int exponent) {
  float power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}

// values[j] = the kernel of a row of squared length `row_norm` with column j, from the reduction.
// column_norms: null where the reduction is a distance already.
CUTPLANE_INLINE void finish(const KernelFunction& function, float row_norm,
                            const float* column_norms, index_t n, float* values) {
  const float gamma = function.gamma, coef0 = function.coef0;
  switch (function.kind) {
    case Kind::linear:
      return;
    case Kind::rbf:
      if (column_norms != nullptr) {
        for (index_t j = 0; j < n; ++j)
          values[j] = fast_exp(-gamma * ((row_norm + column_norms[j]) - 2.0f * values[j]));
        return;
      }
      [[fallthrough]];
    case Kind::laplacian:
    case Kind::chi2:
      for (index_t j = 0; j < n; ++j) values[j] = fast_exp(-gamma * values[j]);
      return;
    case Kind::poly:
      if (function.degree == 3) {
        for (index_t j = 0; j < n; ++j) {
          const float base = gamma * values[j] + coef0;
          values[j] = base * base * base;
        }
        return;
      }
      for (index_t j = 0; j < n; ++j)
        values[j] = integer_power(gamma * values[j] + coef0, function.degree);
      return;
    case Kind::sigmoid:
      for (index_t j = 0; j < n; ++j) values[j] = fast_tanh(gamma * values[j] + coef0);
      return;
  }
}

}  // namespace cutplane::smo
