#include "core/structured/chain_ascent.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/matrix/row_passes.hpp"

namespace cutplane {
namespace {

// What every sequence keeps of the chance to be visited, whatever its gap was when last seen.
constexpr double kUniformShare = 0.1;
// Going on in an epoch's direction is tried at least this many times as far as the epoch went.
constexpr double kLeastReach = 0.5;
// Sequences that are searched at the same weights. To a gap of 1 % this loses little:
// docs/decisions.
constexpr index_t kBatch = 16;
// Visits that are sorted by length before they are cut into batches.
constexpr index_t kSorted = 4 * kBatch;

// Entries of the weights that a thread handles at a time.
constexpr index_t kEntries = 1 << 15, kMostParts = 256;

template <class Body>
void for_entries(index_t size, int n_threads, Body&& body) {
  for_blocks(make_blocks(size, kEntries, kMostParts), useful_threads(n_threads, size),
             [&](index_t, index_t begin, index_t end) {
               for (index_t j = begin; j < end; ++j) body(j);
             });
}

// The same to the bit for any number of threads.
template <class Term>
double blocked_sum(index_t size, int n_threads, Term&& term) {
  const Blocks blocks = make_blocks(size, kEntries, kMostParts);
  std::vector<double> sums(blocks.count, 0.0);
  for_blocks(blocks, useful_threads(n_threads, size), [&](index_t b, index_t begin, index_t end) {
    double sum = 0;
    for (index_t j = begin; j < end; ++j) sum += term(j);
    sums[b] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double uniform(std::uint64_t& random) {
  return static_cast<double>(next_random(random) >> 11) * 0x1p-53;
}

}  // namespace

ChainAscent::ChainAscent(const Chains& chains, const label_t* truth, const double* cost, double C,
                         std::span<const double> factors, std::uint64_t seed)
    : chains_(chains),
      truth_(truth),
      C_(C),
      factors_(factors.begin(), factors.end()),
      random_(seed),
      w_(chains.weights(), 0.0),
      labellings_(chains.sequences()),
      gaps_(chains.sequences(), INFINITY),
      order_(chains.sequences()),
      blocks_(std::min(kBatch, std::max<index_t>(1, chains.sequences())),
              ChainBlock(chains, truth, cost)),
      reach_(kLeastReach),
      direction_(chains.weights()) {
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    const label_t* begin = truth_ + chains_.starts[i];
    labellings_[i].add({{begin, begin + chains_.length(i)}, 1.0, 0.0, 1.0, 0.0}, {0.0});
  }
  std::iota(order_.begin(), order_.end(), 0);
}

void ChainAscent::draw_order() {
  const index_t n = chains_.sequences();
  const double total = first_ ? 0.0 : gap();
  if (first_ || !(total > 0.0)) {
    std::iota(order_.begin(), order_.end(), 0);
    for (index_t i = n - 1; i > 0; --i)
      std::swap(order_[i], order_[static_cast<index_t>(uniform(random_) * (i + 1))]);
    return;
  }
  std::vector<double> until(n);
  double sum = 0;
  for (index_t i = 0; i < n; ++i)
    until[i] = sum += kUniformShare / n + (1.0 - kUniformShare) * gaps_[i] / total;
  for (index_t i = 0; i < n; ++i) {
    const auto at = std::upper_bound(until.begin(), until.end(), uniform(random_) * sum);
    order_[i] = std::min<index_t>(at - until.begin(), n - 1);
  }
}

void ChainAscent::form_batches() {
  // First visits before second ones.
  std::vector<index_t> times(chains_.sequences(), 0);
  std::vector<std::pair<index_t, index_t>> ranked(order_.size());
  for (std::size_t j = 0; j < order_.size(); ++j) ranked[j] = {times[order_[j]]++, order_[j]};
  std::ranges::stable_sort(ranked, {}, [](const auto& each) { return each.first; });
  std::ranges::transform(ranked, order_.begin(), [](const auto& each) { return each.second; });
  ends_.clear();
  const index_t size = std::ssize(order_);
  for (index_t begin = 0, end; begin < size; begin = end) {
    for (end = begin + 1; end < size && end < begin + kSorted; ++end)
      if (ranked[end].first != ranked[begin].first) break;
    std::ranges::stable_sort(std::span(order_).subspan(begin, end - begin), {},
                             [&](index_t i) { return chains_.length(i); });
    for (index_t at = begin; at < end; at += kBatch) ends_.push_back(std::min(at + kBatch, end));
  }
}

void ChainAscent::epoch(int n_threads) {
  draw_order();
  form_batches();
  if (!first_) extrapolate(n_threads);
  first_ = false;
  index_t begin = 0;
  for (const index_t end : ends_) {
    visit(std::span(order_).subspan(begin, end - begin), n_threads);
    begin = end;
  }
  dual_ = loss_ -
          0.5 * blocked_sum(std::ssize(w_), n_threads, [&](index_t j) { return w_[j] * w_[j]; });
}

void ChainAscent::visit(std::span<const std::int64_t> batch, int n_threads) {
  index_t tokens = 0;
  for (const index_t i : batch) tokens += chains_.length(i);
  const int threads = useful_threads(n_threads, tokens * chains_.labels * (chains_.labels + 16));
  for_blocks({std::ssize(batch), std::ssize(batch)}, threads, [&](index_t place, index_t, index_t) {
    blocks_[place].search(batch[place], w_.data(), labellings_[batch[place]]);
  });
  for (index_t place = 0; place < std::ssize(batch); ++place) step(batch[place], place);
}

void ChainAscent::step(index_t sequence, index_t place) {
  const double C = C_of(sequence);
  Labellings& known = labellings_[sequence];
  loss_ += C * blocks_[place].step(sequence, C, w_.data(), known);
  gaps_[sequence] = C * blocks_[place].gap();
  known.prune();
}

double ChainAscent::aim() {
  double loss = 0;
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    double fall = 0, growth = 0;
    for (Labelling& known : labellings_[i]) {
      known.aim = std::max(-known.weight, reach_ * (known.weight - known.before));
      (known.aim < 0.0 ? fall : growth) += std::abs(known.aim);
    }
    // What falls to zero falls no further: then what grows does so by less.
    const double kept = growth > 0.0 ? fall / growth : 0.0;
    for (Labelling& known : labellings_[i]) {
      if (known.aim > 0.0) known.aim *= kept;
      loss += C_of(i) * known.aim * known.loss;
    }
  }
  return loss;
}

void ChainAscent::extrapolate(int n_threads) {
  const double loss = aim();
  const index_t size = std::ssize(w_);
  for_entries(size, n_threads, [&](index_t j) { direction_[j] = 0.0; });
  add_features([&](index_t i, const Labelling& known) { return C_of(i) * known.aim; },
               direction_.data(), n_threads);
  const double along =
      blocked_sum(size, n_threads, [&](index_t j) { return w_[j] * direction_[j]; });
  const double square =
      blocked_sum(size, n_threads, [&](index_t j) { return direction_[j] * direction_[j]; });
  const double best = square > 0.0 ? (loss + along) / square : 0.0;
  const double share = std::clamp(best, 0.0, 1.0);
  reach_ = std::clamp(reach_ * best, std::max(kLeastReach, 0.5 * reach_), 2.0 * reach_);
  for (Labellings& known : labellings_) {
    for (Labelling& each : known) {
      each.before = each.weight;
      each.weight += share * each.aim;
    }
  }
  loss_ += share * loss;
  for_entries(size, n_threads, [&](index_t j) { w_[j] -= share * direction_[j]; });
}

void ChainAscent::renew(const double* heights, int n_threads) {
  const Blocks blocks = make_blocks(chains_.sequences(), 64, 256);
  for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
    ChainScratch scratch(chains_.labels);
    scratch.load_transitions(chains_, w_.data());
    for (index_t i = begin; i < end; ++i) {
      scratch.score_tokens(chains_, w_.data(), i);
      const std::span<const label_t> truth(truth_ + chains_.starts[i],
                                           static_cast<std::size_t>(chains_.length(i)));
      double mixed = -scratch.score(truth);
      for (const Labelling& known : labellings_[i])
        mixed += known.weight * (known.loss + scratch.score(known.labels));
      gaps_[i] = C_of(i) * std::max(0.0, heights[i] - mixed);
    }
  });
}

template <class Coef>
void ChainAscent::add_features(Coef&& coef, double* sum, int n_threads) const {
  // A thread adds to cache lines of its own: every entry has its terms in the same order, whatever
  // the number of threads.
  const auto parts = static_cast<index_t>(std::bit_floor(
      static_cast<unsigned>(useful_threads(n_threads, std::ssize(chains_.indices)))));
  for_blocks({parts, parts}, n_threads, [&](index_t part, index_t, index_t) {
    for (index_t i = 0; i < chains_.sequences(); ++i) {
      for (const Labelling& known : labellings_[i]) {
        const double times = coef(i, known);
        if (times == 0.0) continue;
        each_difference(chains_, truth_, i, known.labels, [&](index_t index, double value) {
          if (((index >> 3) & (parts - 1)) == part) sum[index] += times * value;
        });
      }
    }
  });
}

double ChainAscent::plane(double* slope, int n_threads) const {
  const auto n = static_cast<double>(chains_.sequences());
  std::vector<double> shares(chains_.sequences());
  double offset = 0;
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    // Rounding leaves weights that sum to one only nearly: more than one would prove too much. What
    // they lack is the truth's, whose plane is zero.
    double total = 0;
    for (const Labelling& known : labellings_[i]) total += known.weight;
    const auto count = static_cast<double>(labellings_[i].size());
    shares[i] = factors_[i] / n * (1.0 - (count + 4.0) * 0x1p-52) / std::max(1.0, total);
    for (const Labelling& known : labellings_[i]) offset += shares[i] * known.weight * known.loss;
  }
  add_features([&](index_t i, const Labelling& known) { return shares[i] * known.weight; }, slope,
               n_threads);
  return offset;
}

void ChainAscent::blend(double* mean, double share, int n_threads) const {
  for_entries(std::ssize(w_), n_threads, [&](index_t j) { mean[j] += share * (w_[j] - mean[j]); });
}

index_t ChainAscent::most_labellings() const {
  index_t most = 0;
  for (const auto& known : labellings_) most = std::max(most, static_cast<index_t>(known.size()));
  return most;
}

double ChainAscent::gap() const { return std::accumulate(gaps_.begin(), gaps_.end(), 0.0); }

}  // namespace cutplane
