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
    if ((*this)[i].weight > 0.0) kept.push_back(i);
  if (kept.size() == size()) return;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    // Where a product goes, all that was there has been moved before.
    for (std::size_t j = 0; j <= i; ++j)
      products_[place(i, j)] = products_[place(kept[i], kept[j])];
    if (kept[i] != i) (*this)[i] = std::move((*this)[kept[i]]);
  }
  erase(begin() + static_cast<std::ptrdiff_t>(kept.size()), end());
  products_.resize(place(kept.size(), 0));
}

void Differences::add(std::span<const label_t> labels) {
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const bool differs = labels[t] != truth_[t];
    if (t > 0 && (differs || labels[t - 1] != truth_[t - 1])) {
      moves.items.push_back({features_ + labels[t - 1], labels[t], 1.0});
      moves.items.push_back({features_ + truth_[t - 1], truth_[t], -1.0});
    }
    if (!differs) continue;
    std::int32_t& place = place_[t * labels_ + labels[t]];
    if (place == kNone) {
      place = static_cast<std::int32_t>(flips.size());
      flips.push_back({first_ + static_cast<index_t>(t), labels[t], truth_[t], 0.0});
    }
    places_.items.push_back(place);
  }
  moves.end_list();
  places_.end_list();
}

void ChainBlock::search(index_t sequence, const double* w, Labellings& known) {
  const auto right = chains_.part(truth_, sequence);
  found_.resize(right.size());
  scratch_.load_transitions(chains_, w);
  scratch_.score_tokens(chains_, w, sequence);
  scratch_.add_costs(right, cost_);
  differences_.start(chains_, chains_.starts[sequence], right);
  heights_.clear();
  double mixed = 0;
  for (const Labelling& each : known) {
    differences_.add(each.labels);
    heights_.push_back(scratch_.lead(each.labels, right));
    mixed += each.weight * heights_.back();
  }
  scratch_.best_labelling(found_);
  const double highest = scratch_.lead(found_, right);
  gap_ = std::max(0.0, highest - mixed);
  const auto is_found = [&](const Labelling& each) {
    return std::ranges::equal(each.labels, found_);
  };
  const bool is_new = highest > std::ranges::min(heights_) && std::ranges::none_of(known, is_found);
  if (is_new) differences_.add(found_);
  copy_features();
  if (is_new) take(highest, right, known);
}

void ChainBlock::copy_features() {
  rows_.clear();
  values_.clear();
  for (const auto& flip : differences_.flips) {
    const index_t begin = chains_.indptr[flip.token], end = chains_.indptr[flip.token + 1];
    rows_.items.insert(rows_.items.end(), chains_.indices.begin() + begin,
                       chains_.indices.begin() + end);
    if (chains_.values) values_.insert(values_.end(), chains_.values + begin, chains_.values + end);
    rows_.end_list();
  }
}

// Adds the labelling found to those that are known.
void ChainBlock::take(double height, std::span<const label_t> right, Labellings& known) {
  const index_t last = std::ssize(heights_);
  difference_.clear();
  add_differences(1.0, [=](index_t j) { return j == last ? 1.0 : 0.0; }, difference_);
  std::vector<double> products(last);
  add_products(difference_, products);
  products.push_back(difference_.square());
  double loss = 0;
  for (std::size_t t = 0; t < found_.size(); ++t)
    loss += cost_[right[t] * chains_.labels + found_[t]];
  known.add({found_, 0.0, loss, 0.0, 0.0}, products);
  heights_.push_back(height);
}

template <class Table>
void ChainBlock::add_products(const Table& table, std::span<double> sums) {
  index_t f = 0;
  for (auto& flip : differences_.flips) {
    double sum = 0;
    each_row(f++, [&](index_t row, double value) {
      sum += value * (table.at(row, flip.label) - table.at(row, flip.right));
    });
    flip.value = sum;
  }
  for (index_t j = 0; j < std::ssize(sums); ++j) {
    double sum = differences_.sum(j);
    for (const auto& move : differences_.moves[j])
      sum += move.value * table.at(move.row, move.label);
    sums[j] += sum;
  }
}

template <class Coef, class Table>
void ChainBlock::add_differences(double factor, Coef&& coef, Table& table) {
  differences_.set_sums(coef);
  index_t f = 0;
  for (const auto& flip : differences_.flips) {
    const index_t at = f++;
    if (flip.value == 0.0) continue;
    table.reserve(rows_.ends[at + 1] - rows_.ends[at]);
    each_row(at, [&](index_t row, double value) {
      table.move(row, flip.right, flip.label, factor * flip.value * value);
    });
  }
  for (index_t j = 0; j < differences_.labellings(); ++j) {
    const double times = factor * coef(j);
    if (times == 0.0) continue;
    table.reserve(std::ssize(differences_.moves[j]));
    for (const auto& move : differences_.moves[j])
      table.add(move.row, move.label, times * move.value);
  }
}

double ChainBlock::step(double C, RowChanges& changes, Labellings& known) {
  catch_up(changes);
  balance(C, known);
  add_differences(-C, [&](index_t j) { return known[j].aim; }, changes);
  double loss = 0;
  for (const Labelling& each : known) loss += each.aim * each.loss;
  return loss;
}

void ChainBlock::catch_up(const RowChanges& changes) {
  if (!changes.empty()) add_products(changes, heights_);
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

}  // namespace cutplane
