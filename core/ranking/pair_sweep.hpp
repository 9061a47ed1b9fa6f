// What every sweep over pairs shares: how pairs are compared, and values by example or by place.
#pragma once

#include <algorithm>
#include <vector>

#include "core/ranking/pair_tree.hpp"
#include "core/ranking/pairs.hpp"

namespace cutplane {

// z_ij as every comparison computes it: monotone in both scores even after rounding, so sweeps over
// either half agree on every pair.
inline double violation(double higher, double lower) { return (1.0 - higher) + lower; }

// The first k in [from, size) for which holds(k), which is false and then true.
template <class Holds>
index_t first_that(index_t from, index_t size, Holds holds) {
  index_t count = size - from;
  while (count > 0) {
    const index_t half = count / 2;
    if (holds(from + half)) {
      count = half;
    } else {
      from += half + 1;
      count -= half + 1;
    }
  }
  return from;
}

struct ByScore {
  bool less(double a, place_t, double b, place_t) const { return a < b; }
};

inline Blocks place_blocks(index_t n) { return make_blocks(n, 1 << 14, 64); }

// Rows of examples by place.
inline std::vector<double> gather(const PairSample& sample, const double* values, index_t columns,
                                  int n_threads) {
  std::vector<double> by_place(sample.example.size() * columns);
  for_blocks(
      place_blocks(sample.places()), useful_threads(n_threads, 4 * columns * sample.places()),
      [&](index_t, index_t begin, index_t end) {
        for (index_t p = begin; p < end; ++p)
          std::copy_n(values + sample.example[p] * columns, columns, by_place.data() + p * columns);
      });
  return by_place;
}

// Back to the order of the examples; those without a partner get 0.
inline void scatter(const PairSample& sample, const std::vector<double>& by_place, index_t columns,
                    double* values, int n_threads) {
  if (sample.places() < sample.n) std::fill(values, values + sample.n * columns, 0.0);
  for_blocks(
      place_blocks(sample.places()), useful_threads(n_threads, 4 * columns * sample.places()),
      [&](index_t, index_t begin, index_t end) {
        for (index_t p = begin; p < end; ++p)
          std::copy_n(by_place.data() + p * columns, columns, values + sample.example[p] * columns);
      });
}

// Sweeps with the visitor that fits the sample.
template <template <bool> class Visitor, class Make>
PairSums sweep(const PairSample& sample, const SortedScores& sorted, int n_threads, Make&& make) {
  const auto run = [&](auto visitor) { return PairTree(sample, visitor, n_threads).sweep(sorted); };
  if (sample.weight.empty()) return run(make(Visitor<false>{}));
  Visitor<true> visitor{};
  visitor.weight = sample.weight.data();
  return run(make(visitor));
}

}  // namespace cutplane
