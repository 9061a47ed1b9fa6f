#include "core/multiclass/tiles.hpp"

#include <cstring>

namespace cutplane::multiclass {
namespace {

// out[y * kTile + e] = rows[e * apart + y].
CUTPLANE_INLINE void transpose(const double* rows, index_t classes, index_t apart, double* out) {
  typedef double Four __attribute__((vector_size(kCorner * sizeof(double))));
  for (index_t e = 0; e < kTile; e += kCorner) {
    for (index_t left = 0; left < classes; left += kCorner) {
      const index_t y = std::min(left, classes - kCorner);
      const double* corner = rows + e * apart + y;
      Four row[kCorner], column[kCorner];
#pragma GCC unroll 16
      for (index_t r = 0; r < kCorner; ++r) std::memcpy(row + r, corner + r * apart, sizeof(Four));
      const Four even_above = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
      const Four odd_above = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
      const Four even_below = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
      const Four odd_below = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
      column[0] = __builtin_shufflevector(even_above, even_below, 0, 1, 4, 5);
      column[1] = __builtin_shufflevector(odd_above, odd_below, 0, 1, 4, 5);
      column[2] = __builtin_shufflevector(even_above, even_below, 2, 3, 6, 7);
      column[3] = __builtin_shufflevector(odd_above, odd_below, 2, 3, 6, 7);
#pragma GCC unroll 16
      for (index_t c = 0; c < kCorner; ++c)
        std::memcpy(out + (y + c) * kTile + e, column + c, sizeof(Four));
    }
  }
}

// Of kTile examples where every mistake costs 1.
CUTPLANE_INLINE void fill_whole(Tile& tile, const MulticlassSample& sample, const double* s,
                                const double* ends, index_t begin, index_t part) {
  const index_t classes = tile.classes;
  transpose(s + begin * classes, classes, part * classes, tile.heights.data());
  transpose(ends + begin * classes, classes, part * classes, tile.rises.data());
  double own[kTile], own_way[kTile], own_class[kTile];
  for (index_t e = 0; e < kTile; ++e) {
    const index_t i = begin + e * part, k = sample.y[i];
    own[e] = s[i * classes + k];
    own_way[e] = ends[i * classes + k] - own[e];
    own_class[e] = static_cast<double>(k);
    tile.weights[e] = sample.c ? sample.c[i] : sample.each;
  }
  for (index_t y = 0; y < classes; ++y) {
    double* __restrict height = tile.heights.data() + y * kTile;
    double* __restrict rise = tile.rises.data() + y * kTile;
    const double number = static_cast<double>(y);
#pragma omp simd
    for (index_t e = 0; e < kTile; ++e) {
      const double cost = own_class[e] == number ? 0.0 : 1.0;
      rise[e] = rise[e] - height[e] - own_way[e];
      height[e] = cost + (height[e] - own[e]);
    }
  }
}

CUTPLANE_INLINE void fill_by_example(Tile& tile, const MulticlassSample& sample, const double* s,
                                     const double* ends, index_t begin, index_t end, index_t part,
                                     bool slack) {
  const index_t classes = tile.classes;
  double* __restrict height = tile.heights.data();
  double* __restrict rise = tile.rises.data();
  for (index_t e = 0; e < kTile; ++e) {
    const index_t i = begin + e * part;
    if (i >= end) {
      for (index_t y = 0; y < classes; ++y)
        height[y * kTile + e] = rise[y * kTile + e] = tile.weights[e] = 0.0;
      continue;
    }
    const Example example(sample, i);
    const double* from = s + i * sample.classes;
    const double* to = ends + i * sample.classes;
    const double own = from[example.k], own_way = to[example.k] - own;
    tile.weights[e] = example.weight;
    for (index_t y = 0; y < sample.classes; ++y) {
      const double over = from[y] - own, way = to[y] - from[y] - own_way;
      height[y * kTile + e] = slack ? example.line(y, over) : example.cost[y] + over;
      rise[y * kTile + e] = slack ? example.scale(y) * way : way;
    }
  }
}

}  // namespace

CUTPLANE_MULTIVERSION void Tile::fill(const MulticlassSample& sample, const double* s,
                                      const double* ends, index_t begin, index_t end,
                                      index_t part) {
  const bool whole = begin + (kTile - 1) * part < end;
  if (sample.equal_costs && sample.classes >= kCorner && whole) {
    fill_whole(*this, sample, s, ends, begin, part);
  } else if (sample.factor_stride == 0) {  // products with one take a while where classes are few
    fill_by_example(*this, sample, s, ends, begin, end, part, false);
  } else {
    fill_by_example(*this, sample, s, ends, begin, end, part, true);
  }
}

}  // namespace cutplane::multiclass
