#include "core/smo/product.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {
namespace {

// Kernel values one thread holds at a time.
constexpr index_t kValuesAtOnce = index_t{1} << 19;
constexpr index_t kMostRows = 96, kLeastRows = 12;

CUTPLANE_MULTIVERSION double dot(const float* a, const double* b, index_t n) {
  constexpr int kLanes = 16;
  double sums[kLanes] = {};
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) sums[l] += static_cast<double>(a[t + l]) * b[t + l];
  for (; t < n; ++t) sums[0] += static_cast<double>(a[t]) * b[t];
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace

void kernel_product(const Examples& left, const Examples& right, const double* coef, index_t k,
                    double* out, int n_threads) {
  const index_t n = right.size(), width = padded(n);
  std::vector<double> by_output(n * k);
  for (index_t j = 0; j < n; ++j)
    for (index_t c = 0; c < k; ++c) by_output[c * n + j] = coef[j * k + c];
  const index_t at_once =
      std::clamp<index_t>(kValuesAtOnce / std::max<index_t>(width, 1), kLeastRows, kMostRows);
  const Blocks blocks{left.size(), std::max<index_t>(1, (left.size() + at_once - 1) / at_once)};
  const index_t work = left.size() * n * (right.work_per_value() / 16 + k);
  for_blocks(blocks, useful_threads(n_threads, work), [&](index_t, index_t begin, index_t end) {
    std::vector<float> values((end - begin) * width);
    std::vector<float*> rows;
    std::vector<std::int64_t> which;
    for (index_t r = begin; r < end; ++r) {
      which.push_back(r);
      rows.push_back(values.data() + (r - begin) * width);
    }
    right.block(left, which, rows.data(), 1);
    for (index_t r = begin; r < end; ++r)
      for (index_t c = 0; c < k; ++c)
        out[r * k + c] = dot(rows[r - begin], by_output.data() + c * n, n);
  });
}

}  // namespace cutplane::smo
