#include "core/structured/chain.hpp"

#include <limits>
#include <type_traits>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr index_t kTokensPerBlock = 512;
constexpr index_t kMostChainBlocks = 256;
constexpr index_t kLanes = ChainScratch::kLanes;
// Labels whose sums are in registers together.
constexpr index_t kTogether = 4 * kLanes;
// Rows of weights lie all over the memory, and which will be needed is known: they are fetched some
// tokens early.
constexpr index_t kTokensAhead = 2;

CUTPLANE_INLINE void fetch_rows(const Chains& chains, const double* w, index_t t) {
  constexpr index_t doubles_per_line = 8;
  for (index_t f = chains.indptr[t]; f < chains.indptr[t + 1]; ++f) {
    const double* row = w + static_cast<index_t>(chains.indices[f]) * chains.labels;
    for (index_t j = 0; j < chains.labels; j += doubles_per_line) __builtin_prefetch(row + j);
  }
}

// Numbers of some labels in a row, in registers.
template <index_t Size>
struct Registers {
  static constexpr index_t kCount = Size / kCommonLanes;
  Lanes<kCommonLanes> lanes[kCount];

  // In two steps: of one, GCC 12 says on x86-64 that it reads what was not written.
  CUTPLANE_INLINE explicit Registers(double value) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      lanes[r] = Lanes<kCommonLanes>{};
      lanes[r] += value;
    }
  }
  // body(register, the numbers that belong to it)
  template <class Body>
  CUTPLANE_INLINE void each(const double* from, const Body& body) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      Lanes<kCommonLanes> x;
      load<kCommonLanes>(from + r * kCommonLanes, x);
      body(lanes[r], x);
    }
  }
  CUTPLANE_INLINE void store_to(double* out) const {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) store<kCommonLanes>(lanes[r], out + r * kCommonLanes);
  }
};

// Calls body(size, first) with the labels in groups of `size`, a number known to the compiler: all
// of a row if there are not many.
template <class Body>
CUTPLANE_INLINE void for_groups(index_t stride, const Body& body) {
  for (index_t first = 0; first < stride; first += kTogether) {
    switch (stride - first) {
      case kLanes:
        return body(std::integral_constant<index_t, kLanes>{}, first);
      case 2 * kLanes:
        return body(std::integral_constant<index_t, 2 * kLanes>{}, first);
      case 3 * kLanes:
        return body(std::integral_constant<index_t, 3 * kLanes>{}, first);
      default:
        body(std::integral_constant<index_t, kTogether>{}, first);
    }
  }
}

template <index_t Size>
CUTPLANE_INLINE void score_group(const Chains& chains, const double* w, index_t t, double* out) {
  Registers<Size> sums(0.0);
  const auto row = [&](index_t f) CUTPLANE_INLINED {
    return w + static_cast<index_t>(chains.indices[f]) * chains.labels;
  };
  const index_t end = chains.indptr[t + 1];
  if (chains.values)
    for (index_t f = chains.indptr[t]; f < end; ++f)
      sums.each(row(f), [&](auto& sum, auto& x) CUTPLANE_INLINED { sum += chains.values[f] * x; });
  else
    for (index_t f = chains.indptr[t]; f < end; ++f)
      sums.each(row(f), [](auto& sum, auto& x) CUTPLANE_INLINED { sum += x; });
  sums.store_to(out);
}

// Of fewer labels than a vector has.
CUTPLANE_INLINE void score_few(const Chains& chains, const double* w, index_t t, double* out) {
  for (index_t f = chains.indptr[t]; f < chains.indptr[t + 1]; ++f) {
    const double* row = w + static_cast<index_t>(chains.indices[f]) * chains.labels;
    const double value = chains.values ? chains.values[f] : 1.0;
    for (index_t j = 0; j < chains.labels; ++j) out[j] += value * row[j];
  }
}

// out (end - begin x stride): the scores of some tokens under w, for each label; 0 beyond.
CUTPLANE_MULTIVERSION void score_rows(const Chains& chains, const double* w, index_t begin,
                                      index_t end, index_t stride, double* out) {
  for (index_t t = begin; t < end; ++t, out += stride) {
    if (t + kTokensAhead < chains.tokens()) fetch_rows(chains, w, t + kTokensAhead);
    if (chains.labels < kLanes) {
      for (index_t j = 0; j < stride; ++j) out[j] = 0.0;
      score_few(chains, w, t, out);
      continue;
    }
    // The last vector of a row reaches into the next one, which is there: after the features come
    // the transitions, rows of at least a vector.
    for_groups(stride, [&](auto size, index_t first) CUTPLANE_INLINED {
      score_group<size>(chains, w + first, t, out + first);
    });
    for (index_t j = chains.labels; j < stride; ++j) out[j] = 0.0;
  }
}

// reached[t][j] = scores[t][j] + max over i of reached[t - 1][i] + transitions[i][j]
CUTPLANE_MULTIVERSION void reach(const double* scores, const double* transitions, index_t length,
                                 index_t labels, index_t stride, double* reached) {
  for (index_t j = 0; j < stride; ++j) reached[j] = scores[j];
  for (index_t t = 1; t < length; ++t) {
    const double* before = reached + (t - 1) * stride;
    for_groups(stride, [&](auto size, index_t first) CUTPLANE_INLINED {
      Registers<size> best(kNever);
      for (index_t i = 0; i < labels; ++i) {
        best.each(transitions + i * stride + first, [&](auto& most, auto& x) CUTPLANE_INLINED {
          x += before[i];
#ifdef __aarch64__
          most = vmaxq_f64(most, x);
#else
          most = x > most ? x : most;
#endif
        });
      }
      best.each(scores + t * stride + first, [](auto& sum, auto& x) CUTPLANE_INLINED { sum += x; });
      best.store_to(reached + t * stride + first);
    });
  }
}

void add_token(const Chains& chains, index_t t, label_t label, double coef, double* sum) {
  each_feature(chains, t, [&](index_t row, double value) {
    sum[row * chains.labels + label] += coef * value;
  });
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
  score_rows(chains, w, chains.starts[sequence], chains.starts[sequence + 1], stride_,
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

void for_sequences(const Chains& chains, const double* w, int n_threads,
                   FunctionView<void(index_t, ChainScratch&)> body) {
  const index_t mean = chains.tokens() / std::max<index_t>(1, chains.sequences());
  const Blocks blocks = make_blocks(chains.sequences(),
                                    kTokensPerBlock / std::max<index_t>(1, mean), kMostChainBlocks);
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

void label_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                  label_t* out, int n_threads) {
  for_sequences(chains, w, n_threads, [&](index_t i, ChainScratch& scratch) {
    if (cost) scratch.add_costs(chains.part(truth, i), cost);
    scratch.best_labelling(chains.part(out, i));
  });
}

void search_chains(const Chains& chains, const double* w, const label_t* truth, const double* cost,
                   label_t* labels, double* heights, double* losses, int n_threads) {
  for_sequences(chains, w, n_threads, [&](index_t i, ChainScratch& scratch) {
    const auto right = chains.part(truth, i);
    const auto found = chains.part(labels, i);
    const double truth_score = scratch.score(right);
    scratch.add_costs(right, cost);
    scratch.best_labelling(found);
    heights[i] = scratch.score(found) - truth_score;
    double loss = 0;
    for (std::size_t t = 0; t < right.size(); ++t)
      loss += cost[right[t] * chains.labels + found[t]];
    losses[i] = loss;
  });
}

void add_difference(const Chains& chains, const label_t* labels, const label_t* truth,
                    const double* coefs, double* sum) {
  for (index_t i = 0; i < chains.sequences(); ++i) {
    const double coef = coefs[i];
    for (index_t t = chains.starts[i]; t < chains.starts[i + 1]; ++t) {
      if (labels[t] == truth[t]) continue;
      add_token(chains, t, labels[t], coef, sum);
      add_token(chains, t, truth[t], -coef, sum);
    }
    add_moves(chains, chains.part(labels, i), coef, sum);
    add_moves(chains, chains.part(truth, i), -coef, sum);
  }
}

void add_features(const Chains& chains, const label_t* labels, double* sum) {
  for (index_t t = 0; t < chains.tokens(); ++t) add_token(chains, t, labels[t], 1.0, sum);
  for (index_t i = 0; i < chains.sequences(); ++i)
    add_moves(chains, chains.part(labels, i), 1.0, sum);
}

}  // namespace cutplane
