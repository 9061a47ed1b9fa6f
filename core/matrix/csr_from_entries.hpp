// A CSR matrix from entries in another order: by columns (CSC) or in any (COO). Within rows they
// stay in the order given.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

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

}  // namespace cutplane
