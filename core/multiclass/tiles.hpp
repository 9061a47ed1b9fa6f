// A few examples at a time, their lines side by side: what is asked of every class of one example
// is then asked of many examples at once, in vectors.
#pragma once

#include <vector>

#include "core/multiclass/lines.hpp"

namespace cutplane::multiclass {

inline constexpr index_t kTile = 16;

// The lines of kTile examples along a ray: of example e and class y, heights[y * kTile + e] at its
// start, rising by rises[y * kTile + e] a step. Places without an example have lines at zero.
struct Tile {
  explicit Tile(index_t classes) : heights(classes * kTile), rises(classes * kTile) {}

  template <bool kSlack>
  CUTPLANE_INLINE void fill(const MulticlassSample& sample, const double* s, const double* ends,
                            index_t begin, index_t end) {
    const index_t classes = sample.classes;
    double* __restrict height = heights.data();
    double* __restrict rise = rises.data();
    for (index_t e = 0; e < kTile; ++e) {
      const index_t i = begin + e;
      if (i >= end) {
        for (index_t y = 0; y < classes; ++y)
          height[y * kTile + e] = rise[y * kTile + e] = weights[e] = 0.0;
        continue;
      }
      const Example<kSlack> example(sample, i);
      const double* from = s + i * classes;
      const double* to = ends + i * classes;
      const double own = from[example.k], own_way = to[example.k] - own;
      weights[e] = example.weight;
      for (index_t y = 0; y < classes; ++y) {
        height[y * kTile + e] = example.line(y, from[y] - own);
        rise[y * kTile + e] = example.scale(y) * (to[y] - from[y] - own_way);
      }
    }
  }

  // The height and the rise of each example's highest line at t; of lines that meet there, the
  // steepest: it is the highest right of it.
  CUTPLANE_INLINE void highest(index_t classes, double t, double* __restrict best,
                               double* __restrict slope) const {
    for (index_t e = 0; e < kTile; ++e) best[e] = slope[e] = 0.0;
    for (index_t y = 0; y < classes; ++y) {
      const double* __restrict height = heights.data() + y * kTile;
      const double* __restrict rise = rises.data() + y * kTile;
#pragma omp simd
      for (index_t e = 0; e < kTile; ++e) {
        const double z = height[e] + t * rise[e];
        const double steeper = rise[e] > slope[e] ? rise[e] : slope[e];
        slope[e] = z > best[e] ? rise[e] : (z == best[e] ? steeper : slope[e]);
        best[e] = z > best[e] ? z : best[e];
      }
    }
  }

  // The height of each example's highest line at the start, and at t with its class.
  CUTPLANE_INLINE void highest_classes(index_t classes, double t, double* __restrict start,
                                       double* __restrict best, double* __restrict at) const {
    for (index_t e = 0; e < kTile; ++e) start[e] = best[e] = at[e] = 0.0;
    for (index_t y = 0; y < classes; ++y) {
      const double* __restrict height = heights.data() + y * kTile;
      const double* __restrict rise = rises.data() + y * kTile;
      const double number = static_cast<double>(y);
#pragma omp simd
      for (index_t e = 0; e < kTile; ++e) {
        const double z = height[e] + t * rise[e];
        at[e] = z > best[e] ? number : at[e];
        best[e] = z > best[e] ? z : best[e];
        start[e] = height[e] > start[e] ? height[e] : start[e];
      }
    }
  }

  std::vector<double> heights, rises;
  double weights[kTile];
};

}  // namespace cutplane::multiclass
