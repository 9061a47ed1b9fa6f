// Sequences of labelled tokens under a linear chain: scores, best labellings, sweeps.
//
// A token has sparse features; a labelling y scores  sum_t <x_t, w[., y_t]> + sum_t w[A + y_t-1,
// y_t], A being the number of features: the weights are A + labels rows of one entry per label, the
// last rows for the transitions.
//
// Requires: the arrays outlive what is made of them and do not change; labels, indices and starts
// are in range. Ensures: results are the same to the bit for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

using label_t = std::int32_t;

// The tokens of all sequences, one after the other.
struct Chains {
  std::span<const std::int64_t> starts;   // of each sequence, and the end of the last
  std::span<const std::int64_t> indptr;   // of each token's features, and the end of the last
  std::span<const std::int32_t> indices;  // features
  const double* values;                   // of the features; null: all are 1
  index_t features;
  index_t labels;

  index_t sequences() const { return std::ssize(starts) - 1; }
  index_t tokens() const { return std::ssize(indptr) - 1; }
  index_t weights() const { return (features + labels) * labels; }
  index_t length(index_t i) const { return starts[i + 1] - starts[i]; }
  // What a sequence has of labels of all tokens.
  template <class Label>
  std::span<Label> part(Label* labels, index_t sequence) const {
    return {labels + starts[sequence], static_cast<std::size_t>(length(sequence))};
  }
};

// body(feature, value): the features of a token; values are null where all are 1.
template <class Body>
void each_feature(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                  const double* values, index_t token, Body&& body) {
  const index_t end = indptr[token + 1];
  if (values)
    for (index_t f = indptr[token]; f < end; ++f) body(indices[f], values[f]);
  else
    for (index_t f = indptr[token]; f < end; ++f) body(indices[f], 1.0);
}
template <class Body>
void each_feature(const Chains& chains, index_t token, Body&& body) {
  each_feature(chains.indptr, chains.indices, chains.values, token, body);
}

// What one thread needs to label one sequence. Rows of scores are padded to whole vectors.
class ChainScratch {
 public:
  static constexpr index_t kLanes = 8;

  explicit ChainScratch(index_t labels);

  // The transitions of w, once for all sequences scored with it.
  void load_transitions(const Chains& chains, const double* w);
  // The scores of a sequence's tokens and labels under w.
  void score_tokens(const Chains& chains, const double* w, index_t sequence);
  // Adds cost[truth_t, label] to every score.
  void add_costs(std::span<const label_t> truth, const double* cost);
  // The labelling with the highest score; among equals that with the least labels, from the end.
  void best_labelling(std::span<label_t> out);
  // The score of a labelling.
  double score(std::span<const label_t> labelling) const;
  // How much more it is than that of another, from where the two differ.
  double lead(std::span<const label_t> labelling, std::span<const label_t> other) const;

  double* row(index_t t) { return scores_.data() + t * stride_; }
  const double* row(index_t t) const { return scores_.data() + t * stride_; }

 private:
  index_t labels_, stride_;
  index_t length_ = 0;
  std::vector<double> transitions_;  // labels x stride, padded by -inf
  std::vector<double> scores_;       // length x stride
  std::vector<double> reached_;      // length x stride: the best score of a start that ends here
};

// body(sequence, scratch) for every sequence, the scratch having the scores of its tokens under w.
void for_sequences(const Chains& chains, const double* w, int n_threads,
                   FunctionView<void(index_t, ChainScratch&)> body);

// out (tokens): the best labelling of each sequence; with costs (labels x labels, true by
// predicted), the one with the highest score plus cost.
void label_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                  label_t* out, int n_threads);

// heights (sequences): cost plus score of `labels`, less the score of the truth; losses
// (sequences): the cost alone.
void search_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                   label_t* labels, double* heights, double* losses, int n_threads);

// sum (weights) += coefs[i] * (features of `labels` - features of `truth`), over all sequences i.
void add_difference(const Chains& chains, const label_t* labels, const label_t* truth,
                    const double* coefs, double* sum);

// sum (weights) += the features of `labels`.
void add_features(const Chains& chains, const label_t* labels, double* sum);

}  // namespace cutplane
