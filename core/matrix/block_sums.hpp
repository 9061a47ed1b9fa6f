// Sums over the rows of a matrix by blocks, which are added in their order.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// A block of rows is large enough to make a thread's wake-up negligible.
inline constexpr index_t kEntriesPerBlock = (1 << 13) / kFineness;
inline constexpr index_t kMostBlocks = 64;

// A block's partial sum is cleared and added once. That is little next to this much work for each
// of its numbers. More blocks are shorter sums, and what rounding is charged for is in proportion
// to their length: of wide sparse data, a fifth of what it is with four times as much work.
inline constexpr index_t kWorkPerSum = 2;

// So many numbers of partial sums are in memory before any are added up.
inline constexpr index_t kSumsTogether = 1 << 20;

inline index_t count_nonzero(const double* values, index_t size, int n_threads) {
  const Blocks blocks = make_blocks(size, 1 << 16, kMostBlocks);
  std::vector<index_t> counts(blocks.count, 0);
  for_blocks(blocks, useful_threads(n_threads, size), [&](index_t b, index_t begin, index_t end) {
    index_t there = 0;
    for (index_t j = begin; j < end; ++j) there += values[j] != 0.0;
    counts[b] = there;
  });
  return std::accumulate(counts.begin(), counts.end(), index_t{0});
}

// Adds per-block sums in block order; columns in parallel.
inline void add_partial_sums(const double* partial, index_t count, index_t size, double* out,
                             int n_threads) {
  const int threads = useful_threads(n_threads, count * size);
  for_blocks(make_blocks(size, 4096, kMostBlocks), threads, [&](index_t, index_t lo, index_t hi) {
    for (index_t b = 0; b < count; ++b) {
      const double* part = partial + b * size;
      for (index_t j = lo; j < hi; ++j) out[j] += part[j];
    }
  });
}

// As many blocks as the work pays for: each costs `size` doubles to clear and add.
inline Blocks sum_blocks_of(index_t n, index_t work, index_t size) {
  const index_t most = std::min<index_t>(kMostBlocks, std::min(n, work / kEntriesPerBlock));
  return Blocks{n, std::clamp<index_t>(work / std::max<index_t>(kWorkPerSum * size, 1), 1,
                                       std::max<index_t>(most, 1))};
}

// out += the sum over blocks of what body(begin, end, sum) adds to `sum`.
template <class Body>
void add_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, Body&& body) {
  const Blocks blocks = sum_blocks_of(n, work, size);
  if (blocks.count == 1) {
    body(0, n, out);
    return;
  }
  // Long sums in rounds of two blocks a thread: no more are in memory, and they are added in block
  // order all the same.
  const int threads = useful_threads(n_threads, work);
  const index_t together = blocks.count * size <= kSumsTogether
                               ? blocks.count
                               : std::min<index_t>(2 * threads, blocks.count);
  const auto partial = std::make_unique_for_overwrite<double[]>(together * size);
  for (index_t first = 0; first < blocks.count; first += together) {
    const index_t count = std::min(together, blocks.count - first);
    for_blocks(Blocks{count, count}, threads, [&](index_t k, index_t, index_t) {
      double* sum = partial.get() + k * size;
      std::fill_n(sum, size, 0.0);
      body(blocks.begin(first + k), blocks.end(first + k), sum);
    });
    add_partial_sums(partial.get(), count, size, out, n_threads);
  }
}

// out = the same sum.
template <class Body>
void sum_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, Body&& body) {
  std::fill(out, out + size, 0.0);
  add_blocks(n, work, size, out, n_threads, body);
}

}  // namespace cutplane
