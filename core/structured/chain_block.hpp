// The labellings of one sequence that searches have found, with their dual variables.
//
// A search needs the weights of the time when it is made and nothing else, so that those of several
// sequences run side by side. Steps among the labellings that are known then need few of the
// weights: those of the tokens at which labellings differ from the truth.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
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
    return i < j ? products_[j][i] : products_[i][j];
  }
  // Of the difference of two labellings.
  double square(std::size_t i, std::size_t j) const {
    return product(i, i) + product(j, j) - 2.0 * product(i, j);
  }

  // products: with those that are there, and the square at last.
  void add(Labelling labelling, std::vector<double> products) {
    known_.push_back(std::move(labelling));
    products_.push_back(std::move(products));
  }
  // Forgets those that have no weight.
  void prune();

 private:
  std::vector<Labelling> known_;
  std::vector<std::vector<double>> products_;
};

// body(index, value): where the transitions of `labels`, less those of the truth, are among the
// weights. Indices may come more than once.
template <class Body>
void each_move(const Chains& chains, const label_t* truth, index_t sequence,
               std::span<const label_t> labels, Body&& body) {
  const index_t k = chains.labels, moves = chains.features * k;
  truth += chains.starts[sequence];
  for (std::size_t t = 1; t < labels.size(); ++t) {
    if (labels[t] == truth[t] && labels[t - 1] == truth[t - 1]) continue;
    body(moves + labels[t - 1] * k + labels[t], 1.0);
    body(moves + truth[t - 1] * k + truth[t], -1.0);
  }
}

// The same of the features of a token that has another label than the true one.
template <class Body>
void each_feature(const Chains& chains, const label_t* truth, index_t token, label_t label,
                  Body&& body) {
  for (index_t f = chains.indptr[token]; f < chains.indptr[token + 1]; ++f) {
    const index_t row = static_cast<index_t>(chains.indices[f]) * chains.labels;
    const double value = chains.values ? chains.values[f] : 1.0;
    body(row + label, value);
    body(row + truth[token], -value);
  }
}

// Both of them, for all tokens of a sequence.
template <class Body>
void each_difference(const Chains& chains, const label_t* truth, index_t sequence,
                     std::span<const label_t> labels, Body&& body) {
  const index_t start = chains.starts[sequence];
  for (std::size_t t = 0; t < labels.size(); ++t)
    if (labels[t] != truth[start + t]) each_feature(chains, truth, start + t, labels[t], body);
  each_move(chains, truth, sequence, labels, body);
}

class ChainBlock {
 public:
  ChainBlock(const Chains& chains, const label_t* truth, const double* cost);

  // Adds the best labelling of a sequence to those that are known, and sets `gap`.
  void search(index_t sequence, const double* w, Labellings& known);
  // Moves weight from low labellings to high ones until little is to be gained, and w follows; C is
  // that of the sequence. The mixed loss that this adds. Requires: a search of the sequence, since
  // when nothing has changed what is known of it. Ensures: C sum_j weight_j loss_j - ½|w|² does not
  // fall.
  double step(index_t sequence, double C, double* w, Labellings& known);

  // How far the best labelling was above the mixed one.
  double gap() const { return gap_; }

 private:
  void mix(const Labellings& known);
  void add_best(index_t sequence, Labellings& known);
  void list_flips(Labellings& known);
  void measure_heights(index_t sequence, const double* w, Labellings& known);
  void balance(double C, Labellings& known);
  double follow(index_t sequence, double C, double* w, const Labellings& known);
  // With the labellings that are known, and of the labelling found with itself.
  std::vector<double> products(index_t sequence, const Labellings& known);

  const Chains chains_;
  const label_t* truth_;
  const double* cost_;
  index_t first_ = 0;
  double gap_ = 0, mixed_ = 0, lowest_ = 0;
  ChainScratch scratch_;
  std::vector<label_t> found_;
  std::vector<double> heights_;  // of the labellings

  // A label other than the true one that some labellings give to a token: they share most of these.
  struct Flip {
    index_t token;
    label_t label;
    double value;
  };
  std::vector<Flip> flips_;
  std::vector<std::int32_t> flip_of_;  // length x labels: the place among them, or -1
  std::vector<std::int32_t> listed_;   // the flips of all labellings, one after the other
  std::vector<std::size_t> ends_;      // of each labelling's
  SparseSum difference_;
};

}  // namespace cutplane
