#include "core/smo/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/multiversion.hpp"

namespace cutplane::smo {
namespace {

constexpr index_t kRowsAtOnce = 256;
constexpr index_t kTargetsPerBlock = 2048;

CUTPLANE_MULTIVERSION void add_block(const Lease& lease, std::span<const double> coef,
                                     const RowView& rows, index_t begin, index_t end, double* add) {
  for (std::size_t w = 0; w < coef.size(); ++w) {
    const float* row = lease[w];
    const double c = coef[w];
    if (rows.whole()) {
      for (index_t t = begin; t < end; ++t) add[t] += c * static_cast<double>(row[t]);
    } else {
      for (index_t t = begin; t < end; ++t) add[t] += c * static_cast<double>(row[rows.global(t)]);
    }
  }
}

}  // namespace

RowView::RowView(RowCache& cache, const std::int64_t* rows, index_t n) : cache_(cache), n_(n) {
  if (rows != nullptr) rows_.assign(rows, rows + n);
}

void add_rows(RowView& rows, std::span<const index_t> which, std::span<const double> coef,
              double* add, int n_threads) {
  Lease lease;
  std::vector<std::int64_t> ids;
  for (std::size_t first = 0; first < which.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kRowsAtOnce, which.size() - first);
    ids.clear();
    for (std::size_t w = first; w < first + count; ++w) ids.push_back(rows.global(which[w]));
    rows.cache().acquire(ids, lease, n_threads);
    const Blocks blocks = make_blocks(rows.size(), kTargetsPerBlock, 1 << 20);
    for_blocks(blocks, useful_threads(n_threads, static_cast<index_t>(count) * rows.size() / 4),
               [&](index_t, index_t begin, index_t end) {
                 add_block(lease, coef.subspan(first, count), rows, begin, end, add);
               });
  }
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
  const std::vector<float> all = view.cache().source().diagonal(n_threads);
  diagonal.resize(view.size());
  for (index_t r = 0; r < view.size(); ++r) diagonal[r] = all[view.global(r)];
  recompute(n_threads);
}

void Dual::recompute(int n_threads) {
  const index_t n = rows.size();
  std::vector<double> products(n, 0.0);
  std::vector<index_t> which;
  std::vector<double> coef;
  for (index_t r = 0; r < n; ++r) {
    double sum = 0.0;
    for (int c = 0; c < copies; ++c) sum += b[r + c * n];
    if (sum == 0.0) continue;
    which.push_back(r);
    coef.push_back(sum);
  }
  add_rows(rows, which, coef, products.data(), n_threads);
  for (index_t t = 0; t < size(); ++t) f[t] = products[row_of(t)] + y[t] * p[t];
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
  double loss = 0.0;
  for (index_t t = 0; t < size(); ++t) {
    const double rho = result.rho[y[t] > 0 ? 0 : 1];
    const double by_p = y[t] * p[t];
    quadratic += b[t] * (f[t] - by_p);
    linear += b[t] * by_p;
    loss += upper[t] * std::max(0.0, y[t] * (rho - f[t])) - rho * b[t];
  }
  result.violation = violation;
  result.dual = -(0.5 * quadratic + linear);
  result.primal = 0.5 * quadratic + loss;
  return result;
}

}  // namespace cutplane::smo
