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
    // Where a product goes, all that was there has been moved before.
    for (std::size_t j = 0; j <= i; ++j)
      products_[place(i, j)] = products_[place(kept[i], kept[j])];
    if (kept[i] != i) known_[i] = std::move(known_[kept[i]]);
  }
  known_.resize(kept.size());
  products_.resize(place(kept.size(), 0));
}

ChainBlock::ChainBlock(const Chains& chains, const label_t* truth, const double* cost)
    : chains_(chains), truth_(truth), cost_(cost), scratch_(chains.labels) {}

void ChainBlock::search(index_t sequence, const double* w, Labellings& known) {
  const index_t first = chains_.starts[sequence];
  found_.resize(chains_.length(sequence));
  right_ = {truth_ + first, found_.size()};
  scratch_.load_transitions(chains_, w);
  scratch_.score_tokens(chains_, w, sequence);
  scratch_.add_costs(right_, cost_);
  const double mixed = measure(known);
  flips_.start(first, right_, chains_.labels);
  moves_.clear();
  move_ends_.assign(1, 0);
  for (const Labelling& each : known) list(each.labels);

  scratch_.best_labelling(found_);
  const double highest = scratch_.lead(found_, right_);
  gap_ = std::max(0.0, highest - mixed);
  take(highest, known);
  copy_features();
}

void ChainBlock::take(double height, Labellings& known) {
  const auto is_found = [&](const Labelling& each) {
    return std::ranges::equal(each.labels, found_);
  };
  if (!(height > std::ranges::min(heights_)) || std::ranges::any_of(known, is_found)) return;
  double loss = 0;
  for (std::size_t t = 0; t < found_.size(); ++t)
    loss += cost_[right_[t] * chains_.labels + found_[t]];
  const std::size_t before = known.size();
  list(found_);
  known.add({found_, 0.0, loss, 0.0, 0.0}, products(before));
  heights_.push_back(height);
}

void ChainBlock::copy_features() {
  rows_.clear();
  values_.clear();
  row_ends_.assign(1, 0);
  for (const Flip& flip : flips_) {
    const index_t begin = chains_.indptr[flip.token], end = chains_.indptr[flip.token + 1];
    rows_.insert(rows_.end(), chains_.indices.begin() + begin, chains_.indices.begin() + end);
    if (chains_.values) values_.insert(values_.end(), chains_.values + begin, chains_.values + end);
    row_ends_.push_back(rows_.size());
  }
}

double ChainBlock::measure(const Labellings& known) {
  double mixed = 0;
  heights_.clear();
  for (const Labelling& each : known) {
    heights_.push_back(scratch_.lead(each.labels, right_));
    mixed += each.weight * heights_.back();
  }
  return mixed;
}

void ChainBlock::list(std::span<const label_t> labels) {
  flips_.add(labels);
  each_move(chains_, labels, right_.data(), [&](index_t row, label_t label, double value) {
    moves_.push_back({row, label, value});
  });
  move_ends_.push_back(moves_.size());
}

std::vector<double> ChainBlock::products(std::size_t known) {
  difference_.clear();
  flips_.clear_values();
  flips_.add_to(known, 1.0);
  for (const Flip& flip : flips_) {
    if (flip.value == 0.0) continue;
    each_feature(chains_, flip.token, [&](index_t row, double value) {
      difference_.add(key(row, flip.label), value);
      difference_.add(key(row, flip.right), -value);
    });
  }
  for (const Move& move : moves_of(known)) difference_.add(key(move.row, move.label), move.value);

  for (Flip& flip : flips_) {
    double sum = 0;
    each_feature(chains_, flip.token, [&](index_t row, double value) {
      sum += value * (difference_[key(row, flip.label)] - difference_[key(row, flip.right)]);
    });
    flip.value = sum;
  }
  std::vector<double> products;
  for (std::size_t j = 0; j < known; ++j) {
    double sum = flips_.sum(j);
    for (const Move& move : moves_of(j)) sum += move.value * difference_[key(move.row, move.label)];
    products.push_back(sum);
  }
  products.push_back(difference_.square());
  return products;
}

double ChainBlock::step(double C, RowChanges& changes, Labellings& known) {
  catch_up(changes);
  balance(C, known);
  return follow(C, changes, known);
}

void ChainBlock::catch_up(const RowChanges& changes) {
  if (changes.empty()) return;
  std::size_t f = 0;
  for (Flip& flip : flips_) {
    double sum = 0;
    each_row(f++, [&](index_t row, double value) {
      sum += value * changes.difference(row, flip.label, flip.right);
    });
    flip.value = sum;
  }
  for (std::size_t j = 0; j < heights_.size(); ++j) {
    double sum = flips_.sum(j);
    for (const Move& move : moves_of(j)) sum += move.value * changes.at(move.row, move.label);
    heights_[j] += sum;
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

double ChainBlock::follow(double C, RowChanges& changes, const Labellings& known) {
  double loss = 0;
  flips_.clear_values();
  std::size_t j = 0;
  for (const Labelling& each : known) {
    if (each.aim != 0.0) {
      loss += each.aim * each.loss;
      flips_.add_to(j, each.aim);
      changes.reserve(std::ssize(moves_of(j)));
      for (const Move& move : moves_of(j))
        changes.add(move.row, move.label, -C * each.aim * move.value);
    }
    ++j;
  }
  std::size_t f = 0;
  for (const Flip& flip : flips_) {
    const std::size_t at = f++;
    if (flip.value == 0.0) continue;
    changes.reserve(static_cast<index_t>(row_ends_[at + 1] - row_ends_[at]));
    each_row(at, [&](index_t row, double value) {
      changes.move(row, flip.label, flip.right, C * flip.value * value);
    });
  }
  return loss;
}

}  // namespace cutplane
