// The entries of a sparse matrix by ranges of its features, a range for each thread: what a thread
// reads and writes of v then stays in its own cache.
//
// Scores are sums over the ranges, and must not depend on where these end. So every product is
// rounded to a multiple of one quantum, the same for all, and sums of such multiples are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/matrix/csr_rows.hpp"

namespace cutplane {

// Added to a number and taken off again, it rounds that to a multiple of the quantum. Numbers, and
// sums of them, may be as large as `reach`.
inline double rounding_constant(double reach) {
  return 1.5 * std::exp2(std::ceil(std::log2(std::max(reach, 1e-100))) + 2.0);
}

template <class T>
class FeaturePart {
 public:
  // <x_e, v> over the features of the part, as multiples of the quantum.
  CUTPLANE_INLINE double score(index_t e, const double* v, double constant) const {
    std::int32_t k = starts[e];
    const std::int32_t end = starts[e + 1];
    double even = 0, odd = 0;
    for (; k + 2 <= end; k += 2) {
      even += (static_cast<double>(values[k]) * v[features[k]] + constant) - constant;
      odd += (static_cast<double>(values[k + 1]) * v[features[k + 1]] + constant) - constant;
    }
    if (k < end) even += (static_cast<double>(values[k]) * v[features[k]] + constant) - constant;
    return even + odd;
  }
  CUTPLANE_INLINE void add(index_t e, double change, double* v) const {
    const std::int32_t end = starts[e + 1];
    for (std::int32_t k = starts[e]; k < end; ++k)
      v[features[k]] += change * static_cast<double>(values[k]);
  }
  // The first and the last entries of an example; few have more than lie in those lines.
  CUTPLANE_INLINE void prefetch(index_t e) const {
    const std::int32_t begin = starts[e], end = starts[e + 1];
    __builtin_prefetch(features.data() + begin);
    __builtin_prefetch(features.data() + end);
    __builtin_prefetch(values.data() + begin);
    __builtin_prefetch(values.data() + end);
  }

  std::vector<std::int32_t> starts;  // of the entries of each example
  std::vector<std::int32_t> features;
  std::vector<T> values;
};

template <class T>
class FeatureParts {
 public:
  template <class I>
  FeatureParts(const CsrRows<T, I>& rows, int count, int n_threads) : parts_(count) {
    const std::vector<std::uint8_t> owner = owners(rows, count);
    const Blocks blocks = make_blocks(rows.n, kRows, kMostBlocks);
    for (auto& part : parts_) part.starts.assign(rows.n + 1, 0);
    for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
      for (index_t e = begin; e < end; ++e)
        rows.each(rows.at(e))([&](double, index_t j) { ++parts_[owner[j]].starts[e + 1]; });
    });
    for_blocks({count, count}, n_threads, [&](index_t p, index_t, index_t) {
      auto& part = parts_[p];
      for (index_t e = 0; e < rows.n; ++e) part.starts[e + 1] += part.starts[e];
      part.features.resize(part.starts[rows.n]);
      part.values.resize(part.starts[rows.n]);
    });
    for_blocks(blocks, n_threads, [&](index_t, index_t begin, index_t end) {
      std::vector<std::int32_t> next(count);
      for (index_t e = begin; e < end; ++e) {
        for (int p = 0; p < count; ++p) next[p] = parts_[p].starts[e];
        rows.each(rows.at(e))([&](double value, index_t j) {
          auto& part = parts_[owner[j]];
          const std::int32_t k = next[owner[j]]++;
          part.features[k] = static_cast<std::int32_t>(j);
          part.values[k] = static_cast<T>(value);
        });
      }
    });
  }

  const FeaturePart<T>& operator[](int p) const { return parts_[p]; }

 private:
  static constexpr index_t kRows = 256, kMostBlocks = 64;
  // Examples that are asked how often each feature comes.
  static constexpr index_t kAsked = 2000;

  // The part of each feature: ranges of about as many entries each.
  template <class I>
  static std::vector<std::uint8_t> owners(const CsrRows<T, I>& rows, int count) {
    std::vector<index_t> often(rows.d, 0);
    index_t total = 0;
    const index_t step = std::max<index_t>(1, rows.n / kAsked);
    for (index_t e = 0; e < rows.n; e += step)
      rows.each(rows.at(e))([&](double, index_t j) {
        ++often[j];
        ++total;
      });
    std::vector<std::uint8_t> owner(rows.d);
    index_t passed = 0;
    for (index_t j = 0; j < rows.d; ++j) {
      owner[j] = static_cast<std::uint8_t>(
          std::min<index_t>(count - 1, passed * count / std::max<index_t>(total, 1)));
      passed += often[j];
    }
    return owner;
  }

  std::vector<FeaturePart<T>> parts_;
};

}  // namespace cutplane
