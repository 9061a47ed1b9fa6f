// Kernel functions as single precision computes them: a sum over features, then a function of one
// number (core/smo/kernel_table.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane::smo {

// The kernels: what is summed over the features of a pair, and the function of that sum. All that
// is known of a kernel follows from the two. A new kernel made of these parts is one entry here,
// and its formula in the proof checker, which shares nothing with this.

// The sum over the features of a pair x, z.
enum class Reduction {
  product,              // <x, z>
  squared_difference,   // |x - z|²
  absolute_difference,  // |x - z|_1
  chi_square            // sum (x - z)² / (x + z)
};

// What becomes of a sum s.
enum class Transform {
  identity,     // s
  exponential,  // exp(-gamma s)
  power,        // (gamma s + coef0)^degree
  tangent       // tanh(gamma s + coef0)
};

struct Kernel {
  std::string_view name;
  Reduction reduction;
  Transform transform;
  std::string_view formula;

  // Whether K(x, x) = 1. Such kernels are also 0 far away.
  constexpr bool unit_length() const { return transform == Transform::exponential; }
  // Whether K(x + a, z + a) = K(x, z).
  constexpr bool shift_invariant() const {
    return reduction == Reduction::squared_difference ||
           reduction == Reduction::absolute_difference;
  }
  // Whether examples must not have negative values.
  constexpr bool positive_only() const { return reduction == Reduction::chi_square; }
  // Examples t times as large have sums t^growth times as large.
  constexpr int growth() const {
    return reduction == Reduction::product || reduction == Reduction::squared_difference ? 2 : 1;
  }
  constexpr bool uses_gamma() const { return transform != Transform::identity; }
  constexpr bool uses_coef0() const { return uses_degree() || transform == Transform::tangent; }
  constexpr bool uses_degree() const { return transform == Transform::power; }
  // Whether every kernel matrix is positive semi-definite by construction: products are, and their
  // powers with coef0 >= 0, and exp(-gamma s) of these distances s, which are of negative type.
  constexpr bool definite(double coef0) const {
    const bool product = reduction == Reduction::product;
    switch (transform) {
      case Transform::identity:
        return product;
      case Transform::exponential:
        return !product;
      case Transform::power:
        return product && coef0 >= 0.0;
      case Transform::tangent:
        return false;
    }
    return false;
  }
};

inline constexpr std::array kKernels{
    Kernel{"linear", Reduction::product, Transform::identity, "<x, z>"},
    Kernel{"rbf", Reduction::squared_difference, Transform::exponential, "exp(-gamma |x - z|²)"},
    Kernel{"poly", Reduction::product, Transform::power, "(gamma <x, z> + coef0)^degree"},
    Kernel{"sigmoid", Reduction::product, Transform::tangent, "tanh(gamma <x, z> + coef0)"},
    Kernel{"laplacian", Reduction::absolute_difference, Transform::exponential,
           "exp(-gamma |x - z|_1)"},
    Kernel{"chi2", Reduction::chi_square, Transform::exponential,
           "exp(-gamma Σ (x - z)² / (x + z))"},
};

inline const Kernel& kernel_named(std::string_view name) {
  for (const Kernel& kernel : kKernels)
    if (kernel.name == name) return kernel;
  throw std::invalid_argument("no kernel has the name " + std::string(name));
}

// exp and tanh in single precision, written so that compilers turn loops over them into vector
// instructions: no branch, no table, no call.

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

struct KernelParameters {
  Kernel kernel = kKernels[0];
  double gamma = 1;
  double coef0 = 0;
  int degree = 3;
};

// A kernel of examples in their frame. The kernel itself is `2^exponent` times what it gives.
struct KernelFunction {
  Reduction reduction = Reduction::product;
  Transform transform = Transform::identity;
  float gamma = 1;
  float coef0 = 0;
  int degree = 3;
  float scale = 1;  // of a sum that is not transformed
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
  KernelFunction f{
      p.kernel.reduction, p.kernel.transform, 1.0f, single(p.coef0), p.degree, 1.0f, 0};
  const int of_sum = p.kernel.growth() * exponent;
  if (f.transform == Transform::identity) {
    if (square > 0.0 && outside(of_sum + size(square)))
      f.exponent = of_sum;
    else
      f.scale = single(std::ldexp(1.0, of_sum));
    return f;
  }
  int of_base = 0;
  if (f.transform == Transform::power && p.degree > 0 && (square > 0.0 || p.coef0 != 0.0)) {
    const int base =
        std::max(square > 0.0 ? size(p.gamma) + of_sum + size(square) : -100000, size(p.coef0));
    if (outside(base * p.degree)) of_base = base;
  }
  f.gamma = single(std::ldexp(p.gamma, of_sum - of_base));
  f.coef0 = single(std::ldexp(p.coef0, -of_base));
  f.exponent = of_base * p.degree;
  return f;
}

CUTPLANE_INLINE float integer_power(float base, int exponent) {
  float power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}

// values[j] = the kernel of a row with column j, from the sum over features. column_norms: where
// the sums are products but the kernel is one of squared distances, the squared lengths of the
// columns, and row_norm that of the row; else null.
CUTPLANE_INLINE void finish_some(const KernelFunction& function, float row_norm,
                                 const float* column_norms, index_t n, float* values) {
  const float gamma = function.gamma, coef0 = function.coef0;
  switch (function.transform) {
    case Transform::identity:
      if (function.scale != 1.0f)
        for (index_t j = 0; j < n; ++j) values[j] *= function.scale;
      return;
    case Transform::exponential:
      if (column_norms != nullptr) {
        for (index_t j = 0; j < n; ++j)
          values[j] = fast_exp(-gamma * ((row_norm + column_norms[j]) - 2.0f * values[j]));
        return;
      }
      for (index_t j = 0; j < n; ++j) values[j] = fast_exp(-gamma * values[j]);
      return;
    case Transform::power:
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
    case Transform::tangent:
      for (index_t j = 0; j < n; ++j) values[j] = fast_tanh(gamma * values[j] + coef0);
      return;
  }
}

// The same for many columns: always as many at a time, so that the last bits do not depend on where
// a block begins and ends.
CUTPLANE_INLINE void finish(const KernelFunction& function, float row_norm,
                            const float* column_norms, index_t n, float* values) {
  constexpr index_t kAtOnce = 16;
  index_t j = 0;
  for (; j + kAtOnce <= n; j += kAtOnce)
    finish_some(function, row_norm, column_norms != nullptr ? column_norms + j : nullptr, kAtOnce,
                values + j);
  if (j < n)
    finish_some(function, row_norm, column_norms != nullptr ? column_norms + j : nullptr, n - j,
                values + j);
}

}  // namespace cutplane::smo
