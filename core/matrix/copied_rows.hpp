// Some rows of a matrix copied together: scattered, they are read at a fraction of the speed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/parallel.hpp"

namespace cutplane {

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
