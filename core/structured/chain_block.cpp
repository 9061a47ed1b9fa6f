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
  list_flips(known);
}

void ChainBlock::list_flips(Labellings& known) {
  const index_t k = chains_.labels;
  flip_of_.assign(found_.size() * k, -1);
  flips_.clear();
  listed_.clear();
  ends_.clear();
  for (const Labelling& each : known) {
    for (index_t t = 0; t < std::ssize(each.labels); ++t) {
      const label_t label = each.labels[t];
      if (label == truth_[first_ + t]) continue;
      std::int32_t& flip = flip_of_[t * k + label];
      if (flip == -1) {
        flip = static_cast<std::int32_t>(flips_.size());
        flips_.push_back({first_ + t, label, 0.0});
      }
      listed_.push_back(flip);
    }
    ends_.push_back(listed_.size());
  }
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

double ChainBlock::step(index_t sequence, double C, double* w, Labellings& known) {
  measure_heights(sequence, w, known);
  balance(C, known);
  return follow(sequence, C, w, known);
}

void ChainBlock::measure_heights(index_t sequence, const double* w, Labellings& known) {
  double sum = 0;
  const auto add = [&](index_t index, double value) { sum += value * w[index]; };
  for (Flip& flip : flips_) {
    sum = 0;
    each_feature(chains_, truth_, flip.token, flip.label, add);
    flip.value = sum;
  }
  heights_.resize(known.size());
  std::size_t at = 0;
  for (std::size_t j = 0; j < known.size(); ++j) {
    sum = known[j].loss;
    for (; at < ends_[j]; ++at) sum += flips_[listed_[at]].value;
    each_move(chains_, truth_, sequence, known[j].labels, add);
    heights_[j] = sum;
  }
}

void ChainBlock::balance(double C, Labellings& known) {
  const std::size_t count = known.size();
  for (Labelling& each : known) each.aim = 0.0;
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

double ChainBlock::follow(index_t sequence, double C, double* w, const Labellings& known) {
  for (Flip& flip : flips_) flip.value = 0.0;
  std::size_t j = 0, at = 0;
  double loss = 0;
  for (const Labelling& each : known) {
    for (; at < ends_[j]; ++at) flips_[listed_[at]].value += each.aim;
    ++j;
    if (each.aim == 0.0) continue;
    loss += each.aim * each.loss;
    each_move(chains_, truth_, sequence, each.labels,
              [&](index_t index, double value) { w[index] -= C * each.aim * value; });
  }
  for (const Flip& flip : flips_)
    if (flip.value != 0.0)
      each_feature(chains_, truth_, flip.token, flip.label,
                   [&](index_t index, double value) { w[index] -= C * flip.value * value; });
  return loss;
}

}  // namespace cutplane
