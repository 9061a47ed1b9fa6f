// The tree over ranks: its nodes from the leaves up, each visited with both halves in order. What
// every sweep over pairs shares: how pairs are compared, and values by example or by place.
#pragma once

#include <array>
#include <vector>

#include "core/ranking/pairs.hpp"

namespace cutplane {

using PairSums = std::array<double, 3>;

inline void add(PairSums& to, const PairSums& more) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += more[k];
}

// The examples of some neighbouring ranks in the order of their scores.
struct OrderedSpan {
  const double* score;
  const place_t* place;
  index_t size;
  // Weights: those before each in the order, and their total. Null: each weighs 1.
  const double* before = nullptr;
  double total = 0.0;

  double mass(index_t end) const {
    if (before == nullptr) return static_cast<double>(end);
    return end < size ? before[end] : total;
  }
};

// A node: every example of `higher` outranks every one of `lower`.
struct RankNode {
  OrderedSpan lower, higher;
  double weight;  // of the group
};

// Sweeps a part of either half: higher and lower give sums, and may write to what belongs to the
// examples of that part.
class PairVisitor {
 public:
  // direction: by place, to order equal scores; or null.
  explicit PairVisitor(const PairSample& sample, const double* along = nullptr)
      : direction(along), weight_(sample.weight.empty() ? nullptr : sample.weight.data()) {}
  virtual PairSums higher(const RankNode& node, index_t begin, index_t end) const = 0;
  virtual PairSums lower(const RankNode& node, index_t begin, index_t end) const = 0;

  bool less(double a, place_t pa, double b, place_t pb) const {
    return a < b || (a == b && direction != nullptr && direction[pa] < direction[pb]);
  }
  double own(place_t p) const { return weight_ != nullptr ? weight_[p] : 1.0; }

  const double* const direction;

 protected:
  ~PairVisitor() = default;

 private:
  const double* weight_;
};

PairSums sweep(const PairSample& sample, const SortedScores& sorted, const PairVisitor& visitor,
               int n_threads);

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
std::vector<double> gather(const PairSample& sample, const double* values, index_t columns,
                           int n_threads);

// Back to the order of the examples; those without a partner get 0.
void scatter(const PairSample& sample, const std::vector<double>& by_place, index_t columns,
             double* values, int n_threads);

}  // namespace cutplane
