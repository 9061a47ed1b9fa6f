#include "core/structured/chain.hpp"

#include <cmath>
#include <limits>

#include "core/structured/chain_rows.hpp"

namespace cutplane {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr index_t kTokensPerBlock = 512;
constexpr index_t kMostChainBlocks = 256;

index_t sequences_per_block(const Chains& chains) {
  const index_t mean =
      std::max<index_t>(1, chains.tokens() / std::max<index_t>(1, chains.sequences()));
  return std::max<index_t>(1, kTokensPerBlock / mean);
}

template <class Body>
void for_sequences(const Chains& chains, const double* w, int n_threads, Body&& body) {
  const Blocks blocks =
      make_blocks(chains.sequences(), sequences_per_block(chains), kMostChainBlocks);
  const int threads =
      useful_threads(n_threads, chains.tokens() * chains.labels * (chains.labels + 16));
  for_blocks(blocks, threads, [&](index_t, index_t begin, index_t end) {
    ChainScratch scratch(chains.labels);
    scratch.load_transitions(chains, w);
    for (index_t i = begin; i < end; ++i) {
      scratch.score_tokens(chains, w, i);
      body(i, scratch);
    }
  });
}

void add_token(const Chains& chains, index_t t, label_t label, double coef, double* sum) {
  for (index_t f = chains.indptr[t]; f < chains.indptr[t + 1]; ++f)
    sum[static_cast<index_t>(chains.indices[f]) * chains.labels + label] +=
        chains.values ? coef * chains.values[f] : coef;
}

void add_moves(const Chains& chains, std::span<const label_t> labels, double coef, double* sum) {
  double* moves = sum + chains.features * chains.labels;
  for (std::size_t t = 1; t < labels.size(); ++t)
    moves[labels[t - 1] * chains.labels + labels[t]] += coef;
}

}  // namespace

ChainScratch::ChainScratch(index_t labels)
    : labels_(labels),
      stride_((labels + kLanes - 1) / kLanes * kLanes),
      transitions_(labels * stride_, kNever) {}

void ChainScratch::load_transitions(const Chains& chains, const double* w) {
  const double* moves = w + chains.features * labels_;
  for (index_t i = 0; i < labels_; ++i)
    for (index_t j = 0; j < labels_; ++j) transitions_[i * stride_ + j] = moves[i * labels_ + j];
}

void ChainScratch::score_tokens(const Chains& chains, const double* w, index_t sequence) {
  length_ = chains.length(sequence);
  scores_.resize(length_ * stride_);
  reached_.resize(length_ * stride_);
  score_rows_of(chains, w, chains.starts[sequence], chains.starts[sequence + 1], stride_,
                scores_.data());
}

void ChainScratch::add_costs(std::span<const label_t> truth, const double* cost) {
  for (index_t t = 0; t < length_; ++t)
    for (index_t j = 0; j < labels_; ++j) row(t)[j] += cost[truth[t] * labels_ + j];
}

void ChainScratch::best_labelling(std::span<label_t> out) {
  if (length_ == 0) return;
  reach(scores_.data(), transitions_.data(), length_, labels_, stride_, reached_.data());
  const double* last = reached_.data() + (length_ - 1) * stride_;
  label_t label = 0;
  for (label_t j = 1; j < labels_; ++j)
    if (last[j] > last[label]) label = j;
  out[length_ - 1] = label;
  for (index_t t = length_ - 1; t > 0; --t) {
    const double* before = reached_.data() + (t - 1) * stride_;
    label_t from = 0;
    double best = before[0] + transitions_[label];
    for (label_t i = 1; i < labels_; ++i) {
      const double value = before[i] + transitions_[i * stride_ + label];
      if (value > best) {
        best = value;
        from = i;
      }
    }
    out[t - 1] = label = from;
  }
}

double ChainScratch::score(std::span<const label_t> labelling) const {
  double sum = 0;
  for (std::size_t t = 0; t < labelling.size(); ++t) {
    sum += row(t)[labelling[t]];
    if (t > 0) sum += transitions_[labelling[t - 1] * stride_ + labelling[t]];
  }
  return sum;
}

double ChainScratch::lead(std::span<const label_t> labelling,
                          std::span<const label_t> other) const {
  double sum = 0;
  bool differed = false;
  for (std::size_t t = 0; t < labelling.size(); ++t) {
    const bool differs = labelling[t] != other[t];
    if (differs) sum += row(t)[labelling[t]] - row(t)[other[t]];
    if (t > 0 && (differs || differed))
      sum += transitions_[labelling[t - 1] * stride_ + labelling[t]] -
             transitions_[other[t - 1] * stride_ + other[t]];
    differed = differs;
  }
  return sum;
}

void label_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                  label_t* out, int n_threads) {
  for_sequences(chains, w, n_threads, [&](index_t i, ChainScratch& scratch) {
    const index_t start = chains.starts[i];
    const auto length = static_cast<std::size_t>(chains.length(i));
    if (cost) scratch.add_costs({truth + start, length}, cost);
    scratch.best_labelling({out + start, length});
  });
}

void search_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                   label_t* labels, double* heights, double* losses, int n_threads) {
  for_sequences(chains, w, n_threads, [&](index_t i, ChainScratch& scratch) {
    const index_t start = chains.starts[i];
    const auto length = static_cast<std::size_t>(chains.length(i));
    const std::span<const label_t> right(truth + start, length);
    const std::span<label_t> found(labels + start, length);
    const double truth_score = scratch.score(right);
    scratch.add_costs(right, cost);
    scratch.best_labelling(found);
    heights[i] = scratch.score(found) - truth_score;
    double loss = 0;
    for (std::size_t t = 0; t < length; ++t) loss += cost[right[t] * chains.labels + found[t]];
    losses[i] = loss;
  });
}

void add_difference(const Chains& chains, const label_t* labels, const label_t* truth,
                    const double* coefs, double* sum) {
  for (index_t i = 0; i < chains.sequences(); ++i) {
    const double coef = coefs[i];
    const index_t start = chains.starts[i];
    const auto length = static_cast<std::size_t>(chains.length(i));
    for (index_t t = start; t < chains.starts[i + 1]; ++t) {
      if (labels[t] == truth[t]) continue;
      add_token(chains, t, labels[t], coef, sum);
      add_token(chains, t, truth[t], -coef, sum);
    }
    add_moves(chains, {labels + start, length}, coef, sum);
    add_moves(chains, {truth + start, length}, -coef, sum);
  }
}

void add_features(const Chains& chains, const label_t* labels, double* sum) {
  for (index_t t = 0; t < chains.tokens(); ++t) add_token(chains, t, labels[t], 1.0, sum);
  for (index_t i = 0; i < chains.sequences(); ++i)
    add_moves(chains, {labels + chains.starts[i], static_cast<std::size_t>(chains.length(i))}, 1.0,
              sum);
}

}  // namespace cutplane
