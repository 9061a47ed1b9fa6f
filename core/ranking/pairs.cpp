#include "core/ranking/pairs.hpp"

#include <cmath>
#include <limits>

#include "core/ranking/pair_tree.hpp"

namespace cutplane {
namespace {

constexpr index_t kLeafInParallel = 1 << 15;

// z_ij as every comparison computes it: monotone in both scores even after rounding, so sweeps over
// either half agree on every pair.
double violation(double higher, double lower) { return (1.0 - higher) + lower; }

// The first k in [from, size) for which holds(k), which is false and then true.
template <class Holds>
index_t first_that(index_t from, index_t size, Holds holds) {
  index_t count = size - from;
  while (count > 0) {
    const index_t half = count / 2;
    if (holds(from + half)) {
      count = half;
    } else {
      from += half + 1;
      count -= half + 1;
    }
  }
  return from;
}

struct ByScore {
  bool less(double a, place_t, double b, place_t) const { return a < b; }
};

// Every pair at or beyond its kink counts whole. Sums: value, offset.
template <bool kWeighted>
struct CutVisitor : ByScore {
  const double* weight;
  double* coef;  // by place

  double own(place_t p) const { return kWeighted ? weight[p] : 1.0; }

  PairSums higher(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    const auto counts = [&](index_t i, index_t j) {
      return violation(high.score[i], low.score[j]) >= 0.0;
    };
    index_t from = first_that(0, low.size, [&](index_t j) { return counts(begin, j); });
    const double all = low.mass<kWeighted>(low.size);
    double value = 0, offset = 0;
    for (index_t i = begin; i < end; ++i) {
      while (from < low.size && !counts(i, from)) ++from;
      const double led = own(high.place[i]) * (all - low.mass<kWeighted>(from));
      value += led * (1.0 - high.score[i]);
      offset += led;
      coef[high.place[i]] -= node.weight * led;
    }
    return {node.weight * value, node.weight * offset, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    const auto counts = [&](index_t i, index_t j) {
      return violation(high.score[i], low.score[j]) >= 0.0;
    };
    index_t to = first_that(0, high.size, [&](index_t i) { return !counts(i, begin); });
    double value = 0;
    for (index_t j = begin; j < end; ++j) {
      while (to < high.size && counts(to, j)) ++to;
      const double trails = own(low.place[j]) * high.mass<kWeighted>(to);
      value += trails * low.score[j];
      coef[low.place[j]] += node.weight * trails;
    }
    return {node.weight * value, 0.0, 0.0};
  }
};

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
template <bool kWeighted, class Sum>
struct Window {
  const OrderedSpan& span;
  const double* weight;  // by place
  index_t from, to;
  Sum sum;

  Window(const OrderedSpan& order, const double* weights, index_t begin, index_t end, Sum empty)
      : span(order), weight(weights), from(begin), to(end), sum(std::move(empty)) {
    for (index_t k = from; k < to; ++k) sum.add(k, own(k));
  }
  double own(index_t k) const { return kWeighted ? weight[span.place[k]] : 1.0; }
  void extend() {
    sum.add(to, own(to));
    ++to;
  }
  void drop() {
    sum.add(from, -own(from));
    if (++from == to) sum.clear();  // what rounding left
  }
  double mass() const { return span.mass<kWeighted>(to) - span.mass<kWeighted>(from); }
};

// Where a sweep over the higher half meets the lower one: the pairs on the kink are a window there,
// those after it are beyond; and the other way round.
template <bool kWeighted>
struct KinkWindows {
  const double* weight;
  double half;  // of the kink's width

  bool beyond(double z) const { return z >= half; }
  bool reached(double z) const { return z > -half; }

  template <class MakeSum, class Body>
  void over_higher(const RankNode& node, index_t begin, index_t end, MakeSum make_sum,
                   Body body) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return;
    const auto z = [&](index_t i, index_t j) { return violation(high.score[i], low.score[j]); };
    Window<kWeighted, decltype(make_sum(&low))> window(
        low, weight, first_that(0, low.size, [&](index_t j) { return reached(z(begin, j)); }),
        first_that(0, low.size, [&](index_t j) { return beyond(z(begin, j)); }), make_sum(&low));
    for (index_t i = begin; i < end; ++i) {
      while (window.to < low.size && !beyond(z(i, window.to))) window.extend();
      while (window.from < window.to && !reached(z(i, window.from))) window.drop();
      body(i, window, low.mass<kWeighted>(low.size) - low.mass<kWeighted>(window.to));
    }
  }

  template <class MakeSum, class Body>
  void over_lower(const RankNode& node, index_t begin, index_t end, MakeSum make_sum,
                  Body body) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return;
    const auto z = [&](index_t i, index_t j) { return violation(high.score[i], low.score[j]); };
    Window<kWeighted, decltype(make_sum(&high))> window(
        high, weight, first_that(0, high.size, [&](index_t i) { return !beyond(z(i, begin)); }),
        first_that(0, high.size, [&](index_t i) { return !reached(z(i, begin)); }),
        make_sum(&high));
    for (index_t j = begin; j < end; ++j) {
      while (window.to < high.size && reached(z(window.to, j))) window.extend();
      while (window.from < window.to && beyond(z(window.from, j))) window.drop();
      body(j, window, high.mass<kWeighted>(window.from));
    }
  }
};

// Pairs on the kink weighted by where they are on it. Sums: value, offset.
template <bool kWeighted>
struct SmoothedVisitor : ByScore {
  const double* weight;
  double* coef;
  double per_h, half;

  double own(place_t p) const { return kWeighted ? weight[p] : 1.0; }
  KinkWindows<kWeighted> windows() const { return {weight, half}; }
  static ScoreSum score_sum(const OrderedSpan* order) { return {order}; }

  PairSums higher(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    double value = 0, offset = 0;
    index_t kink = -1;
    windows().over_higher(
        node, begin, end, score_sum, [&](index_t i, const auto& window, double whole) {
          const double s = high.score[i], c = own(high.place[i]);
          const double on = window.mass();
          const double led =
              c * (whole + on * ((1.0 - s) * per_h + 0.5) + window.sum.total * per_h);
          if (kink < 0) kink = window.from;
          while (kink < low.size && violation(s, low.score[kink]) < 0.0) ++kink;
          const double all = low.mass<kWeighted>(low.size);
          value += c * (all - low.mass<kWeighted>(kink)) * (1.0 - s);
          offset += led;
          coef[high.place[i]] -= node.weight * led;
        });
    return {node.weight * value, node.weight * offset, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    double value = 0;
    index_t kink = -1;
    windows().over_lower(
        node, begin, end, score_sum, [&](index_t j, const auto& window, double whole) {
          const double s = low.score[j], c = own(low.place[j]);
          const double on = window.mass();
          const double trails =
              c * (whole + on * ((1.0 + s) * per_h + 0.5) - window.sum.total * per_h);
          if (kink < 0) kink = window.from;
          while (kink < high.size && violation(high.score[kink], s) >= 0.0) ++kink;
          value += c * high.mass<kWeighted>(kink) * s;
          coef[low.place[j]] += node.weight * trails;
        });
    return {node.weight * value, 0.0, 0.0};
  }
};

// The Laplacian of the pairs on the kink, times a matrix with one row per place.
template <bool kWeighted>
struct CurvatureVisitor : ByScore {
  const double* weight;
  const double* rows;
  index_t columns;
  double* coef;
  double half;

  KinkWindows<kWeighted> windows() const { return {weight, half}; }
  auto row_sum() const {
    return [this](const OrderedSpan* order) { return RowSum(order, rows, columns); };
  }
  // Every example stands against the sum of those it meets on the kink.
  auto against(const RankNode& node, const OrderedSpan& own) const {
    return [this, &node, &own](index_t k, const auto& window, double) {
      const place_t p = own.place[k];
      const double factor = node.weight * (kWeighted ? weight[p] : 1.0), mass = window.mass();
      const double* row = rows + p * columns;
      double* out = coef + p * columns;
      for (index_t c = 0; c < columns; ++c)
        out[c] += factor * (mass * row[c] - window.sum.total[c]);
    };
  }
  PairSums higher(const RankNode& node, index_t begin, index_t end) const {
    windows().over_higher(node, begin, end, row_sum(), against(node, node.higher));
    return {};
  }
  PairSums lower(const RankNode& node, index_t begin, index_t end) const {
    windows().over_lower(node, begin, end, row_sum(), against(node, node.lower));
    return {};
  }
};

// Value and right derivative along a direction. A pair exactly on its kink counts for the
// derivative if it moves beyond: scores are ordered, and pairs compared, as if a little further on.
template <bool kWeighted>
struct RayVisitor {
  const double* weight;
  const double* direction;  // by place

  double own(place_t p) const { return kWeighted ? weight[p] : 1.0; }
  bool less(double a, place_t pa, double b, place_t pb) const {
    return a < b || (a == b && direction[pa] < direction[pb]);
  }
  bool counts(const RankNode& node, index_t i, index_t j) const {
    const double z = violation(node.higher.score[i], node.lower.score[j]);
    if (z != 0.0) return z > 0.0;
    return direction[node.lower.place[j]] > direction[node.higher.place[i]];
  }

  PairSums higher(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    index_t from = first_that(0, low.size, [&](index_t j) { return counts(node, begin, j); });
    const double all = low.mass<kWeighted>(low.size);
    double value = 0, slope = 0;
    for (index_t i = begin; i < end; ++i) {
      while (from < low.size && !counts(node, i, from)) ++from;
      const double led = own(high.place[i]) * (all - low.mass<kWeighted>(from));
      value += led * (1.0 - high.score[i]);
      slope -= led * direction[high.place[i]];
    }
    return {node.weight * value, node.weight * slope, 0.0};
  }

  PairSums lower(const RankNode& node, index_t begin, index_t end) const {
    const OrderedSpan &low = node.lower, &high = node.higher;
    if (begin == end) return {};
    index_t to = first_that(0, high.size, [&](index_t i) { return !counts(node, i, begin); });
    double value = 0, slope = 0;
    for (index_t j = begin; j < end; ++j) {
      while (to < high.size && counts(node, to, j)) ++to;
      const double trails = own(low.place[j]) * high.mass<kWeighted>(to);
      value += trails * low.score[j];
      slope += trails * direction[low.place[j]];
    }
    return {node.weight * value, node.weight * slope, 0.0};
  }
};

Blocks place_blocks(index_t n) { return make_blocks(n, 1 << 14, 64); }

// Rows of examples by place.
std::vector<double> gather(const PairSample& sample, const double* values, index_t columns,
                           int n_threads) {
  std::vector<double> by_place(sample.example.size() * columns);
  for_blocks(
      place_blocks(sample.places()), useful_threads(n_threads, 4 * columns * sample.places()),
      [&](index_t, index_t begin, index_t end) {
        for (index_t p = begin; p < end; ++p)
          std::copy_n(values + sample.example[p] * columns, columns, by_place.data() + p * columns);
      });
  return by_place;
}

// Back to the order of the examples; those without a partner get 0.
void scatter(const PairSample& sample, const std::vector<double>& by_place, index_t columns,
             double* values, int n_threads) {
  if (sample.places() < sample.n) std::fill(values, values + sample.n * columns, 0.0);
  for_blocks(
      place_blocks(sample.places()), useful_threads(n_threads, 4 * columns * sample.places()),
      [&](index_t, index_t begin, index_t end) {
        for (index_t p = begin; p < end; ++p)
          std::copy_n(by_place.data() + p * columns, columns, values + sample.example[p] * columns);
      });
}

bool all_finite(const std::vector<double>& values) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  index_t wrong = 0;
#pragma omp simd reduction(+ : wrong)
  for (std::size_t k = 0; k < values.size(); ++k) wrong += !(std::abs(values[k]) <= kLargest);
  return wrong == 0;
}

// Leaves large enough are sorted by all threads, one after the other; the others one per thread.
void sort_leaves(const PairSample& sample, const TiedScores& scores, SortedScores& sorted,
                 int n_threads) {
  const index_t n = sample.places(), leaves = static_cast<index_t>(sample.leaf.size()) - 1;
  sorted.key.resize(n);
  sorted.place.resize(n);
  std::vector<std::uint64_t> spare(2 * n);
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

// Sweeps with the visitor that fits the sample.
template <template <bool> class Visitor, class Make>
PairSums sweep(const PairSample& sample, const SortedScores& sorted, int n_threads, Make&& make) {
  const auto run = [&](auto visitor) { return PairTree(sample, visitor, n_threads).sweep(sorted); };
  if (sample.weight.empty()) return run(make(Visitor<false>{}));
  Visitor<true> visitor{};
  visitor.weight = sample.weight.data();
  return run(make(visitor));
}

}  // namespace

bool sort_pairs(const PairSample& sample, const double* s, SortedScores& sorted, int n_threads) {
  const std::vector<double> scores = gather(sample, s, 1, n_threads);
  if (!all_finite(scores)) return false;
  sort_leaves(sample, {scores.data(), nullptr}, sorted, n_threads);
  return true;
}

PairCut pair_cut(const PairSample& sample, const SortedScores& sorted, double* coef,
                 int n_threads) {
  std::vector<double> by_place(sample.example.size());
  const PairSums sums = sweep<CutVisitor>(sample, sorted, n_threads, [&](auto visitor) {
    visitor.coef = by_place.data();
    return visitor;
  });
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

PairCut pair_smoothed(const PairSample& sample, const SortedScores& sorted, double h, double reach,
                      double* coef, int n_threads) {
  std::vector<double> by_place(sample.example.size());
  const PairSums sums = sweep<SmoothedVisitor>(sample, sorted, n_threads, [&](auto visitor) {
    visitor.coef = by_place.data();
    visitor.per_h = 1.0 / h;
    visitor.half = 0.5 * reach;
    return visitor;
  });
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

void pair_curvature(const PairSample& sample, const SortedScores& sorted, double h,
                    const double* directions, index_t columns, double* coef, int n_threads) {
  const std::vector<double> rows = gather(sample, directions, columns, n_threads);
  std::vector<double> by_place(rows.size());
  sweep<CurvatureVisitor>(sample, sorted, n_threads, [&](auto visitor) {
    visitor.coef = by_place.data();
    visitor.rows = rows.data();
    visitor.columns = columns;
    visitor.half = 0.5 * h;
    return visitor;
  });
  scatter(sample, by_place, columns, coef, n_threads);
}

PairSlope pair_ray(const PairSample& sample, const double* s, const double* end, double t,
                   int n_threads) {
  std::vector<double> scores(sample.example.size()), direction(sample.example.size());
  for_blocks(place_blocks(sample.places()), useful_threads(n_threads, 4 * sample.places()),
             [&](index_t, index_t begin, index_t stop) {
               for (index_t p = begin; p < stop; ++p) {
                 const place_t i = sample.example[p];
                 direction[p] = end[i] - s[i];
                 scores[p] = s[i] + t * direction[p];
               }
             });
  if (!all_finite(scores)) return {0.0, 0.0, false};
  SortedScores sorted;
  sort_leaves(sample, {scores.data(), direction.data()}, sorted, n_threads);
  const PairSums sums = sweep<RayVisitor>(sample, sorted, n_threads, [&](auto visitor) {
    visitor.direction = direction.data();
    return visitor;
  });
  return {sums[0], sums[1], true};
}

}  // namespace cutplane
