// Whether a CSR matrix has its columns in order, and each once in a row: found without sorting.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

enum class CsrOrder { sorted, unsorted, repeated };

// Up to this many columns, a row marks those that it has; above, its own are sorted in a copy.
inline constexpr index_t kMostMarks = index_t{1} << 21;
// Rows that are looked through together, and how many such blocks there are at most.
inline constexpr index_t kLookedThrough = 1024, kMostLooks = 8;

// Looks for a column that comes twice in a row.
template <class I>
class Repeats {
 public:
  Repeats(index_t n_cols, index_t longest)
      : marks_(n_cols <= kMostMarks ? n_cols : 0, -1), copy_(marks_.empty() ? longest : 0) {}

  bool in(const I* begin, const I* end, index_t row) {
    if (marks_.empty()) {
      const auto last = std::copy(begin, end, copy_.begin());
      std::sort(copy_.begin(), last);
      return std::adjacent_find(copy_.begin(), last) != last;
    }
    const auto mark = static_cast<std::int32_t>(row);
    for (const I* k = begin; k < end; ++k) {
      std::int32_t& seen = marks_[static_cast<std::size_t>(*k)];
      if (seen == mark) return true;
      seen = mark;
    }
    return false;
  }

 private:
  std::vector<std::int32_t> marks_;  // the row, within its block, that each column was last seen in
  std::vector<I> copy_;
};

// Requires: indices within the columns.
template <class I>
CsrOrder csr_order(const I* indices, const I* indptr, index_t n_rows, index_t n_cols,
                   int n_threads) {
  if (n_rows == 0) return CsrOrder::sorted;
  const auto rises = [&](index_t i) {
    const I *first = indices + indptr[i], *last = indices + indptr[i + 1];
    return std::adjacent_find(first, last, [](I a, I b) { return a >= b; }) == last;
  };
  const Blocks blocks = make_blocks(n_rows, kLookedThrough, kMostLooks);
  const int threads = useful_threads(n_threads, indptr[n_rows] - indptr[0]);
  std::atomic<index_t> longest = 0;  // of the rows that are not sorted
  for_blocks(blocks, threads, [&](index_t, index_t begin, index_t end) {
    index_t most = 0;
    for (index_t i = begin; i < end; ++i)
      if (!rises(i)) most = std::max<index_t>(most, indptr[i + 1] - indptr[i]);
    for (index_t now = longest; most > now && !longest.compare_exchange_weak(now, most);) {
    }
  });
  if (longest == 0) return CsrOrder::sorted;
  std::vector<Repeats<I>> repeats(blocks.count, Repeats<I>(n_cols, longest));
  std::atomic<bool> repeated = false;
  for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
    for (index_t i = begin; i < end && !repeated; ++i)
      if (!rises(i) && repeats[b].in(indices + indptr[i], indices + indptr[i + 1], i - begin))
        repeated = true;
  });
  return repeated ? CsrOrder::repeated : CsrOrder::unsorted;
}

}  // namespace cutplane
