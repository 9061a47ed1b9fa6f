#include "core/structured/chain_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/row_passes.hpp"

namespace cutplane {
namespace {

// Steps for each visit; all but the first see the weights that the one before has made.
constexpr int kStepsPerVisit = 3;
// What every sequence keeps of the chance to be visited, whatever its gap was when last seen.
constexpr double kUniformShare = 0.1;

double uniform(std::uint64_t& random) {
  return static_cast<double>(next_random(random) >> 11) * 0x1p-53;
}

}  // namespace

void SparseSum::clear() {
  for (const std::uint32_t slot : used_) keys_[slot] = -1;
  used_.clear();
}

std::size_t SparseSum::slot_of(std::int64_t key) const {
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 20) & mask;
  while (keys_[slot] != -1 && keys_[slot] != key) slot = (slot + 1) & mask;
  return slot;
}

void SparseSum::grow() {
  std::vector<std::int64_t> keys;
  std::vector<double> values;
  each([&](std::int64_t key, double value) {
    keys.push_back(key);
    values.push_back(value);
  });
  keys_.assign(std::max<std::size_t>(256, 2 * keys_.size()), -1);
  values_.resize(keys_.size());
  used_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], values[i]);
}

void SparseSum::add(std::int64_t key, double value) {
  if (2 * used_.size() >= keys_.size()) grow();
  const std::size_t slot = slot_of(key);
  if (keys_[slot] == -1) {
    keys_[slot] = key;
    values_[slot] = 0.0;
    used_.push_back(static_cast<std::uint32_t>(slot));
  }
  values_[slot] += value;
}

double SparseSum::square() const {
  double sum = 0;
  each([&](std::int64_t, double value) { sum += value * value; });
  return sum;
}

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

double ChainAscent::mixed_height(index_t sequence, const ChainScratch& scratch) const {
  double mixed = 0;
  for (const Labelling& each : labellings_[sequence])
    mixed += each.weight * (each.loss + scratch.score(each.labels));
  return mixed;
}

void ChainAscent::visit(index_t sequence) {
  std::vector<Labelling>& known = labellings_[sequence];
  const auto length = static_cast<std::size_t>(chains_.length(sequence));
  const std::span<const label_t> truth(truth_ + chains_.starts[sequence], length);
  Labelling found{std::vector<label_t>(length), 0.0, 0.0};
  for (int s = 0; s < kStepsPerVisit; ++s) {
    scratch_.load_transitions(chains_, w_.data());
    scratch_.score_tokens(chains_, w_.data(), sequence);
    double mixed = 0, lowest = INFINITY;
    std::size_t low = 0;
    for (std::size_t j = 0; j < known.size(); ++j) {
      const double height = known[j].loss + scratch_.score(known[j].labels);
      mixed += known[j].weight * height;
      if (height < lowest) {
        lowest = height;
        low = j;
      }
    }
    scratch_.add_costs(truth, cost_);
    scratch_.best_labelling(found.labels);
    const double highest = scratch_.score(found.labels);
    const double gap = C_ * std::max(0.0, highest - mixed);
    if (s == 0) gaps_[sequence] = gap;
    if (!(highest > lowest) || gap <= 0.1 * gaps_[sequence] * (s > 0)) break;
    std::size_t high = 0;
    while (high < known.size() && known[high].labels != found.labels) ++high;
    if (high == known.size()) {
      found.loss = 0;
      for (std::size_t t = 0; t < length; ++t)
        found.loss += cost_[truth[t] * chains_.labels + found.labels[t]];
      known.push_back(found);
    }
    step(sequence, low, high, highest - lowest);
    if (known[low].weight <= 0.0) known.erase(known.begin() + low);
  }
}

double ChainAscent::step(index_t sequence, std::size_t from, std::size_t to, double rise) {
  std::vector<Labelling>& known = labellings_[sequence];
  const std::vector<label_t>&a = known[from].labels, &b = known[to].labels;
  const index_t k = chains_.labels, start = chains_.starts[sequence];
  direction_.clear();
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t] != b[t]) {
      for (index_t f = chains_.indptr[start + t]; f < chains_.indptr[start + t + 1]; ++f) {
        const index_t row = static_cast<index_t>(chains_.indices[f]) * k;
        const double value = chains_.values ? chains_.values[f] : 1.0;
        direction_.add(row + b[t], value);
        direction_.add(row + a[t], -value);
      }
    }
    if (t > 0 && (a[t] != b[t] || a[t - 1] != b[t - 1])) {
      direction_.add((chains_.features + b[t - 1]) * k + b[t], 1.0);
      direction_.add((chains_.features + a[t - 1]) * k + a[t], -1.0);
    }
  }
  const double square = C_ * direction_.square();
  const double most = known[from].weight;
  const double moved = square > 0.0 ? std::min(most, rise / square) : most;
  known[from].weight = moved < most ? most - moved : 0.0;
  known[to].weight += moved;
  loss_ += moved * (known[to].loss - known[from].loss);
  direction_.each([&](std::int64_t key, double value) { w_[key] -= C_ * moved * value; });
  return moved;
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
      const double mixed = mixed_height(i, scratch) - scratch.score(truth);
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

index_t ChainAscent::labellings() const {
  index_t count = 0;
  for (const auto& each : labellings_) count += std::ssize(each);
  return count;
}

}  // namespace cutplane
