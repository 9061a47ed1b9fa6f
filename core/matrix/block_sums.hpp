// Sums over the rows of a matrix by blocks, which are added in their order.
#pragma once

#include <algorithm>
#include <memory>

#include "core/base/parallel.hpp"

namespace cutplane {

// A block of rows is large enough to make a thread's wake-up negligible.
inline constexpr index_t kEntriesPerBlock = (1 << 13) / kFineness;
inline constexpr index_t kMostBlocks = 64;

// A block's partial sum is cleared and added once. That is little next to this much work for each
// of its numbers. More blocks are shorter sums, and what rounding is charged for is in proportion
// to their length: of wide sparse data, a fifth of what it is with four times as much work.
inline constexpr index_t kWorkPerSum = 2;

index_t count_nonzero(const double* values, index_t size, int n_threads);

// Sums of so many numbers, one for every block that is in work. No two of them share a line of the
// cache, nor a pair of lines that are fetched together: threads that add to neighbours would take
// it from each other with every row.
class PartialSums {
 public:
  PartialSums(index_t count, index_t size)
      : size_(size), sums_(std::make_unique_for_overwrite<double[]>(count * (size + kApart))) {}

  // That of a block, all zero.
  double* cleared(index_t block) {
    double* sum = of(block);
    std::fill_n(sum, size_, 0.0);
    return sum;
  }
  double* of(index_t block) { return sums_.get() + block * (size_ + kApart); }

  // Adds the first `count` of them in their order; columns in parallel.
  void add_to(double* out, index_t count, int n_threads);

 private:
  static constexpr index_t kApart = 128 / sizeof(double);

  index_t size_;
  std::unique_ptr<double[]> sums_;
};

// As many blocks as the work pays for: each costs `size` doubles to clear and add.
inline Blocks sum_blocks_of(index_t n, index_t work, index_t size) {
  const index_t most = std::min<index_t>(kMostBlocks, std::min(n, work / kEntriesPerBlock));
  return Blocks{n, std::clamp<index_t>(work / std::max<index_t>(kWorkPerSum * size, 1), 1,
                                       std::max<index_t>(most, 1))};
}

// out += the sum over blocks of what body(begin, end, sum) adds to `sum`.
using SumBody = FunctionView<void(index_t begin, index_t end, double* sum)>;
void add_blocks(const Blocks& blocks, index_t work, index_t size, double* out, int n_threads,
                SumBody body);
void add_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, SumBody body);

// out = the same sum.
void sum_blocks(index_t n, index_t work, index_t size, double* out, int n_threads, SumBody body);

}  // namespace cutplane
