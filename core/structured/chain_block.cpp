#include "core/structured/chain_block.hpp"

#include <algorithm>
#include <cmath>

namespace cutplane {
namespace {

// Steps for each search: on CoNLL-2000 5 leave more to the next search, 20 gain nothing.
constexpr int kStepsPerSearch = 10;
// Steps end when no more than this share of what the first one saw is left.
constexpr double kSettled = 0.05;

}  // namespace

void Labellings::prune() {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < size(); ++i)
    if (known_[i].weight > 0.0) kept.push_back(i);
  if (kept.size() == size()) return;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) products_[kept[i]][j] = products_[kept[i]][kept[j]];
    products_[kept[i]].resize(i + 1);
    if (kept[i] == i) continue;
    known_[i] = std::move(known_[kept[i]]);
    products_[i] = std::move(products_[kept[i]]);
  }
  known_.resize(kept.size());
  products_.resize(kept.size());
}

ChainBlock::ChainBlock(const Chains& chains, const label_t* truth, const double* cost)
    : chains_(chains), truth_(truth), cost_(cost), scratch_(chains.labels) {}

void ChainBlock::search(index_t sequence, const double* w, Labellings& known) {
  first_ = chains_.starts[sequence];
  found_.resize(chains_.length(sequence));
  scratch_.load_transitions(chains_, w);
  scratch_.score_tokens(chains_, w, sequence);
  scratch_.add_costs({truth_ + first_, found_.size()}, cost_);
  mix(known);
  add_best(sequence, known);
}

void ChainBlock::mix(const Labellings& known) {
  mixed_ = 0.0;
  lowest_ = INFINITY;
  for (const Labelling& each : known) {
    if (each.weight <= 0.0) continue;
    const double height = scratch_.score(each.labels);
    mixed_ += each.weight * height;
    lowest_ = std::min(lowest_, height);
  }
}

void ChainBlock::add_best(index_t sequence, Labellings& known) {
  scratch_.best_labelling(found_);
  const double highest = scratch_.score(found_);
  gap_ = std::max(0.0, highest - mixed_);
  const auto is_found = [&](const Labelling& each) {
    return std::ranges::equal(each.labels, found_);
  };
  if (!(highest > lowest_) || std::ranges::any_of(known, is_found)) return;
  const label_t* truth = truth_ + first_;
  double loss = 0;
  for (std::size_t t = 0; t < found_.size(); ++t)
    loss += cost_[truth[t] * chains_.labels + found_[t]];
  known.add({found_, 0.0, loss, 0.0, 0.0}, products(sequence, known));
}

std::vector<double> ChainBlock::products(index_t sequence, const Labellings& known) {
  std::vector<double> products;
  difference_.clear();
  each_difference(chains_, truth_, sequence, found_,
                  [&](index_t index, double value) { difference_.add(index, value); });
  for (const Labelling& each : known) {
    double sum = 0;
    each_difference(chains_, truth_, sequence, each.labels,
                    [&](index_t index, double value) { sum += value * difference_[index]; });
    products.push_back(sum);
  }
  products.push_back(difference_.square());
  return products;
}

void ChainBlock::step(index_t sequence, double C, const double* w, Labellings& known) {
  const std::size_t count = known.size();
  heights_.resize(count);
  for (std::size_t j = 0; j < count; ++j) {
    heights_[j] = known[j].loss;
    known[j].aim = 0.0;
    each_difference(chains_, truth_, sequence, known[j].labels,
                    [&](index_t index, double value) { heights_[j] += value * w[index]; });
  }
  double least = 0.0;
  for (int s = 0; s < kStepsPerSearch; ++s) {
    std::size_t low = count;
    for (std::size_t j = 0; j < count; ++j)
      if (known[j].weight > 0.0 && (low == count || heights_[j] < heights_[low])) low = j;
    const std::size_t high = std::ranges::max_element(heights_) - heights_.begin();
    const double rise = heights_[high] - heights_[low];
    if (s == 0) least = kSettled * rise;
    if (!(rise > least)) break;
    const double most = known[low].weight, length = C * known.square(high, low);
    const double moved = length > 0.0 ? std::min(most, rise / length) : most;
    known[low].weight = moved < most ? most - moved : 0.0;
    known[high].weight += moved;
    known[low].aim -= moved;
    known[high].aim += moved;
    for (std::size_t j = 0; j < count; ++j)
      heights_[j] -= C * moved * (known.product(j, high) - known.product(j, low));
  }
}

}  // namespace cutplane
