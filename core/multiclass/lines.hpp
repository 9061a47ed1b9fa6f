// The lines of one example, z_y = cost + factor (s_y - s_k), and what is made of them.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/multiclass/sweeps.hpp"

namespace cutplane::multiclass {

template <std::size_t N>
using Sums = std::array<double, N>;

// A sweep over one score costs a few nanoseconds.
inline constexpr index_t kWorkPerScore = 3;

inline Blocks example_blocks(const MulticlassSample& sample) {
  return make_blocks(sample.n, std::max<index_t>(64, (1 << 15) / sample.classes), 64);
}

inline int sweep_threads(const MulticlassSample& sample, int n_threads, index_t part = 1) {
  return useful_threads(n_threads, kWorkPerScore * sample.n * sample.classes / part);
}

// Per-block sums, added in block order.
template <std::size_t N, class Body>
Sums<N> sum_blocks(const Blocks& blocks, int n_threads, Body&& body) {
  std::vector<Sums<N>> partial(blocks.count);
  for_blocks(blocks, n_threads,
             [&](index_t b, index_t begin, index_t end) { partial[b] = body(b, begin, end); });
  Sums<N> total{};
  for (const Sums<N>& one : partial)
    for (std::size_t k = 0; k < N; ++k) total[k] += one[k];
  return total;
}

template <std::size_t N, class Body>
Sums<N> sum_examples(const MulticlassSample& sample, int n_threads, Body&& body, index_t part = 1) {
  return sum_blocks<N>(example_blocks(sample), sweep_threads(sample, n_threads, part),
                       [&](index_t, index_t begin, index_t end) { return body(begin, end); });
}

// An example: its true class, its weight and its rows of the cost matrix.
struct Example {
  index_t k, classes;
  double weight;
  const double* __restrict cost;
  const double* __restrict factor;

  CUTPLANE_INLINE Example(const MulticlassSample& sample, index_t i)
      : k(sample.y[i]),
        classes(sample.classes),
        weight(sample.c ? sample.c[i] : sample.each),
        cost(sample.cost + k * classes),
        factor(sample.factor + k * sample.factor_stride) {}

  // What a difference of scores counts.
  CUTPLANE_INLINE double scale(index_t y) const { return factor[y]; }
  CUTPLANE_INLINE double line(index_t y, double difference) const {
    return cost[y] + factor[y] * difference;
  }

  CUTPLANE_INLINE double highest(const double* s) const {
    const double own = s[k];
    double best = 0.0;
    for (index_t y = 0; y < classes; ++y) {
      const double z = line(y, s[y] - own);
      best = z > best ? z : best;
    }
    return best;
  }

  // The class of the highest line, the true one where no other is above it.
  CUTPLANE_INLINE index_t highest_class(const double* s, double& best) const {
    const double own = s[k];
    index_t at = k;
    best = 0.0;
    for (index_t y = 0; y < classes; ++y) {
      const double z = line(y, s[y] - own);
      if (z > best) best = z, at = y;
    }
    return at;
  }

  CUTPLANE_INLINE void lines(const double* s, double* z) const {
    const double own = s[k];
    for (index_t y = 0; y < classes; ++y) z[y] = line(y, s[y] - own);
  }

  // The plane's coefficients from the weights of the classes; returns its share of the offset.
  CUTPLANE_INLINE double plane(const double* p, double* coef) const {
    double offset = 0, own = 0;
    for (index_t y = 0; y < classes; ++y) {
      const double share = weight * p[y] * scale(y);
      offset += weight * p[y] * cost[y];
      coef[y] = share;
      if (y != k) own += share;
    }
    coef[k] = -own;
    return offset;
  }

  CUTPLANE_INLINE double vertex(index_t at, double* coef) const {
    std::fill(coef, coef + classes, 0.0);
    if (at == k) return 0.0;
    const double share = weight * scale(at);
    coef[at] = share;
    coef[k] = -share;
    return weight * cost[at];
  }
};

// The projection of z / width on the simplex: p_y = max(0, z_y - threshold) / width. `near` are the
// z within `width` of the highest: no other can have weight. Returns how many have.
struct Projection {
  double threshold;
  index_t count;
};

CUTPLANE_INLINE Projection project(const double* z, index_t classes, double top, double width,
                                   std::vector<double>& near) {
  near.clear();
  for (index_t y = 0; y < classes; ++y)
    if (z[y] > top - width) near.push_back(z[y]);
  if (near.size() <= 1) return {top - width, 1};
  std::sort(near.begin(), near.end(), std::greater<>());
  // The largest count for which the last one still lies above the threshold.
  double sum = 0, threshold = top - width;
  index_t count = 0;
  for (std::size_t j = 0; j < near.size(); ++j) {
    const double next = (sum + near[j] - width) / static_cast<double>(j + 1);
    if (near[j] <= next) break;
    sum += near[j];
    threshold = next;
    count = static_cast<index_t>(j) + 1;
  }
  return {threshold, count};
}

}  // namespace cutplane::multiclass
