// Kernel functions as a reduction over features followed by a function of one number.
//
//   linear      <x, z>                          sigmoid    tanh(gamma <x, z> + coef0)
//   rbf         exp(-gamma |x - z|²)            laplacian  exp(-gamma |x - z|_1)
//   poly        (gamma <x, z> + coef0)^degree   chi2       exp(-gamma sum (x - z)² / (x + z))
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/smo/fast_exp.hpp"

namespace cutplane::smo {

enum class Kind { linear, rbf, poly, sigmoid, laplacian, chi2 };

struct KernelParameters {
  Kind kind = Kind::linear;
  double gamma = 1;
  double coef0 = 0;
  int degree = 3;
};

// A kernel of examples in their frame. The kernel itself is `2^exponent` times what it gives.
struct KernelFunction {
  Kind kind = Kind::linear;
  float gamma = 1;
  float coef0 = 0;
  int degree = 3;
  float scale = 1;  // of a linear kernel
  int exponent = 0;
};

// The function of examples that are stored 2^-exponent times as large, the longest of them with
// this squared length. Kernels without a largest value are scaled to about 1 where they would leave
// the range in which single precision, and the least curvature of a pair, are of use.
inline KernelFunction scaled_function(const KernelParameters& p, int exponent, double square) {
  constexpr int kLeast = -20, kMost = 60;
  const auto single = [](double value) {
    constexpr double most = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -most, most));
  };
  const auto size = [](double value) { return value == 0.0 ? -100000 : std::ilogb(value) + 1; };
  const auto outside = [](int e) { return e < kLeast || e > kMost; };
  KernelFunction f{p.kind, 1.0f, single(p.coef0), p.degree, 1.0f, 0};
  if (p.kind == Kind::linear) {
    if (square > 0.0 && outside(2 * exponent + size(square)))
      f.exponent = 2 * exponent;
    else
      f.scale = single(std::ldexp(1.0, 2 * exponent));
    return f;
  }
  if (p.kind == Kind::laplacian || p.kind == Kind::chi2) {
    f.gamma = single(std::ldexp(p.gamma, exponent));
    return f;
  }
  int of_base = 0;
  if (p.kind == Kind::poly && p.degree > 0 && (square > 0.0 || p.coef0 != 0.0)) {
    const int base = std::max(square > 0.0 ? size(p.gamma) + 2 * exponent + size(square) : -100000,
                              size(p.coef0));
    if (outside(base * p.degree)) of_base = base;
  }
  f.gamma = single(std::ldexp(p.gamma, 2 * exponent - of_base));
  f.coef0 = single(std::ldexp(p.coef0, -of_base));
  f.exponent = of_base * p.degree;
  return f;
}

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
      if (function.scale != 1.0f)
        for (index_t j = 0; j < n; ++j) values[j] *= function.scale;
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
