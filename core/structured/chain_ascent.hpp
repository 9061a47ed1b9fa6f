// Block-coordinate Frank-Wolfe with pairwise steps for linear chains, one sequence at a time.
//
// The dual variables of a sequence weight the labellings that its searches have found, the truth
// among them, and sum to one. They maximise  sum_i C_i <weights_i, losses_i> - ½|w|²  with
// w = sum_i C_i <weights_i, features(truth_i) - features(labelling)>, C_i being C times the factor
// of sequence i. What is proven with them is computed elsewhere, from the labellings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/structured/chain.hpp"
#include "core/structured/chain_block.hpp"

namespace cutplane {

class ChainAscent {
 public:
  // factors (sequences): how often each sequence counts, of mean one.
  ChainAscent(const Chains& chains, const label_t* truth, const double* cost, double C,
              std::span<const double> factors, std::uint64_t seed);

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
  // Of the sequence that has most of them.
  index_t most_labellings() const;

 private:
  void visit(index_t sequence);
  // Goes on in the direction of the last epoch, as far as is best. Sequences hold each other back:
  // each visit leaves the most to the others, and all of them could go many times as far together.
  void extrapolate();
  // Sets each labelling's aim and the direction of the weights that they add up to; the losses they
  // add, each times its C_i.
  double aim();
  // sum += coef * (features of a labelling - features of the truth)
  void add_features(index_t sequence, const Labelling& known, double coef, double* sum) const;
  void draw_order();
  double C_of(index_t sequence) const { return C_ * factors_[sequence]; }

  const Chains chains_;
  const label_t* truth_;
  double C_;
  std::vector<double> factors_;
  std::uint64_t random_;
  std::vector<double> w_;
  std::vector<std::vector<Labelling>> labellings_;
  std::vector<double> gaps_;
  std::vector<std::int64_t> order_;
  double loss_ = 0;  // sum of the mixed losses, each times its C_i
  bool first_ = true;
  ChainBlock block_;
  BlockChange change_;
  double reach_;                   // how many times as far as the last epoch went to try to go
  std::vector<double> direction_;  // of the weights
};

}  // namespace cutplane
