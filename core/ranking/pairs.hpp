// Pairs of examples of different rank, summed over without visiting them.
//
// For i ranked above j, z_ij = 1 - s_i + s_j; the risk is the sum over all such pairs of the same
// group of g c_i c_j max(0, z_ij), with g the group's weight and c the examples' (1 where there are
// none). With scores in order, the pairs beyond their kinks are a staircase, so a merge counts
// them: the ranks of a group are the leaves of a binary tree, each node holds the examples of its
// ranks in the order of their scores, and the pairs between its lower and its higher half are met
// there. That is O(n log n) to sort the leaves and O(n log(ranks)) to go up, for real-valued
// targets too.
//
// Rounded over a width h, a pair's slope is pi = clip(z/h + ½, 0, 1). Any pi in [0, 1] give a plane
// below the risk, as for the hinge (core/losses/hinge.hpp); sums of pi run over windows of the
// order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/ranking/pairs.hpp"
#include "core/ranking/score_order.hpp"

namespace cutplane {

// Who is compared with whom. Places number the examples that have a partner, by group, then rank.
struct PairSample {
  index_t n;                         // examples in all
  std::vector<place_t> example;      // of each place
  std::vector<index_t> leaf;         // first place of each rank of each group, and the end
  std::vector<index_t> group;        // first leaf of each group, and the end
  std::vector<double> group_weight;  // g
  std::vector<double> weight;        // c of each place, or empty
  bool few_pairs = false;            // as core/ranking/few_pairs.hpp has it

  index_t places() const { return static_cast<index_t>(example.size()); }
};

// The scores of a sample in order, within each rank of each group.
struct SortedScores {
  std::vector<double> key;
  std::vector<place_t> place;
};

// The scores of a sample, on their grid, by place, where there are few pairs, and in order.
class PairScores {
 public:
  // s has length sample.n. `near`: the places in an order that is nearly right, or nothing.
  PairScores(const PairSample& sample, const double* s, std::vector<place_t> near, int n_threads);

  bool finite() const { return finite_; }
  const std::vector<double>& by_place() const { return by_place_; }
  // Sorted when it is asked for first, if sums over few pairs can do without.
  const SortedScores& in_order();
  // The places in order, or nothing.
  const std::vector<place_t>& places() const { return sorted_.place; }

 private:
  const PairSample& sample_;
  int n_threads_;
  std::vector<double> by_place_;
  bool finite_;
  SortedScores sorted_;
};

struct PairCut {
  double value;   // the risk, exactly
  double offset;  // sum of the pairs' weights times pi
};

// coef gets the plane's coefficients, of length sample.n: -sum of pi over the pairs an example
// leads, plus the sum over those it trails in.
PairCut pair_cut(const PairSample& sample, PairScores& scores, double* coef, int n_threads);

// The same with pi = z/h + ½ for |z| < reach/2, 0 and 1 outside. With reach = h: the risk rounded
// over h, and a plane below the risk. With reach > h: as if the pairs on the wider kink stayed on
// it.
PairCut pair_smoothed(const PairSample& sample, const SortedScores& sorted, double h, double reach,
                      double* coef, int n_threads);

// coef = L directions, L being the Laplacian of the pairs on the kink of width h: h times the
// second derivative of the rounded risk is X' L X. Both are matrices with a row for each example.
void pair_curvature(const PairSample& sample, const SortedScores& sorted, double h,
                    const double* directions, index_t columns, double* coef, int n_threads);

struct PairSlope {
  double value;
  double slope;  // the right derivative
  bool finite;
};

// The risk along start + t (end - start). Each point is sorted from the order of the one before,
// the first from the one to begin with, where there is one.
class PairLine {
 public:
  PairLine(const PairSample& sample, const double* start, const double* end, int n_threads);

  void begin_with(const std::vector<place_t>& places) { sorted_.place = places; }
  PairSlope at(double t);
  // In the order of the last point, or nothing.
  const std::vector<place_t>& places() const { return sorted_.place; }

 private:
  const PairSample& sample_;
  int n_threads_;
  std::vector<double> start_, direction_, scores_;  // by place
  SortedScores sorted_;
};

// Sums over pairs, one by one: where examples have few partners, sooner than to sort them.

// Whether it is sooner.
bool has_few_pairs(const PairSample& sample);

// As pair_cut, from scores by place.
PairCut few_pairs_cut(const PairSample& sample, const std::vector<double>& scores, double* coef,
                      int n_threads);

// The risk at scores by place, and its right derivative along a direction.
PairSlope few_pairs_slope(const PairSample& sample, const std::vector<double>& scores,
                          const std::vector<double>& direction, int n_threads);

}  // namespace cutplane
