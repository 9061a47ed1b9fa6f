// Labels that are whole numbers close to each other, told apart by a table: threaded sweeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

inline Blocks label_blocks(index_t n) { return make_blocks(n, 1 << 16, 1024); }

// Between what labels lie, and whether all are whole numbers. With NaN among them they are not.
struct LabelRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool whole = true;
};

template <class T>
LabelRange label_range(const T* y, index_t n, int n_threads) {
  const Blocks blocks = label_blocks(n);
  std::vector<LabelRange> found(static_cast<std::size_t>(blocks.count));
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    T low = y[begin], high = low;
    bool whole = true;
    for (index_t i = begin; i < end; ++i) {
      low = std::min(low, y[i]);
      high = std::max(high, y[i]);
      if constexpr (std::is_floating_point_v<T>) whole &= std::floor(y[i]) == y[i];
    }
    found[static_cast<std::size_t>(b)] = {static_cast<double>(low), static_cast<double>(high),
                                          whole};
  });
  LabelRange all;
  for (const LabelRange& each : found) {
    all.low = std::min(all.low, each.low);
    all.high = std::max(all.high, each.high);
    all.whole &= each.whole;
  }
  return all;
}

// Loops that store bytes have all that they read in arguments: a byte may lie in anything else.
template <class T>
void mark_block(const T* y, index_t n, std::int64_t low, std::uint8_t* seen) {
  for (index_t i = 0; i < n; ++i) seen[static_cast<std::int64_t>(y[i]) - low] = 1;
}

template <class T, class Code>
void code_block(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes) {
  for (index_t i = 0; i < n; ++i) codes[i] = table[static_cast<std::int64_t>(y[i]) - low];
}

template <class Code>
void sign_block(const Code* codes, index_t n, Code positive, std::int8_t* signs) {
  for (index_t i = 0; i < n; ++i)
    signs[i] = codes[i] == positive ? std::int8_t{1} : std::int8_t{-1};
}

// seen[y - low] = 1 for every label.
template <class T>
void mark_labels(const T* y, index_t n, std::int64_t low, std::uint8_t* seen, index_t range,
                 int n_threads) {
  const Blocks blocks = label_blocks(n);
  // A table for each of a few parts: no two threads write to one.
  const index_t parts = std::min<index_t>(blocks.count, resolve_threads(n_threads));
  std::vector<std::uint8_t> tables(static_cast<std::size_t>(parts * range), 0);
  for_blocks({n, parts}, n_threads, [&](index_t part, index_t begin, index_t end) {
    mark_block(y + begin, end - begin, low, tables.data() + part * range);
  });
  for (index_t part = 0; part < parts; ++part)
    for (index_t k = 0; k < range; ++k)
      seen[k] |= tables[static_cast<std::size_t>(part * range + k)];
}

// codes = table[y - low].
template <class T, class Code>
void code_labels(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes,
                 int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    code_block(y + begin, end - begin, low, table, codes + begin);
  });
}

// +1 where a code is that of the class, else -1.
template <class Code>
void sign_codes(const Code* codes, index_t n, Code positive, std::int8_t* signs, int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    sign_block(codes + begin, end - begin, positive, signs + begin);
  });
}

}  // namespace cutplane
