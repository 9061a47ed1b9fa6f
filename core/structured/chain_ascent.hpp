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

namespace cutplane {

// A sparse vector being summed up: entries in the order they were first met.
class SparseSum {
 public:
  void clear();
  void add(std::int64_t key, double value);
  double square() const;
  template <class Body>
  void each(Body&& body) const {
    for (const std::uint32_t slot : used_) body(keys_[slot], values_[slot]);
  }

 private:
  void grow();
  std::size_t slot_of(std::int64_t key) const;

  std::vector<std::int64_t> keys_;  // -1: empty
  std::vector<double> values_;
  std::vector<std::uint32_t> used_;
};

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
  index_t labellings() const;

 private:
  struct Labelling {
    std::vector<label_t> labels;
    double weight;
    double loss;
  };

  void visit(index_t sequence);
  double mixed_height(index_t sequence, const ChainScratch& scratch) const;
  // Moves weight from one labelling of a sequence to another; returns the weight moved.
  double step(index_t sequence, std::size_t from, std::size_t to, double rise);
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
  SparseSum direction_;
};

}  // namespace cutplane
