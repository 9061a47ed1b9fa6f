// Pairs whose kinks are rounded: windows of the order, for the plane and for the curvature.
#include "core/ranking/pair_tree.hpp"
#include "core/ranking/pairs.hpp"

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

}  // namespace cutplane
