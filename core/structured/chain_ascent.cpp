#include "core/structured/chain_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/matrix/row_passes.hpp"

namespace cutplane {
namespace {

// What every sequence keeps of the chance to be visited, whatever its gap was when last seen.
constexpr double kUniformShare = 0.1;
// Going on in an epoch's direction is tried at least this many times as far as the epoch went.
constexpr double kLeastReach = 0.5;

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
      block_(chains, truth, cost),
      reach_(kLeastReach),
      direction_(chains.weights()) {
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    const label_t* begin = truth_ + chains_.starts[i];
    labellings_[i].push_back({{begin, begin + chains_.length(i)}, 1.0, 0.0, 1.0, 0.0});
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
  if (!first_) extrapolate();
  first_ = false;
  for (const index_t i : order_) visit(i);
}

void ChainAscent::visit(index_t sequence) {
  const double C = C_of(sequence);
  block_.visit(sequence, C, w_.data(), labellings_[sequence], change_);
  gaps_[sequence] = change_.gap;
  loss_ += C * change_.loss;
  const index_t k = chains_.labels;
  for (const auto& [token, label, coef] : change_.tokens)
    for (index_t f = chains_.indptr[token]; f < chains_.indptr[token + 1]; ++f)
      w_[static_cast<index_t>(chains_.indices[f]) * k + label] -=
          C * coef * (chains_.values ? chains_.values[f] : 1.0);
  double* moves = w_.data() + chains_.features * k;
  for (const auto& [key, coef] : change_.moves) moves[key] -= C * coef;
}

double ChainAscent::aim() {
  double loss = 0;
  std::ranges::fill(direction_, 0.0);
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
      if (known.aim == 0.0) continue;
      loss += C_of(i) * known.aim * known.loss;
      add_features(i, known, C_of(i) * known.aim, direction_.data());
    }
  }
  return loss;
}

void ChainAscent::extrapolate() {
  const double loss = aim();
  double along = 0, square = 0;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    along += w_[j] * direction_[j];
    square += direction_[j] * direction_[j];
  }
  const double best = square > 0.0 ? (loss + along) / square : 0.0;
  const double share = std::clamp(best, 0.0, 1.0);
  reach_ = std::clamp(reach_ * best, std::max(kLeastReach, 0.5 * reach_), 2.0 * reach_);
  for (std::vector<Labelling>& known : labellings_) {
    for (Labelling& each : known) {
      each.before = each.weight;
      each.weight += share * each.aim;
    }
  }
  loss_ += share * loss;
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] -= share * direction_[j];
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

void ChainAscent::add_features(index_t sequence, const Labelling& known, double coef,
                               double* sum) const {
  const index_t k = chains_.labels, start = chains_.starts[sequence];
  const label_t* truth = truth_ + start;
  double* moves = sum + chains_.features * k;
  for (std::size_t t = 0; t < known.labels.size(); ++t) {
    const bool differs = known.labels[t] != truth[t];
    if (differs) {
      for (index_t f = chains_.indptr[start + t]; f < chains_.indptr[start + t + 1]; ++f) {
        double* row = sum + static_cast<index_t>(chains_.indices[f]) * k;
        const double value = chains_.values ? coef * chains_.values[f] : coef;
        row[known.labels[t]] += value;
        row[truth[t]] -= value;
      }
    }
    if (t > 0 && (differs || known.labels[t - 1] != truth[t - 1])) {
      moves[known.labels[t - 1] * k + known.labels[t]] += coef;
      moves[truth[t - 1] * k + truth[t]] -= coef;
    }
  }
}

double ChainAscent::plane(double* slope) const {
  const auto n = static_cast<double>(chains_.sequences());
  double offset = 0;
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    // Rounding leaves weights that sum to one only nearly: more than one would prove too much. What
    // they lack is the truth's, whose plane is zero.
    double total = 0;
    for (const Labelling& known : labellings_[i]) total += known.weight;
    const auto count = static_cast<double>(labellings_[i].size());
    const double share = factors_[i] / n * (1.0 - (count + 4.0) * 0x1p-52) / std::max(1.0, total);
    for (const Labelling& known : labellings_[i]) {
      offset += share * known.weight * known.loss;
      add_features(i, known, share * known.weight, slope);
    }
  }
  return offset;
}

index_t ChainAscent::most_labellings() const {
  index_t most = 0;
  for (const auto& known : labellings_) most = std::max(most, std::ssize(known));
  return most;
}

double ChainAscent::dual_value() const {
  double square = 0;
  for (const double value : w_) square += value * value;
  return loss_ - 0.5 * square;
}

double ChainAscent::gap() const { return std::accumulate(gaps_.begin(), gaps_.end(), 0.0); }

}  // namespace cutplane
