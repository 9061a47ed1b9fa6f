// The kernels: what is summed over the features of a pair, and the function of that sum. All that
// is known of a kernel follows from the two. A new kernel made of these parts is one entry here,
// and its formula in the proof checker, which shares nothing with this.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cutplane::smo {

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

}  // namespace cutplane::smo
