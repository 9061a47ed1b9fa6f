// The labellings of one sequence that searches have found, with their dual variables.
//
// A search needs the weights of the time when it is made and nothing else, so that those of several
// sequences run side by side. Steps among the labellings that are known then need few of the
// weights, and of these only what has changed since: the tokens at which labellings differ from the
// truth.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/structured/chain.hpp"
#include "core/structured/flips.hpp"
#include "core/structured/row_changes.hpp"
#include "core/structured/sparse_sum.hpp"

namespace cutplane {

struct Labelling {
  std::vector<label_t> labels;
  double weight;
  double loss;
  double before;  // the weight after the epoch before
  double aim;     // a change of the weight that is being tried
};

// The labellings of a sequence, and the inner products of their differences from the truth.
class Labellings {
 public:
  auto begin() { return known_.begin(); }
  auto end() { return known_.end(); }
  auto begin() const { return known_.begin(); }
  auto end() const { return known_.end(); }
  std::size_t size() const { return known_.size(); }
  Labelling& operator[](std::size_t i) { return known_[i]; }
  double product(std::size_t i, std::size_t j) const {
    return i < j ? products_[place(j, i)] : products_[place(i, j)];
  }
  // Of the difference of two labellings.
  double square(std::size_t i, std::size_t j) const {
    return product(i, i) + product(j, j) - 2.0 * product(i, j);
  }

  // products: with those that are there, and the square at last.
  void add(Labelling labelling, const std::vector<double>& products) {
    known_.push_back(std::move(labelling));
    products_.insert(products_.end(), products.begin(), products.end());
  }
  // Forgets those that have no weight.
  void prune();

 private:
  // Of the product of labelling i with j, which is none of those after it.
  static std::size_t place(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }

  std::vector<Labelling> known_;
  std::vector<double> products_;
};

// body(row, label, value): where the transitions of `labels`, less those of the truth, are among
// the weights. Entries may come more than once.
template <class Body>
void each_move(const Chains& chains, std::span<const label_t> labels, const label_t* truth,
               Body&& body) {
  for (std::size_t t = 1; t < labels.size(); ++t) {
    if (labels[t] == truth[t] && labels[t - 1] == truth[t - 1]) continue;
    body(chains.features + labels[t - 1], labels[t], 1.0);
    body(chains.features + truth[t - 1], truth[t], -1.0);
  }
}

// body(row, value): the features of a token.
template <class Body>
void each_feature(const Chains& chains, index_t token, Body&& body) {
  const index_t end = chains.indptr[token + 1];
  if (chains.values)
    for (index_t f = chains.indptr[token]; f < end; ++f) body(chains.indices[f], chains.values[f]);
  else
    for (index_t f = chains.indptr[token]; f < end; ++f) body(chains.indices[f], 1.0);
}

class ChainBlock {
 public:
  ChainBlock(const Chains& chains, const label_t* truth, const double* cost);

  // Adds the best labelling of a sequence to those that are known, and sets `gap`.
  void search(index_t sequence, const double* w, Labellings& known);
  // Brings the heights of the labellings up to date with changes of the weights.
  void catch_up(const RowChanges& changes);
  // Moves weight from low labellings to high ones until little is to be gained; C is that of the
  // sequence. The mixed loss that this adds. `changes`: what has become of the weights since the
  // search, but for what has been caught up with; they follow. Requires: a search of the sequence,
  // since when nothing has changed what is known of it. Ensures: C sum_j weight_j loss_j - ½|w|²
  // does not fall.
  double step(double C, RowChanges& changes, Labellings& known);

  // How far the best labelling was above the mixed one.
  double gap() const { return gap_; }

 private:
  // Sets the heights of the labellings that are known; that of the mixed one.
  double measure(const Labellings& known);
  // Adds the labelling that was found, of this height, unless it is of no use.
  void take(double height, Labellings& known);
  // Copies the features of all flips into one place: another thread will step.
  void copy_features();
  void list(std::span<const label_t> labels);
  // With the labellings that are known, and of the labelling found with itself.
  std::vector<double> products(std::size_t known);
  void balance(double C, Labellings& known);
  double follow(double C, RowChanges& changes, const Labellings& known);

  // A transition of a labelling that the truth does not have, or the other way round.
  struct Move {
    index_t row;
    label_t label;
    double value;
  };
  std::span<const Move> moves_of(std::size_t labelling) const {
    const std::size_t begin = move_ends_[labelling];
    return std::span(moves_).subspan(begin, move_ends_[labelling + 1] - begin);
  }
  // body(row, value): the features of a flip's token, as copied.
  template <class Body>
  void each_row(std::size_t flip, Body&& body) const {
    const std::size_t end = row_ends_[flip + 1];
    if (values_.empty())
      for (std::size_t k = row_ends_[flip]; k < end; ++k) body(rows_[k], 1.0);
    else
      for (std::size_t k = row_ends_[flip]; k < end; ++k) body(rows_[k], values_[k]);
  }
  std::int64_t key(index_t row, label_t label) const { return row * chains_.labels + label; }

  const Chains chains_;
  const label_t* truth_;
  const double* cost_;
  std::span<const label_t> right_;  // the true labels of the sequence
  double gap_ = 0;
  ChainScratch scratch_;
  std::vector<label_t> found_;
  std::vector<double> heights_;  // of the labellings, above that of the truth
  Flips flips_;
  std::vector<std::int32_t> rows_;      // features of the flips' tokens, one after the other
  std::vector<double> values_;          // of these; none where all are 1
  std::vector<std::size_t> row_ends_;   // of each flip's, after that of none
  std::vector<Move> moves_;             // of all labellings, one after the other
  std::vector<std::size_t> move_ends_;  // of each labelling's, after that of none
  SparseSum difference_;                // of the labelling found
};

}  // namespace cutplane
