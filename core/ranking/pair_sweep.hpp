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

// copy(place, example) for each place.
template <class Copy>
void for_places(const PairSample& sample, index_t columns, int n_threads, const Copy& copy) {
  for_blocks(place_blocks(sample.places()),
             useful_threads(n_threads, 4 * columns * sample.places()),
             [&](index_t, index_t begin, index_t end) {
               for (index_t p = begin; p < end; ++p) copy(p, index_t{sample.example[p]});
             });
}

// Values, or rows, of examples by place.
inline std::vector<double> gather(const PairSample& sample, const double* values, index_t columns,
                                  int n_threads) {
  std::vector<double> by_place(sample.example.size() * columns);
  double* to = by_place.data();
  if (columns == 1)  // to call a function for each value would take ten times as long
    for_places(sample, 1, n_threads, [&](index_t p, index_t i) { to[p] = values[i]; });
  else
    for_places(sample, columns, n_threads, [&](index_t p, index_t i) {
      std::copy_n(values + i * columns, columns, to + p * columns);
    });
  return by_place;
}

// Back to the order of the examples; those without a partner get 0.
inline void scatter(const PairSample& sample, const std::vector<double>& by_place, index_t columns,
                    double* values, int n_threads) {
  if (sample.places() < sample.n) std::fill(values, values + sample.n * columns, 0.0);
  const double* from = by_place.data();
  if (columns == 1)
    for_places(sample, 1, n_threads, [&](index_t p, index_t i) { values[i] = from[p]; });
  else
    for_places(sample, columns, n_threads, [&](index_t p, index_t i) {
      std::copy_n(from + p * columns, columns, values + i * columns);
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
