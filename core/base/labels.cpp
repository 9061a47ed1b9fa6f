#include "core/base/labels.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace cutplane {
namespace {

Blocks label_blocks(index_t n) { return make_blocks(n, 1 << 16, 1024); }

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

}  // namespace

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

template <class T, class Code>
void code_labels(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes,
                 int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    code_block(y + begin, end - begin, low, table, codes + begin);
  });
}

template <class Code>
void sign_codes(const Code* codes, index_t n, Code positive, std::int8_t* signs, int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    sign_block(codes + begin, end - begin, positive, signs + begin);
  });
}

template void sign_codes(const std::int8_t*, index_t, std::int8_t, std::int8_t*, int);
template void sign_codes(const std::int16_t*, index_t, std::int16_t, std::int8_t*, int);
template void sign_codes(const std::int32_t*, index_t, std::int32_t, std::int8_t*, int);

#define CUTPLANE_LABELS(T)                                                                       \
  template LabelRange label_range(const T*, index_t, int);                                       \
  template void mark_labels(const T*, index_t, std::int64_t, std::uint8_t*, index_t, int);       \
  template void code_labels(const T*, index_t, std::int64_t, const std::int8_t*, std::int8_t*,   \
                            int);                                                                \
  template void code_labels(const T*, index_t, std::int64_t, const std::int16_t*, std::int16_t*, \
                            int);                                                                \
  template void code_labels(const T*, index_t, std::int64_t, const std::int32_t*, std::int32_t*, \
                            int)

CUTPLANE_LABELS(std::int8_t);
CUTPLANE_LABELS(std::uint8_t);
CUTPLANE_LABELS(std::int32_t);
CUTPLANE_LABELS(std::int64_t);
CUTPLANE_LABELS(float);
CUTPLANE_LABELS(double);

}  // namespace cutplane
