#include "core/smo/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/multiversion.hpp"

namespace cutplane::smo {
namespace {

// Rows at a time: few enough that the clock is looked at often, a multiple of what add_block takes.
constexpr index_t kFewestRows = 32, kMostRows = 256, kValuesAtOnce = index_t{1} << 23;
constexpr index_t kTargetsPerBlock = 2048;
// A violation is the difference of the extremes of many f: so many times what each is off by.
constexpr double kExtremes = 4.0;
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// Kernel values exceed the largest K(x, x) by their own rounding at most.
constexpr double kSlack = 1.01;

// Stretches of columns shorter than this, on average, are looked up one by one.
constexpr std::size_t kLeastStretch = 64;

// Four rows at a time: the sums are read and written a quarter as often. at(row, t) is the value of
// a row for target t.
template <class At>
CUTPLANE_INLINE void add_rows(std::span<const float* const> rows, std::span<const double> coef,
                              index_t begin, index_t end, double* sums, const At& at) {
  std::size_t w = 0;
  for (; w + 4 <= rows.size(); w += 4) {
    const float *r0 = rows[w], *r1 = rows[w + 1], *r2 = rows[w + 2], *r3 = rows[w + 3];
    const double c0 = coef[w], c1 = coef[w + 1], c2 = coef[w + 2], c3 = coef[w + 3];
    for (index_t t = begin; t < end; ++t)
      sums[t] += (c0 * at(r0, t) + c1 * at(r1, t)) + (c2 * at(r2, t) + c3 * at(r3, t));
  }
  for (; w < rows.size(); ++w) {
    const float* row = rows[w];
    const double c = coef[w];
    for (index_t t = begin; t < end; ++t) sums[t] += c * at(row, t);
  }
}

CUTPLANE_MULTIVERSION void add_stretch(std::span<const float* const> rows,
                                       std::span<const double> coef, index_t shift, index_t begin,
                                       index_t end, double* sums) {
  add_rows(rows, coef, begin, end, sums,
           [shift](const float* row, index_t t) { return static_cast<double>(row[t + shift]); });
}

CUTPLANE_MULTIVERSION void add_scattered(std::span<const float* const> rows,
                                         std::span<const double> coef, const std::int64_t* columns,
                                         index_t begin, index_t end, double* sums) {
  add_rows(rows, coef, begin, end, sums,
           [columns](const float* row, index_t t) { return static_cast<double>(row[columns[t]]); });
}

// The targets from `begin` up to `end`.
void add_block(const RowView& view, std::span<const float* const> rows,
               std::span<const double> coef, index_t begin, index_t end, double* sums) {
  if (view.stretches().empty()) return add_scattered(rows, coef, view.columns(), begin, end, sums);
  for (const Stretch& stretch : view.stretches()) {
    const index_t from = std::max(begin, stretch.begin), to = std::min(end, stretch.end);
    if (from < to) add_stretch(rows, coef, stretch.shift, from, to, sums);
  }
}

double largest_size(const double* values, index_t n) {
  double largest = 0.0;
  for (index_t t = 0; t < n; ++t) largest = std::max(largest, std::abs(values[t]));
  return largest;
}

}  // namespace

RowView::RowView(RowCache& cache, const std::int64_t* rows, index_t n) : cache_(cache), n_(n) {
  if (rows != nullptr) rows_.assign(rows, rows + n);
  parts_ = rows != nullptr ? cache.parts_with(rows_) : cache.all_parts();
  if (rows == nullptr) stretches_.push_back({0, n, 0});
  for (index_t t = 0; t < static_cast<index_t>(rows_.size()); ++t) {
    const index_t shift = rows_[t] - t;
    if (stretches_.empty() || stretches_.back().shift != shift) stretches_.push_back({t, t, shift});
    stretches_.back().end = t + 1;
  }
  if (stretches_.size() > 1 && rows_.size() < kLeastStretch * stretches_.size()) stretches_.clear();
}

void add_products(Dual& dual, std::span<const float* const> rows, std::span<const double> change,
                  int n_threads) {
  if (rows.empty()) return;
  const index_t n = dual.rows.size();
  const Blocks blocks = make_blocks(n, kTargetsPerBlock, 1 << 20);
  const index_t work = static_cast<index_t>(rows.size()) * n / 4;
  std::vector<double> sizes(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, work),
             [&](index_t block, index_t begin, index_t end) {
               // Further variables of the same rows have the same sums.
               for (int c = 0; c < dual.copies; ++c) {
                 double* sums = dual.f.data() + c * n;
                 add_block(dual.rows, rows, change, begin, end, sums);
                 sizes[block] = std::max(sizes[block], largest_size(sums + begin, end - begin));
               }
             });
  double moved = 0.0;
  for (const double value : change) moved += std::abs(value);
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  // A sum of k terms in any order is off by at most k units of its terms' sizes and of what it was.
  dual.drift += static_cast<double>(rows.size() + 4) * kUnit *
                (largest + 2.0 * moved * kSlack * dual.largest_value);
}

Dual::Dual(RowView& view, int n_copies, std::span<const std::int8_t> labels,
           std::span<const double> linear, std::span<const double> limits,
           std::span<const double> start, bool by_label, int n_threads)
    : rows(view),
      copies(n_copies),
      grouped(by_label),
      y(labels.begin(), labels.end()),
      p(linear.begin(), linear.end()),
      upper(limits.begin(), limits.end()) {
  const auto n = static_cast<index_t>(y.size());
  b.assign(n, 0.0);
  low.resize(n);
  high.resize(n);
  f.resize(n);
  for (index_t t = 0; t < n; ++t) {
    if (!start.empty()) b[t] = y[t] * start[t];
    low[t] = y[t] > 0 ? 0.0 : -upper[t];
    high[t] = y[t] > 0 ? upper[t] : 0.0;
  }
  const std::vector<float>& all = view.cache().diagonal(n_threads);
  diagonal.resize(view.size());
  for (index_t r = 0; r < view.size(); ++r) diagonal[r] = all[view.global(r)];
  for (const double value : diagonal) largest_value = std::max(largest_value, std::abs(value));
  if (start.empty()) recompute(n_threads);
}

bool Dual::recompute(int n_threads, const Deadline* deadline) {
  const index_t n = rows.size();
  if (next_row_ == 0) {
    for (index_t t = 0; t < size(); ++t) f[t] = y[t] * p[t];
    drift = 0.0;
  }
  const auto at_once = static_cast<std::size_t>(
      std::clamp(kValuesAtOnce / n / kFewestRows * kFewestRows, kFewestRows, kMostRows));
  Lease lease;
  std::vector<std::int64_t> ids;
  std::vector<const float*> pointers;
  std::vector<double> coef;
  while (!ready()) {
    ids.clear();
    coef.clear();
    index_t r = next_row_;
    for (; r < n && ids.size() < at_once; ++r) {
      double sum = 0.0;
      for (int c = 0; c < copies; ++c) sum += b[r + c * n];
      if (sum == 0.0) continue;
      ids.push_back(rows.global(r));
      coef.push_back(sum);
    }
    rows.acquire(ids, lease, n_threads);
    pointers.clear();
    for (std::size_t w = 0; w < ids.size(); ++w) pointers.push_back(lease[w]);
    add_products(*this, pointers, coef, n_threads);
    next_row_ = r;
    if (deadline != nullptr && deadline->passed()) break;
  }
  return ready();
}

// The offset at which those strictly between their bounds lie on the margin, on average; LIBSVM's
// choice, midway in what is allowed, where there is none.
double Dual::threshold(int group) const {
  double sum = 0.0, least = std::numeric_limits<double>::infinity(), greatest = -least;
  index_t free = 0;
  for (index_t t = 0; t < size(); ++t) {
    if (grouped && (y[t] > 0) != (group == 0)) continue;
    if (b[t] >= high[t] && b[t] <= low[t]) continue;  // fixed
    if (b[t] >= high[t])
      greatest = std::max(greatest, f[t]);
    else if (b[t] <= low[t])
      least = std::min(least, f[t]);
    else {
      sum += f[t];
      ++free;
    }
  }
  if (free > 0) return sum / static_cast<double>(free);
  if (std::isinf(least) && std::isinf(greatest)) return 0.0;
  if (std::isinf(least)) return greatest;
  if (std::isinf(greatest)) return least;
  return 0.5 * (least + greatest);
}

// f_i is a sum of b_j K_ij, where |K_ij| <= sqrt(K_ii K_jj): rounding errors add up as their
// squares.
double Dual::rounding() const {
  constexpr double unit = std::numeric_limits<float>::epsilon() / 2;
  double squares = 0.0, largest = 0.0;
  for (index_t t = 0; t < size(); ++t) {
    const double own = std::abs(diagonal[row_of(t)]);
    squares += b[t] * b[t] * own;
    largest = std::max(largest, own);
  }
  return kExtremes * unit * std::sqrt(largest * squares);
}

Bounds Dual::bounds() const {
  Bounds result{};
  double violation = 0.0, quadratic = 0.0, linear = 0.0;
  for (int g = 0; g < groups(); ++g) {
    result.rho[g] = threshold(g);
    double up = std::numeric_limits<double>::infinity(), down = -up;
    for (index_t t = 0; t < size(); ++t) {
      if (grouped && (y[t] > 0) != (g == 0)) continue;
      if (b[t] < high[t]) up = std::min(up, f[t]);
      if (b[t] > low[t]) down = std::max(down, f[t]);
    }
    violation = std::max(violation, down - up);
  }
  if (!grouped) result.rho[1] = result.rho[0];
  double loss = 0.0, moved = 0.0, reach = 0.0, size = 0.0;
  for (index_t t = 0; t < this->size(); ++t) {
    const double rho = result.rho[y[t] > 0 ? 0 : 1];
    const double by_p = y[t] * p[t], product = b[t] * (f[t] - by_p);
    const double beyond = upper[t] * std::max(0.0, y[t] * (rho - f[t]));
    quadratic += product;
    linear += b[t] * by_p;
    loss += beyond - rho * b[t];
    moved += std::abs(b[t]);
    if (beyond > 0.0) reach += upper[t];
    size += std::abs(product) + std::abs(b[t] * by_p) + beyond + std::abs(rho * b[t]);
  }
  // What f is off by, and the rounding of these sums.
  const double off = drift * (moved + reach) + static_cast<double>(this->size() + 8) * kUnit * size;
  result.violation = violation;
  result.dual = -(0.5 * quadratic + linear) - off;
  result.primal = 0.5 * quadratic + loss + off;
  return result;
}

}  // namespace cutplane::smo
