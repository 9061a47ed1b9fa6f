// A few examples at a time, their lines side by side: what is asked of every class of one example
// is then asked of many examples at once, in vectors.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/multiclass/lines.hpp"

namespace cutplane::multiclass {

inline constexpr index_t kTile = 16;

// Classes are taken in corners of kCorner x kCorner; the last ones overlap where the classes, at
// least kCorner, are no multiple of it.
inline constexpr index_t kCorner = 4;

// Sums of which every place of a tile keeps its own part: additions do not wait for each other.
struct TileSum {
  CUTPLANE_INLINE void add(const double* __restrict weights, const double* __restrict values) {
#pragma omp simd
    for (index_t e = 0; e < kTile; ++e) parts[e] += weights[e] * values[e];
  }
  double total() const { return std::accumulate(parts, parts + kTile, 0.0); }

  double parts[kTile] = {};
};

// The lines of kTile examples along a ray: of example e and class y, heights[y * kTile + e] at its
// start, rising by rises[y * kTile + e] a step. Places without an example have lines at zero.
struct Tile {
  explicit Tile(index_t n_classes)
      : classes(std::max(n_classes, kCorner)), heights(classes * kTile), rises(classes * kTile) {}

  // With every part-th example from `begin` on.
  void fill(const MulticlassSample& sample, const double* s, const double* ends, index_t begin,
            index_t end, index_t part = 1);

  // The height and the rise of each example's highest line at t; of lines that meet there, the
  // steepest: it is the highest right of it.
  CUTPLANE_INLINE void highest(double t, double* __restrict best, double* __restrict slope) const {
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
  CUTPLANE_INLINE void highest_classes(double t, double* __restrict start, double* __restrict best,
                                       double* __restrict at) const {
    for (index_t e = 0; e < kTile; ++e) start[e] = best[e] = at[e] = 0.0;
    for_corners([&](const double* __restrict height, const double* __restrict rise, double first)
                    CUTPLANE_INLINED {
#pragma omp simd
                      for (index_t e = 0; e < kTile; ++e) {
                        double here = start[e], top = best[e], which = at[e];
#pragma GCC unroll 16
                        for (index_t c = 0; c < kCorner; ++c) {
                          const double h = height[c * kTile + e], z = h + t * rise[c * kTile + e];
                          which = z > top ? first + static_cast<double>(c) : which;
                          top = z > top ? z : top;
                          here = h > here ? h : here;
                        }
                        start[e] = here;
                        best[e] = top;
                        at[e] = which;
                      }
                    });
  }

  // For each example, a positive number iff a line steeper than `least` and less steep than `most`
  // is above `height` at from + t.
  CUTPLANE_INLINE void above(double from, const double* __restrict t,
                             const double* __restrict height, const double* __restrict least,
                             const double* __restrict most, double* __restrict found) const {
    for (index_t e = 0; e < kTile; ++e) found[e] = 0.0;
    for (index_t y = 0; y < classes; ++y) {
      const double* __restrict start = heights.data() + y * kTile;
      const double* __restrict rise = rises.data() + y * kTile;
#pragma omp simd
      for (index_t e = 0; e < kTile; ++e) {
        const double over = start[e] + (from + t[e]) * rise[e] - height[e];
        const double steeper = rise[e] - least[e], less_steep = most[e] - rise[e];
        const double between = steeper < less_steep ? steeper : less_steep;
        const double both = over < between ? over : between;
        found[e] = both > found[e] ? both : found[e];
      }
    }
  }

  // body(heights, rises, first class) for every kCorner classes; the last ones overlap.
  template <class Body>
  CUTPLANE_INLINE void for_corners(Body&& body) const {
    for (index_t left = 0; left < classes; left += kCorner) {
      const index_t y = std::min(left, classes - kCorner);
      body(heights.data() + y * kTile, rises.data() + y * kTile, static_cast<double>(y));
    }
  }

  index_t classes;  // at least kCorner: more than there are have lines at zero
  std::vector<double> heights, rises;
  double weights[kTile];
};

}  // namespace cutplane::multiclass
