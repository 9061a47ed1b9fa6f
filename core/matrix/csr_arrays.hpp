// Whether a CSR matrix has its columns in order, and each once in a row: found without sorting.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// A CSR matrix from entries in another order: by columns (CSC) or in any (COO). Within rows they
// stay in the order given.

// The columns of entries: one for each.
template <class I>
struct GivenColumns {
  const I* columns;

  template <class Body>
  void each(index_t begin, index_t end, Body&& body) const {
    for (index_t k = begin; k < end; ++k) body(k, columns[k]);
  }
};

// The columns of entries that are stored by columns.
template <class I>
struct CscColumns {
  const I* indptr;
  index_t n_cols;

  template <class Body>
  void each(index_t begin, index_t end, Body&& body) const {
    index_t column =
        std::upper_bound(indptr, indptr + n_cols + 1, static_cast<I>(begin)) - indptr - 1;
    for (index_t k = begin; k < end; ++k) {
      while (k >= indptr[column + 1]) ++column;
      body(k, static_cast<I>(column));
    }
  }
};

// Requires: rows within 0 to n_rows - 1. A counting sort: every thread counts the rows of its share
// of the entries, and so knows where to put them.
template <class T, class I, class Columns>
void csr_from_entries(const T* values, const I* rows, const Columns& columns, index_t stored,
                      index_t n_rows, T* values_out, I* indices_out, I* indptr_out, int n_threads) {
  const index_t shares = std::max(1, useful_threads(n_threads, stored));
  const Blocks blocks{stored, shares};
  std::vector<I> place(n_rows * shares, 0);  // of the next entry of a row and a share
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    for (index_t k = begin; k < end; ++k) ++place[rows[k] * shares + b];
  });
  I next = 0;
  for (index_t i = 0; i < n_rows; ++i) {
    indptr_out[i] = next;
    for (index_t b = 0; b < shares; ++b) {
      const I count = place[i * shares + b];
      place[i * shares + b] = next;
      next += count;
    }
  }
  indptr_out[n_rows] = next;
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    columns.each(begin, end, [&](index_t k, I column) {
      const I at = place[rows[k] * shares + b]++;
      values_out[at] = values[k];
      indices_out[at] = column;
    });
  });
}

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

// Some rows of a matrix copied together: scattered, they are read at a fraction of the speed.

// Rows copied by a thread at a time.
inline constexpr index_t kCopiedTogether = 1024;

// So many rows before its turn, a sparse one is asked for.
inline constexpr index_t kCopiedAhead = 16;

template <class I>
void copied_indptr(const I* indptr, std::span<const std::int64_t> rows, I* out) {
  out[0] = 0;
  for (std::size_t k = 0; k < rows.size(); ++k)
    out[k + 1] = out[k] + (indptr[rows[k] + 1] - indptr[rows[k]]);
}

// copied: what copied_indptr gives.
template <class T, class I>
void copy_csr_rows(const T* values, const I* indices, const I* indptr,
                   std::span<const std::int64_t> rows, const I* copied, T* values_out,
                   I* indices_out, int n_threads) {
  const index_t n = std::ssize(rows);
  for_blocks(make_blocks(n, kCopiedTogether, std::max<index_t>(n, 1)),
             useful_threads(n_threads, copied[n]), [&](index_t, index_t begin, index_t end) {
               for (index_t k = begin; k < end; ++k) {
                 const index_t later = indptr[rows[std::min(k + kCopiedAhead, end - 1)]];
                 __builtin_prefetch(values + later);
                 __builtin_prefetch(indices + later);
                 const index_t from = indptr[rows[k]], size = copied[k + 1] - copied[k];
                 std::copy_n(values + from, size, values_out + copied[k]);
                 std::copy_n(indices + from, size, indices_out + copied[k]);
               }
             });
}

template <class T>
void copy_dense_rows(const T* values, index_t stride, index_t d, std::span<const std::int64_t> rows,
                     T* out, int n_threads) {
  const index_t n = std::ssize(rows);
  for_blocks(make_blocks(n, kCopiedTogether, std::max<index_t>(n, 1)),
             useful_threads(n_threads, n * d), [&](index_t, index_t begin, index_t end) {
               for (index_t k = begin; k < end; ++k)
                 std::copy_n(values + rows[k] * stride, d, out + k * d);
             });
}

}  // namespace cutplane
