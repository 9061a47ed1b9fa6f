#include "core/ranking/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/ranking/few_pairs.hpp"
#include "core/ranking/pair_tree.hpp"
#include "core/ranking/score_grid.hpp"

namespace cutplane {
namespace {

constexpr index_t kLeafInParallel = 1 << 15;

// Every pair at or beyond its kink counts whole. Sums: value, offset.
struct CutVisitor final : PairVisitor {
  double* coef;  // by place

  CutVisitor(const PairSample& sample, double* to) : PairVisitor(sample), coef(to) {}

  PairSums higher(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    const auto counts = [&](index_t i, index_t j) {
      return violation(high.score[i], low.score[j]) >= 0.0;
    };
    index_t from = first_that(0, low.size, [&](index_t j) { return counts(begin, j); });
    const double all = low.mass(low.size);
    double value = 0, offset = 0;
    for (index_t i = begin; i < end; ++i) {
      while (from < low.size && !counts(i, from)) ++from;
      const double led = own(high.place[i]) * (all - low.mass(from));
      value += led * (1.0 - high.score[i]);
      offset += led;
      coef[high.place[i]] -= node.weight * led;
    }
    return {node.weight * value, node.weight * offset, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    const auto counts = [&](index_t i, index_t j) {
      return violation(high.score[i], low.score[j]) >= 0.0;
    };
    index_t to = first_that(0, high.size, [&](index_t i) { return !counts(i, begin); });
    double value = 0;
    for (index_t j = begin; j < end; ++j) {
      while (to < high.size && counts(to, j)) ++to;
      const double trails = own(low.place[j]) * high.mass(to);
      value += trails * low.score[j];
      coef[low.place[j]] += node.weight * trails;
    }
    return {node.weight * value, 0.0, 0.0};
  }
};

// Value and right derivative along a direction. A pair exactly on its kink counts for the
// derivative if it moves beyond: scores are ordered, and pairs compared, as if a little further on.
struct RayVisitor final : PairVisitor {
  using PairVisitor::PairVisitor;

  bool counts(const RankNode& node, index_t i, index_t j) const {
    const double z = violation(node.higher.score[i], node.lower.score[j]);
    if (z != 0.0) return z > 0.0;
    return direction[node.lower.place[j]] > direction[node.higher.place[i]];
  }

  PairSums higher(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    index_t from = first_that(0, low.size, [&](index_t j) { return counts(node, begin, j); });
    const double all = low.mass(low.size);
    double value = 0, slope = 0;
    for (index_t i = begin; i < end; ++i) {
      while (from < low.size && !counts(node, i, from)) ++from;
      const double led = own(high.place[i]) * (all - low.mass(from));
      value += led * (1.0 - high.score[i]);
      slope -= led * direction[high.place[i]];
    }
    return {node.weight * value, node.weight * slope, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    index_t to = first_that(0, high.size, [&](index_t i) { return !counts(node, i, begin); });
    double value = 0, slope = 0;
    for (index_t j = begin; j < end; ++j) {
      while (to < high.size && counts(node, to, j)) ++to;
      const double trails = own(low.place[j]) * high.mass(to);
      value += trails * low.score[j];
      slope += trails * direction[low.place[j]];
    }
    return {node.weight * value, node.weight * slope, 0.0};
  }
};

bool all_finite(const std::vector<double>& values) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  index_t wrong = 0;
#pragma omp simd reduction(+ : wrong)
  for (std::size_t k = 0; k < values.size(); ++k) wrong += !(std::abs(values[k]) <= kLargest);
  return wrong == 0;
}

// Scores by place, on their grid where they are finite.
std::vector<double> on_grid(const PairSample& sample, const double* s, int n_threads) {
  const double step = grid_step(sample.n, largest_size(s, sample.n, n_threads));
  if (step == 0.0) return gather(sample, s, 1, n_threads);
  const ScoreGrid grid(step);
  std::vector<double> by_place(sample.example.size());
  double* to = by_place.data();
  for_places(sample, 1, n_threads, [&](index_t p, index_t i) { to[p] = grid.nearest(s[i]); });
  return by_place;
}

// Leaves large enough are sorted by all threads, one after the other; the others one per thread.
void sort_leaves(const PairSample& sample, const TiedScores& scores, SortedScores& sorted,
                 int n_threads) {
  const index_t n = sample.places(), leaves = static_cast<index_t>(sample.leaf.size()) - 1;
  sorted.key.resize(n);
  if (static_cast<index_t>(sorted.place.size()) != n) {
    sorted.place.resize(n);
    std::iota(sorted.place.begin(), sorted.place.end(), place_t{0});
  }
  const bool radix = std::ranges::adjacent_find(sample.leaf, [](index_t begin, index_t end) {
                       return end - begin >= kFewForRadix;
                     }) != sample.leaf.end();
  std::vector<std::uint64_t> spare(radix ? 2 * n : 0);
  const auto sort_leaf = [&](index_t k, int threads) {
    const index_t begin = sample.leaf[k], end = sample.leaf[k + 1];
    sort_scores(scores, begin, end, sorted.place.data(), sorted.key.data(),
                spare.data() + 2 * begin, threads);
  };
  const auto large = [&](index_t k) {
    return sample.leaf[k + 1] - sample.leaf[k] >= kLeafInParallel;
  };
  for_blocks(make_blocks(leaves, 1, 256), useful_threads(n_threads, 16 * n),
             [&](index_t, index_t begin, index_t end) {
               for (index_t k = begin; k < end; ++k)
                 if (!large(k)) sort_leaf(k, 1);
             });
  for (index_t k = 0; k < leaves; ++k)
    if (large(k)) sort_leaf(k, n_threads);
}

}  // namespace

PairScores::PairScores(const PairSample& sample, const double* s, std::vector<place_t> near,
                       int n_threads)
    : sample_(sample),
      n_threads_(n_threads),
      by_place_(on_grid(sample, s, n_threads)),
      finite_(all_finite(by_place_)),
      sorted_{{}, std::move(near)} {
  if (!finite_ || sample.few_pairs) return;
  in_order();
  by_place_ = {};  // which nothing asks for any more
}

const SortedScores& PairScores::in_order() {
  if (sorted_.key.empty()) sort_leaves(sample_, {by_place_.data(), nullptr}, sorted_, n_threads_);
  return sorted_;
}

PairCut pair_cut(const PairSample& sample, PairScores& scores, double* coef, int n_threads) {
  if (sample.few_pairs) return few_pairs_cut(sample, scores.by_place(), coef, n_threads);
  const SortedScores& sorted = scores.in_order();
  std::vector<double> by_place(sample.example.size());
  const PairSums sums = sweep(sample, sorted, CutVisitor(sample, by_place.data()), n_threads);
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

PairLine::PairLine(const PairSample& sample, const double* start, const double* end, int n_threads)
    : sample_(sample),
      n_threads_(n_threads),
      start_(gather(sample, start, 1, n_threads)),
      direction_(gather(sample, end, 1, n_threads)),
      scores_(start_.size()) {
  for (std::size_t p = 0; p < start_.size(); ++p) direction_[p] -= start_[p];
}

PairSlope PairLine::at(double t) {
  for_blocks(place_blocks(sample_.places()), useful_threads(n_threads_, 4 * sample_.places()),
             [&](index_t, index_t begin, index_t stop) {
               for (index_t p = begin; p < stop; ++p) scores_[p] = start_[p] + t * direction_[p];
             });
  if (!all_finite(scores_)) return {0.0, 0.0, false};
  if (sample_.few_pairs) return few_pairs_slope(sample_, scores_, direction_, n_threads_);
  sort_leaves(sample_, {scores_.data(), direction_.data()}, sorted_, n_threads_);
  const RayVisitor visitor(sample_, direction_.data());
  const PairSums sums = sweep(sample_, sorted_, visitor, n_threads_);
  return {sums[0], sums[1], true};
}

}  // namespace cutplane
