#include "core/matrix/block_sums.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace cutplane {
namespace {

// So many numbers of partial sums are in memory before any are added up.
constexpr index_t kSumsTogether = 1 << 20;

}  // namespace

index_t count_nonzero(const double* values, index_t size, int n_threads) {
  const Blocks blocks = make_blocks(size, 1 << 16, kMostBlocks);
  std::vector<index_t> counts(blocks.count, 0);
  for_blocks(blocks, useful_threads(n_threads, size), [&](index_t b, index_t begin, index_t end) {
    index_t there = 0;
    for (index_t j = begin; j < end; ++j) there += values[j] != 0.0;
    counts[b] = there;
  });
  return std::accumulate(counts.begin(), counts.end(), index_t{0});
}

void PartialSums::add_to(double* out, index_t count, int n_threads) {
  const int threads = useful_threads(n_threads, count * size_);
  for_blocks(make_blocks(size_, 4096, kMostBlocks), threads, [&](index_t, index_t lo, index_t hi) {
    for (index_t b = 0; b < count; ++b) {
      const double* part = of(b);
      for (index_t j = lo; j < hi; ++j) out[j] += part[j];
    }
  });
}

void add_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, SumBody body) {
  add_blocks(sum_blocks_of(n, work, size), work, size, out, n_threads, body);
}

void add_blocks(const Blocks& blocks, index_t work, index_t size, double* out, int n_threads,
                SumBody body) {
  if (blocks.count == 1) {
    body(0, blocks.size, out);
    return;
  }
  // Long sums in rounds of two blocks a thread: no more are in memory, and they are added in block
  // order all the same.
  const int threads = useful_threads(n_threads, work);
  const index_t together = blocks.count * size <= kSumsTogether
                               ? blocks.count
                               : std::min<index_t>(2 * threads, blocks.count);
  PartialSums partial(together, size);
  for (index_t first = 0; first < blocks.count; first += together) {
    const index_t count = std::min(together, blocks.count - first);
    for_blocks(Blocks{count, count}, threads, [&](index_t k, index_t, index_t) {
      body(blocks.begin(first + k), blocks.end(first + k), partial.cleared(k));
    });
    partial.add_to(out, count, n_threads);
  }
}

void sum_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, SumBody body) {
  std::fill(out, out + size, 0.0);
  add_blocks(n, work, size, out, n_threads, body);
}

}  // namespace cutplane
