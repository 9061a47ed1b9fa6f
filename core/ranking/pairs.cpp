#include "core/ranking/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/ranking/pair_tree.hpp"
#include "core/ranking/score_order.hpp"

namespace cutplane {
namespace {

// The sum of scores over a window.
struct ScoreSum {
  const OrderedSpan* span;
  double total = 0.0;

  void add(index_t k, double factor) { total += factor * span->score[k]; }
  void clear() { total = 0.0; }
};

// The sum of rows of a matrix, one row per place.
struct RowSum {
  const OrderedSpan* span;
  const double* rows;
  std::vector<double> total;

  RowSum(const OrderedSpan* order, const double* matrix, index_t columns)
      : span(order), rows(matrix), total(columns) {}
  void add(index_t k, double factor) {
    const index_t columns = static_cast<index_t>(total.size());
    const double* row = rows + span->place[k] * columns;
    for (index_t c = 0; c < columns; ++c) total[c] += factor * row[c];
  }
  void clear() { std::fill(total.begin(), total.end(), 0.0); }
};

// A window [from, to) of an order that only moves on, with a sum over it, weights included.
template <class Sum>
struct Window {
  const OrderedSpan& span;
  const PairVisitor& visitor;
  index_t from, to;
  Sum sum;

  Window(const OrderedSpan& order, const PairVisitor& of, index_t begin, index_t end, Sum empty)
      : span(order), visitor(of), from(begin), to(end), sum(std::move(empty)) {
    for (index_t k = from; k < to; ++k) sum.add(k, own(k));
  }
  double own(index_t k) const { return visitor.own(span.place[k]); }
  void extend() {
    sum.add(to, own(to));
    ++to;
  }
  void drop() {
    sum.add(from, -own(from));
    if (++from == to) sum.clear();  // what rounding left
  }
  double mass() const { return span.mass(to) - span.mass(from); }
};

// Where a sweep over the higher half meets the lower one: the pairs on the kink are a window there,
// those after it are beyond; and the other way round.
struct KinkWindows {
  const PairVisitor& visitor;
  double half;  // of the kink's width

  bool beyond(double z) const { return z >= half; }
  bool reached(double z) const { return z > -half; }

  template <class MakeSum, class Body>
  void over_higher(const RankNode& node, index_t begin, index_t end, MakeSum make_sum,
                   Body body) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return;
    const auto z = [&](index_t i, index_t j) { return violation(high.score[i], low.score[j]); };
    Window<decltype(make_sum(&low))> window(
        low, visitor, first_that(0, low.size, [&](index_t j) { return reached(z(begin, j)); }),
        first_that(0, low.size, [&](index_t j) { return beyond(z(begin, j)); }), make_sum(&low));
    for (index_t i = begin; i < end; ++i) {
      while (window.to < low.size && !beyond(z(i, window.to))) window.extend();
      while (window.from < window.to && !reached(z(i, window.from))) window.drop();
      body(i, window, low.mass(low.size) - low.mass(window.to));
    }
  }

  template <class MakeSum, class Body>
  void over_lower(const RankNode& node, index_t begin, index_t end, MakeSum make_sum,
                  Body body) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return;
    const auto z = [&](index_t i, index_t j) { return violation(high.score[i], low.score[j]); };
    Window<decltype(make_sum(&high))> window(
        high, visitor, first_that(0, high.size, [&](index_t i) { return !beyond(z(i, begin)); }),
        first_that(0, high.size, [&](index_t i) { return !reached(z(i, begin)); }),
        make_sum(&high));
    for (index_t j = begin; j < end; ++j) {
      while (window.to < high.size && reached(z(window.to, j))) window.extend();
      while (window.from < window.to && beyond(z(window.from, j))) window.drop();
      body(j, window, high.mass(window.from));
    }
  }
};

// Pairs on the kink weighted by where they are on it. Sums: value, offset.
struct SmoothedVisitor final : PairVisitor {
  double* coef;
  double per_h, half;

  SmoothedVisitor(const PairSample& sample, double* to, double h, double reach)
      : PairVisitor(sample), coef(to), per_h(1.0 / h), half(0.5 * reach) {}
  KinkWindows windows() const { return {*this, half}; }
  static ScoreSum score_sum(const OrderedSpan* order) { return {order}; }

  PairSums higher(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    double value = 0, offset = 0;
    index_t kink = -1;
    windows().over_higher(
        node, begin, end, score_sum, [&](index_t i, const auto& window, double whole) {
          const double s = high.score[i], c = own(high.place[i]);
          const double on = window.mass();
          // Of scores on a grid, what is multiplied by 1/h is exact, and no larger than h.
          const double led = c * (whole + 0.5 * on + (on * (1.0 - s) + window.sum.total) * per_h);
          if (kink < 0) kink = window.from;
          while (kink < low.size && violation(s, low.score[kink]) < 0.0) ++kink;
          const double all = low.mass(low.size);
          value += c * (all - low.mass(kink)) * (1.0 - s);
          offset += led;
          coef[high.place[i]] -= node.weight * led;
        });
    return {node.weight * value, node.weight * offset, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const override {
    const OrderedSpan &low = node.lower, &high = node.higher;
    double value = 0;
    index_t kink = -1;
    windows().over_lower(node, begin, end, score_sum,
                         [&](index_t j, const auto& window, double whole) {
                           const double s = low.score[j], c = own(low.place[j]);
                           const double on = window.mass();
                           const double trails =
                               c * (whole + 0.5 * on + (on * (1.0 + s) - window.sum.total) * per_h);
                           if (kink < 0) kink = window.from;
                           while (kink < high.size && violation(high.score[kink], s) >= 0.0) ++kink;
                           value += c * high.mass(kink) * s;
                           coef[low.place[j]] += node.weight * trails;
                         });
    return {node.weight * value, 0.0, 0.0};
  }
};

// The Laplacian of the pairs on the kink, times a matrix with one row per place.
struct CurvatureVisitor final : PairVisitor {
  const double* rows;
  index_t columns;
  double* coef;
  double half;

  CurvatureVisitor(const PairSample& sample, const double* matrix, index_t width, double* to,
                   double h)
      : PairVisitor(sample), rows(matrix), columns(width), coef(to), half(0.5 * h) {}
  KinkWindows windows() const { return {*this, half}; }
  auto row_sum() const {
    return [this](const OrderedSpan* order) { return RowSum(order, rows, columns); };
  }
  // Every example stands against the sum of those it meets on the kink.
  auto against(const RankNode& node, const OrderedSpan& half_of) const {
    return [this, &node, &half_of](index_t k, const auto& window, double) {
      const place_t p = half_of.place[k];
      const double factor = node.weight * this->own(p), mass = window.mass();
      const double* row = rows + p * columns;
      double* out = coef + p * columns;
      for (index_t c = 0; c < columns; ++c)
        out[c] += factor * (mass * row[c] - window.sum.total[c]);
    };
  }
  PairSums higher(const RankNode& node, index_t begin, index_t end) const override {
    windows().over_higher(node, begin, end, row_sum(), against(node, node.higher));
    return {};
  }
  PairSums lower(const RankNode& node, index_t begin, index_t end) const override {
    windows().over_lower(node, begin, end, row_sum(), against(node, node.lower));
    return {};
  }
};

// A pair takes half a nanosecond to two, by the machine; sorting and sweeping takes some 25 for
// each example.
constexpr index_t kPairsPerExample = 24;

constexpr int kLanes = kCommonLanes;
using Lane = Lanes<kLanes>;
using Mask = LanesOf<kLanes>::mask;

// What scores are beyond the last: no pair of theirs is close to its kink.
constexpr double kFarBelow = -std::numeric_limits<double>::infinity(), kFarAbove = -kFarBelow;

// `left` numbers or as many as there is room for; `rest` where there are fewer.
CUTPLANE_INLINE void load_some(const double* from, index_t left, double rest, Lane& out) {
  if (left >= kLanes) return load<kLanes>(from, out);
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l) out[l] = l < left ? from[l] : rest;
}

CUTPLANE_INLINE void add_some(const Lane& more, index_t left, double* to) {
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l)
    if (l < left) to[l] += more[l];
}

CUTPLANE_INLINE double sum_of(const Lane& values) {
  double sum = 0.0;
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l) sum += values[l];
  return sum;
}

// As a bit pattern: what `where` does not say is 0.
#define CUTPLANE_WHERE(mask, values) ((Lane)((mask) & (Mask)(values)))

// The pairs of the ranks of groups [group, group_end) with those below, and their slopes by place.
template <bool kWeighted>
CUTPLANE_MULTIVERSION PairSums cut_of(const PairSample& sample, index_t group, index_t group_end,
                                      const double* score, double* coef) {
  const double* weight = sample.weight.data();
  PairSums total{};
  for (index_t g = group; g < group_end; ++g) {
    const index_t lowest = sample.leaf[sample.group[g]], highest = sample.leaf[sample.group[g + 1]];
    Lane value{}, counted{};
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k) {
      const index_t rank = sample.leaf[k], above = sample.leaf[k + 1];
      for (index_t j = lowest; j < rank; j += kLanes) {
        Lane low, each = Lane{} + 1.0, trails{}, lost{};
        load_some(score + j, rank - j, kFarBelow, low);
        if (kWeighted) load_some(weight + j, rank - j, 0.0, each);
        for (index_t i = rank; i < above; ++i) {
          const Lane z = (1.0 - score[i]) + low, own = Lane{} + (kWeighted ? weight[i] : 1.0);
          const Mask counts = z >= 0.0;
          trails += CUTPLANE_WHERE(counts, own);
          lost += own * CUTPLANE_WHERE(counts, z);
        }
        value += each * lost;
        add_some(each * trails, rank - j, coef + j);
      }
      for (index_t i = rank; i < above; i += kLanes) {
        Lane high, own = Lane{} + 1.0, leads{}, leads_others{};
        load_some(score + i, above - i, kFarAbove, high);
        if (kWeighted) load_some(weight + i, above - i, 0.0, own);
        const Lane start = 1.0 - high;
        // Two sums: one after the other they would wait for each other.
        const auto count = [&](index_t j, Lane& sum) CUTPLANE_INLINED {
          const Lane z = start + score[j], each = Lane{} + (kWeighted ? weight[j] : 1.0);
          const Mask counts = z >= 0.0;
          sum += CUTPLANE_WHERE(counts, each);
        };
        index_t j = lowest;
        for (; j + 1 < rank; j += 2) count(j, leads), count(j + 1, leads_others);
        if (j < rank) count(j, leads);
        const Lane led = own * (leads + leads_others);
        counted += led;
        add_some(-led, above - i, coef + i);
      }
    }
    for (index_t p = lowest; p < highest; ++p)
      coef[p] *= sample.group_weight[g];  // counts till here
    total[0] += sample.group_weight[g] * sum_of(value);
    total[1] += sample.group_weight[g] * sum_of(counted);
  }
  return total;
}

template <bool kWeighted>
CUTPLANE_MULTIVERSION PairSums slopes_of(const PairSample& sample, index_t group, index_t group_end,
                                         const double* score, const double* direction) {
  const double* weight = sample.weight.data();
  PairSums total{};
  for (index_t g = group; g < group_end; ++g) {
    const index_t lowest = sample.leaf[sample.group[g]];
    Lane value{}, slope{};
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k) {
      const index_t rank = sample.leaf[k], above = sample.leaf[k + 1];
      for (index_t j = lowest; j < rank; j += kLanes) {
        Lane low, along, each = Lane{} + 1.0, lost{}, rises{};
        load_some(score + j, rank - j, kFarBelow, low);
        load_some(direction + j, rank - j, 0.0, along);
        if (kWeighted) load_some(weight + j, rank - j, 0.0, each);
        for (index_t i = rank; i < above; ++i) {
          const Lane z = (1.0 - score[i]) + low, rise = along - direction[i];
          const Lane own = Lane{} + (kWeighted ? weight[i] : 1.0);
          // On its kink, a pair counts if it moves beyond.
          const Mask beyond = z > 0.0, counts = beyond | ((z == 0.0) & (rise > 0.0));
          lost += own * CUTPLANE_WHERE(beyond, z);
          rises += own * CUTPLANE_WHERE(counts, rise);
        }
        value += each * lost;
        slope += each * rises;
      }
    }
    total[0] += sample.group_weight[g] * sum_of(value);
    total[1] += sample.group_weight[g] * sum_of(slope);
  }
  return total;
}

// sums(begin, end) of parts of the groups, added up in their order.
template <class Sums>
PairSums over_groups(const PairSample& sample, int n_threads, const Sums& sums) {
  const Blocks blocks = make_blocks(static_cast<index_t>(sample.group.size()) - 1, 64, 64);
  std::vector<PairSums> partial(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, 8 * sample.places()),
             [&](index_t b, index_t begin, index_t end) { partial[b] = sums(begin, end); });
  PairSums total{};
  for (const PairSums& each : partial) add(total, each);
  return total;
}

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

PairCut pair_smoothed(const PairSample& sample, const SortedScores& sorted, double h, double reach,
                      double* coef, int n_threads) {
  std::vector<double> by_place(sample.example.size());
  const SmoothedVisitor visitor(sample, by_place.data(), h, reach);
  const PairSums sums = sweep(sample, sorted, visitor, n_threads);
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

void pair_curvature(const PairSample& sample, const SortedScores& sorted, double h,
                    const double* directions, index_t columns, double* coef, int n_threads) {
  const std::vector<double> rows = gather(sample, directions, columns, n_threads);
  std::vector<double> by_place(rows.size());
  sweep(sample, sorted, CurvatureVisitor(sample, rows.data(), columns, by_place.data(), h),
        n_threads);
  scatter(sample, by_place, columns, coef, n_threads);
}

bool has_few_pairs(const PairSample& sample) {
  index_t pairs = 0;
  for (std::size_t g = 0; g + 1 < sample.group.size(); ++g) {
    const index_t lowest = sample.leaf[sample.group[g]];
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k)
      pairs += (sample.leaf[k] - lowest) * (sample.leaf[k + 1] - sample.leaf[k]);
  }
  return pairs <= kPairsPerExample * sample.places();
}

PairCut few_pairs_cut(const PairSample& sample, const std::vector<double>& scores, double* coef,
                      int n_threads) {
  std::vector<double> by_place(scores.size());
  const PairSums sums = over_groups(sample, n_threads, [&](index_t begin, index_t end) {
    return sample.weight.empty() ? cut_of<false>(sample, begin, end, scores.data(), by_place.data())
                                 : cut_of<true>(sample, begin, end, scores.data(), by_place.data());
  });
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

PairSlope few_pairs_slope(const PairSample& sample, const std::vector<double>& scores,
                          const std::vector<double>& direction, int n_threads) {
  const PairSums sums = over_groups(sample, n_threads, [&](index_t begin, index_t end) {
    return sample.weight.empty()
               ? slopes_of<false>(sample, begin, end, scores.data(), direction.data())
               : slopes_of<true>(sample, begin, end, scores.data(), direction.data());
  });
  return {sums[0], sums[1], true};
}

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
