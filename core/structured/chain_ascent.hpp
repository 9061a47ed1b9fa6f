// Block-coordinate Frank-Wolfe with pairwise steps for linear chains, one sequence at a time.
//
// The dual variables of a sequence weight the labellings that its searches have found, the truth
// among them, and sum to one. They maximise  C sum_i <weights_i, losses_i> - ½|w|²  with
// w = C sum_i <weights_i, features(truth_i) - features(labelling)>. What is proven with them is
// computed elsewhere, from the labellings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/structured/chain.hpp"
#include "core/structured/sparse_sum.hpp"

namespace cutplane {

class ChainAscent {
 public:
  ChainAscent(const Chains& chains, const label_t* truth, const double* cost, double C,
              std::uint64_t seed);

  // As many visits as there are sequences: every one once at first, then the more the larger its
  // gap was when last seen.
  void epoch();
  // The gaps of the sequences, from the heights of an exact search at the present weights.
  void renew(const double* heights, int n_threads);
  // w / (-C n) and the mean loss, summed up afresh: the plane the dual variables stand for.
  double plane(double* slope) const;

  const std::vector<double>& weights() const { return w_; }
  double dual_value() const;
  double gap() const;

 private:
  struct Labelling {
    std::vector<label_t> labels;
    double weight;
    double loss;
  };
  struct Mixture {
    double height, lowest;
    std::size_t low;
  };

  void visit(index_t sequence);
  // Heights before the truth's score is taken off: of the weighted mean and of the lowest
  // labelling, and which that is.
  Mixture mixture(index_t sequence, const ChainScratch& scratch) const;
  // Where a labelling is among those known; added with weight 0 if it is new.
  std::size_t place_of(index_t sequence, std::span<const label_t> labels);
  // The direction from one labelling's features to another's.
  void set_direction(index_t sequence, std::span<const label_t> from, std::span<const label_t> to);
  // Moves weight from one labelling of a sequence to another that is higher by `rise`.
  void step(index_t sequence, std::size_t from, std::size_t to, double rise);
  void draw_order();

  const Chains chains_;
  const label_t* truth_;
  const double* cost_;
  double C_;
  std::uint64_t random_;
  std::vector<double> w_;
  std::vector<std::vector<Labelling>> labellings_;
  std::vector<double> gaps_;
  std::vector<std::int64_t> order_;
  double loss_ = 0;  // sum of the mixed losses
  bool first_ = true;
  ChainScratch scratch_;
  std::vector<label_t> found_;
  SparseSum direction_;
};

}  // namespace cutplane
