#include "core/structured/chain_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/row_passes.hpp"

namespace cutplane {
namespace {

// Steps for each visit; all but the first see the weights that the one before has made.
constexpr int kStepsPerVisit = 3;
// A visit ends when no more than this share of the sequence's gap is left.
constexpr double kSettled = 0.1;
// What every sequence keeps of the chance to be visited, whatever its gap was when last seen.
constexpr double kUniformShare = 0.1;

double uniform(std::uint64_t& random) {
  return static_cast<double>(next_random(random) >> 11) * 0x1p-53;
}

}  // namespace

ChainAscent::ChainAscent(const Chains& chains, const label_t* truth, const double* cost, double C,
                         std::uint64_t seed)
    : chains_(chains),
      truth_(truth),
      cost_(cost),
      C_(C),
      random_(seed),
      w_(chains.weights(), 0.0),
      labellings_(chains.sequences()),
      gaps_(chains.sequences(), INFINITY),
      order_(chains.sequences()),
      scratch_(chains.labels) {
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    const label_t* begin = truth_ + chains_.starts[i];
    labellings_[i].push_back({{begin, begin + chains_.length(i)}, 1.0, 0.0});
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

void ChainAscent::epoch() {
  draw_order();
  first_ = false;
  for (const index_t i : order_) visit(i);
}

ChainAscent::Mixture ChainAscent::mixture(index_t sequence, const ChainScratch& scratch) const {
  const std::vector<Labelling>& known = labellings_[sequence];
  Mixture found{0.0, INFINITY, 0};
  for (std::size_t j = 0; j < known.size(); ++j) {
    const double height = known[j].loss + scratch.score(known[j].labels);
    found.height += known[j].weight * height;
    if (height < found.lowest) {
      found.lowest = height;
      found.low = j;
    }
  }
  return found;
}

std::size_t ChainAscent::place_of(index_t sequence, std::span<const label_t> labels) {
  std::vector<Labelling>& known = labellings_[sequence];
  for (std::size_t j = 0; j < known.size(); ++j)
    if (std::ranges::equal(known[j].labels, labels)) return j;
  const label_t* truth = truth_ + chains_.starts[sequence];
  double loss = 0;
  for (std::size_t t = 0; t < labels.size(); ++t)
    loss += cost_[truth[t] * chains_.labels + labels[t]];
  known.push_back({{labels.begin(), labels.end()}, 0.0, loss});
  return known.size() - 1;
}

void ChainAscent::visit(index_t sequence) {
  std::vector<Labelling>& known = labellings_[sequence];
  found_.resize(static_cast<std::size_t>(chains_.length(sequence)));
  for (int s = 0; s < kStepsPerVisit; ++s) {
    scratch_.load_transitions(chains_, w_.data());
    scratch_.score_tokens(chains_, w_.data(), sequence);
    const Mixture mixed = mixture(sequence, scratch_);
    scratch_.add_costs({truth_ + chains_.starts[sequence], found_.size()}, cost_);
    scratch_.best_labelling(found_);
    const double highest = scratch_.score(found_);
    const double gap = C_ * std::max(0.0, highest - mixed.height);
    if (s == 0) gaps_[sequence] = gap;
    if (!(highest > mixed.lowest) || (s > 0 && gap <= kSettled * gaps_[sequence])) break;
    const std::size_t high = place_of(sequence, found_);
    step(sequence, mixed.low, high, highest - mixed.lowest);
    if (known[mixed.low].weight <= 0.0)
      known.erase(known.begin() + static_cast<std::ptrdiff_t>(mixed.low));
  }
}

void ChainAscent::set_direction(index_t sequence, std::span<const label_t> from,
                                std::span<const label_t> to) {
  const index_t k = chains_.labels, start = chains_.starts[sequence];
  direction_.clear();
  for (std::size_t t = 0; t < from.size(); ++t) {
    const bool differs = from[t] != to[t];
    if (differs) {
      for (index_t f = chains_.indptr[start + t]; f < chains_.indptr[start + t + 1]; ++f) {
        const index_t row = static_cast<index_t>(chains_.indices[f]) * k;
        const double value = chains_.values ? chains_.values[f] : 1.0;
        direction_.add(row + to[t], value);
        direction_.add(row + from[t], -value);
      }
    }
    if (t > 0 && (differs || from[t - 1] != to[t - 1])) {
      direction_.add((chains_.features + to[t - 1]) * k + to[t], 1.0);
      direction_.add((chains_.features + from[t - 1]) * k + from[t], -1.0);
    }
  }
}

void ChainAscent::step(index_t sequence, std::size_t from, std::size_t to, double rise) {
  std::vector<Labelling>& known = labellings_[sequence];
  set_direction(sequence, known[from].labels, known[to].labels);
  const double square = C_ * direction_.square();
  const double most = known[from].weight;
  const double moved = square > 0.0 ? std::min(most, rise / square) : most;
  known[from].weight = moved < most ? most - moved : 0.0;
  known[to].weight += moved;
  loss_ += moved * (known[to].loss - known[from].loss);
  direction_.each([&](std::int64_t key, double value) { w_[key] -= C_ * moved * value; });
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
      const double mixed = mixture(i, scratch).height - scratch.score(truth);
      gaps_[i] = C_ * std::max(0.0, heights[i] - mixed);
    }
  });
}

double ChainAscent::plane(double* slope) const {
  const index_t k = chains_.labels;
  const double each = 1.0 / static_cast<double>(chains_.sequences());
  double offset = 0;
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    const label_t* truth = truth_ + chains_.starts[i];
    for (const Labelling& known : labellings_[i]) {
      const double coef = each * known.weight;
      offset += coef * known.loss;
      for (std::size_t t = 0; t < known.labels.size(); ++t) {
        if (known.labels[t] != truth[t]) {
          const index_t token = chains_.starts[i] + t;
          for (index_t f = chains_.indptr[token]; f < chains_.indptr[token + 1]; ++f) {
            double* row = slope + static_cast<index_t>(chains_.indices[f]) * k;
            const double value = chains_.values ? coef * chains_.values[f] : coef;
            row[known.labels[t]] += value;
            row[truth[t]] -= value;
          }
        }
        if (t > 0) {
          double* moves = slope + chains_.features * k;
          moves[known.labels[t - 1] * k + known.labels[t]] += coef;
          moves[truth[t - 1] * k + truth[t]] -= coef;
        }
      }
    }
  }
  return offset;
}

double ChainAscent::dual_value() const {
  double square = 0;
  for (const double value : w_) square += value * value;
  return C_ * loss_ - 0.5 * square;
}

double ChainAscent::gap() const { return std::accumulate(gaps_.begin(), gaps_.end(), 0.0); }

}  // namespace cutplane
