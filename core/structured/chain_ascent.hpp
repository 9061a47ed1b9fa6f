// Block-coordinate Frank-Wolfe with pairwise steps for linear chains, some sequences at a time.
//
// The sequences of a batch are searched side by side, all at the same weights. Then one after the
// other makes steps among the labellings that it knows, at the weights that those before it have
// left: this is a small share of the work, and one thread does it while others search the next
// batch. Batches do not depend on the number of threads. What steps change lies apart from the
// weights until all have been made, and then all threads add it.
//
// The dual variables of a sequence weight the labellings that its searches have found, the truth
// among them, and sum to one. They maximise  sum_i C_i <weights_i, losses_i> - ½|w|²  with
// w = sum_i C_i <weights_i, features(truth_i) - features(labelling)>, C_i being C times the factor
// of sequence i. What is proven with them is computed elsewhere, from the labellings.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/ascent/simplex_aim.hpp"
#include "core/base/large_memory.hpp"
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
  void epoch(int n_threads);
  // The gaps of the sequences, from the heights of an exact search at the present weights.
  void renew(const double* heights, int n_threads);
  // Sets the slope to w / (-C n); the mean loss. Summed up afresh: the plane the dual variables
  // stand for.
  double plane(double* slope, int n_threads) const;
  // mean += share (w - mean)
  void blend(double* mean, double share, int n_threads) const;

  std::span<const double> weights() const { return {w_.begin(), w_.end()}; }
  // After the last epoch.
  double dual_value() const { return dual_; }
  double gap() const { return std::accumulate(gaps_.begin(), gaps_.end(), 0.0); }
  // Of the sequence that has most of them.
  index_t most_labellings() const;

 private:
  // Makes the steps of a batch and searches the next one meanwhile. Distinct sequences, of both.
  void visit(std::span<const std::int64_t> before, std::span<const std::int64_t> next,
             int n_threads);
  // Makes the steps of the sequence that has this place in its batch.
  void step(index_t sequence, index_t place);
  // Goes on in the direction of the last epoch, as far as is best. Sequences hold each other back:
  // each visit leaves the most to the others, and all of them could go many times as far together.
  void extrapolate(int n_threads);
  // Sets the aims of a sequence's labellings; the losses they add, times its C_i.
  double aim(index_t sequence);
  // sum += coef(sequence, labelling) * (features of the labelling - features of the truth), over
  // all labellings. met: 1 for every row that this touches.
  void add_features(FunctionView<double(index_t, const Labelling&)> coef, double* sum,
                    std::uint8_t* met, int n_threads) const;
  void draw_order();
  // So that no sequence comes twice in a round, and those of a batch are of about the same length.
  void form_batches();
  Blocks sequence_blocks() const { return make_blocks(chains_.sequences(), 64, 256); }
  double C_of(index_t sequence) const { return C_ * factors_[sequence]; }

  struct Batch {
    index_t end;          // in the order
    bool first_of_round;  // sequences of the batch before may come again
  };

  const Chains chains_;
  const label_t* truth_;
  double C_;
  std::vector<double> factors_;
  std::uint64_t random_;
  LargeArray w_;
  RowChanges changes_;  // of w, by the steps of a batch
  std::vector<Labellings> labellings_;
  std::vector<double> gaps_;
  std::vector<std::int64_t> order_;
  double loss_ = 0;  // sum of the mixed losses, each times its C_i
  double dual_ = 0;
  bool first_ = true;
  std::vector<ChainBlock> searched_, stepping_;  // one for each place in a batch
  std::vector<Batch> batches_;
  Reach reach_;                    // of extrapolations
  LargeArray direction_;           // of the weights: zero between extrapolations
  std::vector<std::uint8_t> met_;  // its rows that may be other than zero
};

}  // namespace cutplane
