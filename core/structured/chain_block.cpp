#include "core/structured/chain_block.hpp"

#include <algorithm>
#include <cmath>

namespace cutplane {
namespace {

// Steps for each visit; all but the first see the scores that the one before has made.
constexpr int kStepsPerVisit = 2;
// A visit ends when no more than this share of the sequence's gap is left.
constexpr double kSettled = 0.1;

}  // namespace

ChainBlock::ChainBlock(const Chains& chains, const label_t* truth, const double* cost)
    : chains_(chains),
      truth_(truth),
      cost_(cost),
      scratch_(chains.labels),
      spread_(chains.features, 0.0),
      move_coefs_(chains.labels * chains.labels),
      move_counts_(chains.labels * chains.labels) {}

void ChainBlock::start(index_t sequence, const double* w) {
  first_ = chains_.starts[sequence];
  length_ = chains_.length(sequence);
  found_.resize(length_);
  scratch_.load_transitions(chains_, w);
  scratch_.score_tokens(chains_, w, sequence);
  scratch_.add_costs({truth_ + first_, found_.size()}, cost_);
  has_products_.assign(length_, false);
  products_.resize(is_long() ? 0 : length_ * length_);
  token_coefs_.assign(length_ * chains_.labels, 0.0);
  move_coefs_.clear();
}

ChainBlock::Mixture ChainBlock::mixture(const std::vector<Labelling>& known) const {
  Mixture found{0.0, INFINITY, 0};
  for (std::size_t j = 0; j < known.size(); ++j) {
    if (known[j].weight <= 0.0) continue;
    const double height = scratch_.score(known[j].labels);
    found.height += known[j].weight * height;
    if (height < found.lowest) {
      found.lowest = height;
      found.low = j;
    }
  }
  return found;
}

std::size_t ChainBlock::place_of(std::span<const label_t> labels,
                                 std::vector<Labelling>& known) const {
  for (std::size_t j = 0; j < known.size(); ++j)
    if (std::ranges::equal(known[j].labels, labels)) return j;
  const label_t* truth = truth_ + first_;
  double loss = 0;
  for (std::size_t t = 0; t < labels.size(); ++t)
    loss += cost_[truth[t] * chains_.labels + labels[t]];
  known.push_back({{labels.begin(), labels.end()}, 0.0, loss, 0.0, 0.0});
  return known.size() - 1;
}

void ChainBlock::visit(index_t sequence, double C, const double* w, std::vector<Labelling>& known,
                       BlockChange& change) {
  C_ = C;
  start(sequence, w);
  change.loss = 0.0;
  const int steps = is_long() ? 1 : kStepsPerVisit;
  for (int s = 0; s < steps; ++s) {
    const Mixture mixed = mixture(known);
    scratch_.best_labelling(found_);
    const double highest = scratch_.score(found_);
    const double gap = C_ * std::max(0.0, highest - mixed.height);
    if (s == 0) change.gap = gap;
    if (!(highest > mixed.lowest) || (s > 0 && gap <= kSettled * change.gap)) break;
    const std::size_t high = place_of(found_, known);
    step(known[mixed.low], known[high], highest - mixed.lowest, change);
  }
  std::erase_if(known, [](const Labelling& each) { return each.weight <= 0.0; });
  collect(change);
}

void ChainBlock::compare(const Labelling& from, const Labelling& to) {
  differing_.clear();
  move_counts_.clear();
  for (index_t t = 0; t < length_; ++t) {
    const bool differs = from.labels[t] != to.labels[t];
    if (differs) differing_.push_back(t);
    if (t > 0 && (differs || from.labels[t - 1] != to.labels[t - 1])) {
      move_counts_.add(to.labels[t - 1] * chains_.labels + to.labels[t], 1.0);
      move_counts_.add(from.labels[t - 1] * chains_.labels + from.labels[t], -1.0);
    }
  }
}

const double* ChainBlock::products(index_t t) {
  double* row = products_.data() + t * length_;
  if (has_products_[t]) return row;
  has_products_[t] = true;
  const auto value = [&](index_t f) { return chains_.values ? chains_.values[f] : 1.0; };
  const index_t begin = chains_.indptr[first_ + t], end = chains_.indptr[first_ + t + 1];
  for (index_t f = begin; f < end; ++f) spread_[chains_.indices[f]] += value(f);
  for (index_t u = 0; u < length_; ++u) {
    double sum = 0;
    for (index_t f = chains_.indptr[first_ + u]; f < chains_.indptr[first_ + u + 1]; ++f)
      sum += spread_[chains_.indices[f]] * value(f);
    row[u] = sum;
  }
  for (index_t f = begin; f < end; ++f) spread_[chains_.indices[f]] = 0.0;
  return row;
}

double ChainBlock::token_square(const Labelling& from, const Labelling& to) {
  double sum = 0;
  for (const index_t t : differing_) {
    const double* row = products(t);
    const label_t a = from.labels[t], b = to.labels[t];
    for (const index_t u : differing_) {
      const label_t c = from.labels[u], d = to.labels[u];
      sum += row[u] * ((a == c) + (b == d) - (a == d) - (b == c));
    }
  }
  return sum;
}

double ChainBlock::sparse_square(const Labelling& from, const Labelling& to) {
  direction_.clear();
  for (const index_t t : differing_) {
    for (index_t f = chains_.indptr[first_ + t]; f < chains_.indptr[first_ + t + 1]; ++f) {
      const index_t row = static_cast<index_t>(chains_.indices[f]) * chains_.labels;
      const double value = chains_.values ? chains_.values[f] : 1.0;
      direction_.add(row + to.labels[t], value);
      direction_.add(row + from.labels[t], -value);
    }
  }
  return direction_.square();
}

void ChainBlock::step(Labelling& from, Labelling& to, double rise, BlockChange& change) {
  compare(from, to);
  double square = is_long() ? sparse_square(from, to) : token_square(from, to);
  for (const index_t key : move_counts_.keys()) square += move_counts_[key] * move_counts_[key];
  const double most = from.weight;
  const double moved = square > 0.0 ? std::min(most, rise / (C_ * square)) : most;
  from.weight = moved < most ? most - moved : 0.0;
  to.weight += moved;
  change.loss += moved * (to.loss - from.loss);
  shift(from, to, moved);
}

void ChainBlock::shift(const Labelling& from, const Labelling& to, double moved) {
  const index_t k = chains_.labels;
  for (const index_t t : differing_) {
    token_coefs_[t * k + to.labels[t]] += moved;
    token_coefs_[t * k + from.labels[t]] -= moved;
    if (is_long()) continue;
    const double* row = products(t);
    for (index_t u = 0; u < length_; ++u) {
      const double change = C_ * moved * row[u];
      scratch_.row(u)[to.labels[t]] -= change;
      scratch_.row(u)[from.labels[t]] += change;
    }
  }
  for (const index_t key : move_counts_.keys()) {
    move_coefs_.add(key, moved * move_counts_[key]);
    scratch_.add_to_transition(key / k, key % k, -C_ * moved * move_counts_[key]);
  }
}

void ChainBlock::collect(BlockChange& change) const {
  change.tokens.clear();
  change.moves.clear();
  for (index_t t = 0; t < length_; ++t)
    for (index_t j = 0; j < chains_.labels; ++j)
      if (const double coef = token_coefs_[t * chains_.labels + j]; coef != 0.0)
        change.tokens.push_back({first_ + t, static_cast<label_t>(j), coef});
  for (const index_t key : move_coefs_.keys()) change.moves.push_back({key, move_coefs_[key]});
}

}  // namespace cutplane
