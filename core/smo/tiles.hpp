// The inner loops of kernel blocks: a few rows against panels of columns, accumulators in
// registers.
//
// Columns are stored in panels of 16: for each feature, its value in 16 consecutive examples. So a
// vector of columns is one load and a row's feature one broadcast, and nothing is repacked. Every
// entry sums its features in the same order whatever tile it falls into: K(A, B) does not depend on
// how A and B are cut.
#pragma once

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/smo/kernel_function.hpp"

namespace cutplane::smo {

inline constexpr index_t kPanel = 16;
// Features summed in one go before the sum goes to memory: a pair of panels stays in the first
// cache.
inline constexpr index_t kFeatureBlock = 256;

inline index_t panels_for(index_t n) { return (n + kPanel - 1) / kPanel; }
inline index_t padded(index_t n) { return panels_for(n) * kPanel; }

template <int Lanes>
struct VectorOf {
  typedef float type __attribute__((vector_size(Lanes * sizeof(float))));
  // The same in an array of float, anywhere in it.
  typedef float stored
      __attribute__((vector_size(Lanes * sizeof(float)), aligned(sizeof(float)), may_alias));

  // By reference: a vector that is returned changes the ABI of a baseline build.
  static CUTPLANE_INLINE void load(const float* from, type& value) {
    value = *reinterpret_cast<const stored*>(from);
  }
  static CUTPLANE_INLINE void store(const type& value, float* to) {
    *reinterpret_cast<stored*>(to) = value;
  }
};

template <Reduction reduction, class Vector>
CUTPLANE_INLINE void accumulate(Vector& sum, float a, const Vector& b) {
  if constexpr (reduction == Reduction::product) {
    sum += a * b;
  } else {
    const Vector difference = a - b;
    if constexpr (reduction == Reduction::squared_difference) {
      sum += difference * difference;
    } else if constexpr (reduction == Reduction::absolute_difference) {
      sum += difference < 0.0f ? -difference : difference;
    } else {
      // Where both are zero the numerator is zero too: any positive denominator will do.
      const Vector whole = a + b;
      sum += difference * difference / (whole > 0.0f ? whole : whole + 1.0f);
    }
  }
}

// R rows (row-major, `row_stride` apart) against P panels, features [from, to):
// out[r] (+)= reduction.
template <Reduction reduction, int Lanes, int R, int P>
CUTPLANE_INLINE void tile(const float* rows, index_t row_stride, const float* panels,
                          index_t panel_stride, index_t from, index_t to, float* const* out) {
  using Vectors = VectorOf<Lanes>;
  using Vector = typename Vectors::type;
  constexpr int V = P * kPanel / Lanes;  // vectors per row
  constexpr int kPerPanel = kPanel / Lanes;
  Vector sums[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) sums[r][v] = Vector{};
  for (index_t k = from; k < to; ++k) {
    Vector columns[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v)
      Vectors::load(panels + (v / kPerPanel) * panel_stride + k * kPanel + (v % kPerPanel) * Lanes,
                    columns[v]);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const float a = rows[r * row_stride + k];
#pragma GCC unroll 16
      for (int v = 0; v < V; ++v) accumulate<reduction>(sums[r][v], a, columns[v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      float* target = out[r] + v * Lanes;
      if (from > 0) {
        Vector before;
        Vectors::load(target, before);
        sums[r][v] += before;
      }
      Vectors::store(sums[r][v], target);
    }
}

}  // namespace cutplane::smo
