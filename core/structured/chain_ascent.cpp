#include "core/structured/chain_ascent.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/ascent/simplex_aim.hpp"
#include "core/base/random_order.hpp"
#include "core/base/vectors.hpp"

namespace cutplane {
namespace {

// What every sequence keeps of the chance to be visited, whatever its gap was when last seen.
constexpr double kUniformShare = 0.1;
// Sequences that are searched at the same weights, which the steps of as many before them are not
// in yet. To a gap of 1 % this loses little: docs/decisions.
constexpr index_t kBatch = 16;
// Visits that are sorted by length before they are cut into batches.
constexpr index_t kSorted = 8 * kBatch;

// Rows that are added to lie all over the memory: they are fetched some flips early.
constexpr std::size_t kFlipsAhead = 2;
constexpr index_t kEntriesPerBlock = 1 << 15, kMostBlocks = 256;
// Rows of one thread follow each other by so many, where there are many rows.
constexpr index_t kRowsInTurn = 64, kLeastGroups = 256;

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
      w_(chains.weights()),
      changes_(chains.features + chains.labels, chains.labels),
      labellings_(chains.sequences()),
      gaps_(chains.sequences(), INFINITY),
      order_(chains.sequences()),
      searched_(std::min(kBatch, std::max<index_t>(1, chains.sequences())),
                ChainBlock(chains, truth, cost)),
      stepping_(searched_),
      direction_(chains.weights()),
      met_(chains.features + chains.labels) {
  for (index_t i = 0; i < chains_.sequences(); ++i) {
    const auto right = chains_.part(truth_, i);
    labellings_[i].add({{right.begin(), right.end()}, 1.0, 0.0, 1.0, 0.0}, {0.0});
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
  std::vector<index_t> times(chains_.sequences(), 0);
  std::vector<std::array<index_t, 3>> ranked;  // by what, the place so far, the sequence
  for (const index_t i : order_) ranked.push_back({times[i]++, std::ssize(ranked), i});
  std::sort(ranked.begin(), ranked.end());  // first visits before second ones
  batches_.clear();
  const index_t size = std::ssize(order_);
  for (index_t begin = 0, end, before = -1; begin < size; begin = end) {
    const index_t round = ranked[begin][0];
    for (end = begin; end < size && end < begin + kSorted && ranked[end][0] == round; ++end)
      ranked[end] = {chains_.length(ranked[end][2]), end, ranked[end][2]};
    std::sort(ranked.begin() + begin, ranked.begin() + end);
    for (index_t at = begin; at < end; at += kBatch)
      batches_.push_back({std::min(at + kBatch, end), round != before && at == begin});
    before = round;
  }
  for (index_t j = 0; j < size; ++j) order_[j] = ranked[j][2];
}

void ChainAscent::epoch(int n_threads) {
  draw_order();
  form_batches();
  if (!first_) extrapolate(n_threads);
  first_ = false;
  std::span<const std::int64_t> before;  // the batch that has been searched and has not stepped
  index_t begin = 0;
  for (const Batch& batch : batches_) {
    if (batch.first_of_round) {
      visit(before, {}, n_threads);
      before = {};
    }
    const auto next = std::span(order_).subspan(begin, batch.end - begin);
    visit(before, next, n_threads);
    before = next;
    begin = batch.end;
  }
  visit(before, {}, n_threads);
  dual_ = loss_ - 0.5 * inner(w_.data(), w_.data(), chains_.weights(), n_threads);
}

void ChainAscent::visit(std::span<const std::int64_t> before, std::span<const std::int64_t> next,
                        int n_threads) {
  if (before.empty() && next.empty()) return;
  index_t tokens = 0;
  for (const index_t i : next) tokens += chains_.length(i);
  const int threads = useful_threads(n_threads, tokens * chains_.labels * (chains_.labels + 16));
  std::swap(searched_, stepping_);
  const index_t tasks = std::ssize(next) + 1;
  for_blocks({tasks, tasks}, threads, [&](index_t task, index_t, index_t) {
    if (task == 0)
      for (index_t place = 0; place < std::ssize(before); ++place) step(before[place], place);
    else
      searched_[task - 1].search(next[task - 1], w_.data(), labellings_[next[task - 1]]);
  });
  const index_t parts = std::max(std::ssize(before), std::ssize(next));
  for_blocks({parts, parts}, threads, [&](index_t part, index_t, index_t) {
    changes_.add_part(part, parts, w_.data());
    if (part < std::ssize(before)) labellings_[before[part]].prune();
    if (part < std::ssize(next)) searched_[part].catch_up(changes_);
  });
  changes_.clear();
}

void ChainAscent::step(index_t sequence, index_t place) {
  const double C = C_of(sequence);
  loss_ += C * stepping_[place].step(C, changes_, labellings_[sequence]);
  gaps_[sequence] = C * stepping_[place].gap();
}

double ChainAscent::aim(index_t sequence) {
  Labellings& known = labellings_[sequence];
  aim_on_simplex(
      static_cast<index_t>(known.size()), reach_.now(), [&](index_t j) { return known[j].weight; },
      [&](index_t j) { return known[j].before; },
      [&](index_t j) -> double& { return known[j].aim; });
  double loss = 0;
  for (const Labelling& each : known) loss += C_of(sequence) * each.aim * each.loss;
  return loss;
}

void ChainAscent::extrapolate(int n_threads) {
  const Blocks blocks = sequence_blocks();
  std::vector<double> losses(blocks.count, 0.0);
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) losses[b] += aim(i);
  });
  const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  add_features([&](index_t i, const Labelling& known) { return C_of(i) * known.aim; },
               direction_.data(), met_.data(), n_threads);
  const Blocks rows = make_blocks(
      std::ssize(met_), std::max<index_t>(1, kEntriesPerBlock / chains_.labels), kMostBlocks);
  const int threads = useful_threads(n_threads, chains_.weights());
  std::vector<Along> parts(rows.count);
  for_blocks(rows, threads, [&](index_t b, index_t begin, index_t end) {
    double slope = 0, square = 0;
    for (index_t row = begin; row < end; ++row) {
      if (!met_[row]) continue;
      const double* w = w_.data() + row * chains_.labels;
      const double* x = direction_.data() + row * chains_.labels;
#pragma omp simd reduction(+ : slope, square)
      for (index_t j = 0; j < chains_.labels; ++j) {
        slope += w[j] * x[j];
        square += x[j] * x[j];
      }
    }
    parts[b] = {square, slope};
  });
  Along along{0.0, 0.0};
  for (const Along& part : parts) {
    along.square += part.square;
    along.slope += part.slope;
  }
  const double share = reach_.take(along.square > 0.0 ? (loss + along.slope) / along.square : 0.0);
  for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      for (Labelling& known : labellings_[i]) {
        known.before = known.weight;
        known.weight += share * known.aim;
      }
    }
  });
  loss_ += share * loss;
  for_blocks(rows, threads, [&](index_t, index_t begin, index_t end) {
    for (index_t row = begin; row < end; ++row) {
      if (!std::exchange(met_[row], std::uint8_t{0})) continue;
      double* w = w_.data() + row * chains_.labels;
      double* x = direction_.data() + row * chains_.labels;
      for (index_t j = 0; j < chains_.labels; ++j) w[j] -= share * std::exchange(x[j], 0.0);
    }
  });
}

void ChainAscent::renew(const double* heights, int n_threads) {
  for_sequences(chains_, w_.data(), n_threads, [&](index_t i, const ChainScratch& scratch) {
    double mixed = -scratch.score(chains_.part(truth_, i));
    for (const Labelling& known : labellings_[i])
      mixed += known.weight * (known.loss + scratch.score(known.labels));
    gaps_[i] = C_of(i) * std::max(0.0, heights[i] - mixed);
  });
}

void ChainAscent::add_features(FunctionView<double(index_t, const Labelling&)> coef, double* sum,
                               std::uint8_t* met, int n_threads) const {
  const index_t k = chains_.labels;
  const Blocks blocks = sequence_blocks();
  std::vector<std::vector<Differences::Flip>> flips(blocks.count);
  std::vector<std::vector<double>> moves(blocks.count);
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    moves[b].assign(k * k, 0.0);
    Differences differences;
    for (index_t i = begin; i < end; ++i) {
      differences.start(chains_, chains_.starts[i], chains_.part(truth_, i));
      for (const Labelling& known : labellings_[i]) differences.add(known.labels);
      const auto times = [&](index_t j) { return coef(i, labellings_[i][j]); };
      differences.set_sums(times);
      for (const auto& flip : differences.flips)
        if (flip.value != 0.0) flips[b].push_back(flip);
      for (index_t j = 0; j < differences.labellings(); ++j)
        for (const auto& move : differences.moves[j])
          moves[b][(move.row - chains_.features) * k + move.label] += times(j) * move.value;
    }
  });
  // A thread adds to rows of its own: every entry has its terms in the same order, whatever the
  // number of threads.
  const auto parts = static_cast<index_t>(std::bit_floor(
      static_cast<unsigned>(useful_threads(n_threads, std::ssize(chains_.indices)))));
  const index_t together = std::clamp<index_t>(chains_.features / kLeastGroups, 1, kRowsInTurn);
  const int shift = std::bit_width(static_cast<std::uint64_t>(together)) - 1;
  for_blocks({parts, parts}, n_threads, [&](index_t part, index_t, index_t) {
    const auto is_other = [&](index_t row) { return ((row >> shift) & (parts - 1)) != part; };
    for (const auto& some : flips) {
      for (std::size_t j = 0; j < some.size(); ++j) {
        const auto& flip = some[j];
        each_feature(chains_, flip.token, [&](index_t row, double value) {
          if (is_other(row)) return;
          met[row] = 1;
          sum[row * k + flip.label] += flip.value * value;
          sum[row * k + flip.right] -= flip.value * value;
        });
        if (j + kFlipsAhead >= some.size()) continue;
        const auto& next = some[j + kFlipsAhead];
        each_feature(chains_, next.token, [&](index_t row, double) {
          if (is_other(row)) return;
          __builtin_prefetch(sum + row * k + next.label, 1);
          __builtin_prefetch(sum + row * k + next.right, 1);
        });
      }
    }
  });
  std::fill_n(met + chains_.features, k, std::uint8_t{1});
  for (const auto& some : moves)
    for (index_t j = 0; j < k * k; ++j) sum[chains_.features * k + j] += some[j];
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
  for_blocks(
      make_blocks(chains_.weights(), kEntriesPerBlock, kMostBlocks),
      useful_threads(n_threads, chains_.weights()),
      [&](index_t, index_t begin, index_t end) { std::fill(slope + begin, slope + end, 0.0); });
  std::vector<std::uint8_t> met(chains_.features + chains_.labels);
  add_features([&](index_t i, const Labelling& known) { return shares[i] * known.weight; }, slope,
               met.data(), n_threads);
  return offset;
}

void ChainAscent::blend(double* mean, double share, int n_threads) const {
  mix(mean, w_.data(), share, mean, chains_.weights(), n_threads);
}

index_t ChainAscent::most_labellings() const {
  index_t most = 0;
  for (const auto& known : labellings_) most = std::max(most, static_cast<index_t>(known.size()));
  return most;
}

}  // namespace cutplane
