// The dual variables of one sequence, improved while those of all others stand still.
//
// A visit searches the sequence, moves weight from its lowest labelling to its highest, and goes on
// with the scores as that step has left them: a step changes the scores of the sequence's own
// tokens by inner products of their features, so that nothing of the size of all weights is
// touched.
#pragma once

#include <span>
#include <vector>

#include "core/structured/chain.hpp"
#include "core/structured/sparse_sum.hpp"

namespace cutplane {

struct Labelling {
  std::vector<label_t> labels;
  double weight;
  double loss;
  double before;  // the weight after the epoch before
  double aim;     // a change of the weight that is being tried
};

// What a visit has changed: the weights become  w - C * (features of `tokens` and `moves`).
struct BlockChange {
  struct Token {
    index_t token;
    label_t label;
    double coef;
  };
  struct Move {
    index_t key;  // label before * labels + label
    double coef;
  };

  std::vector<Token> tokens;
  std::vector<Move> moves;
  double loss = 0;  // of the mixed labelling
  double gap = 0;   // of the sequence, when the visit began
};

// A sum by key that remembers which keys were added to.
class Tally {
 public:
  explicit Tally(index_t keys) : values_(keys, 0.0), used_(keys, false) {}

  void add(index_t key, double value) {
    if (!used_[key]) keys_.push_back(key);
    used_[key] = true;
    values_[key] += value;
  }
  void clear() {
    for (const index_t key : keys_) {
      values_[key] = 0.0;
      used_[key] = false;
    }
    keys_.clear();
  }
  const std::vector<index_t>& keys() const { return keys_; }
  double operator[](index_t key) const { return values_[key]; }

 private:
  std::vector<double> values_;
  std::vector<bool> used_;
  std::vector<index_t> keys_;
};

class ChainBlock {
 public:
  ChainBlock(const Chains& chains, const label_t* truth, const double* cost);

  // C: of the sequence.
  void visit(index_t sequence, double C, const double* w, std::vector<Labelling>& known,
             BlockChange& change);

 private:
  struct Mixture {
    double height, lowest;
    std::size_t low;
  };

  void start(index_t sequence, const double* w);
  Mixture mixture(const std::vector<Labelling>& known) const;
  std::size_t place_of(std::span<const label_t> labels, std::vector<Labelling>& known) const;
  void step(Labelling& from, Labelling& to, double rise, BlockChange& change);
  // Where two labellings differ: tokens_ and the counts of moves.
  void compare(const Labelling& from, const Labelling& to);
  double token_square(const Labelling& from, const Labelling& to);
  double sparse_square(const Labelling& from, const Labelling& to);
  // Inner products of a token's features with those of all tokens of the sequence.
  const double* products(index_t t);
  void shift(const Labelling& from, const Labelling& to, double moved);
  void collect(BlockChange& change) const;

  bool is_long() const { return length_ > kLongest; }

  // Longer sequences take one step a visit: products of all their tokens would cost more than they
  // save.
  static constexpr index_t kLongest = 256;

  const Chains chains_;
  const label_t* truth_;
  const double* cost_;
  double C_ = 0;
  index_t first_ = 0, length_ = 0;
  ChainScratch scratch_;
  std::vector<label_t> found_;
  std::vector<double> products_;  // length x length, rows computed when first asked for
  std::vector<bool> has_products_;
  std::vector<double> spread_;       // features: one token's values, zero between calls
  std::vector<double> token_coefs_;  // length x labels
  Tally move_coefs_;                 // of the visit
  Tally move_counts_;                // of the step
  std::vector<index_t> differing_;
  SparseSum direction_;
};

}  // namespace cutplane
