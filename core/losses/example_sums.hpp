// Sums over examples in score space: one sweep each, threaded, in blocks.
#pragma once

#include <array>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// Scores on a line s + t * direction, the direction given as an array, by its end (direction = end
// - s), or constant: 1 for every example, as the intercept moves.
enum class LineKind { kConstant, kAlong, kTowards };

template <class S>
struct LineOf {
  using Kind = LineKind;
  const S* s;
  const S* other = nullptr;
  Kind kind = Kind::kConstant;
};
using ScoreLine = LineOf<double>;
using SingleLine = LineOf<float>;  // of scores in single precision

struct RayDerivatives {
  double value, slope, curvature;
};

// Sweeps are short; blocks of this many examples keep threads busy and partial sums few.
inline constexpr index_t kExamplesPerBlock = 1 << 13;

// A sweep over an example costs about a nanosecond.
inline constexpr index_t kWorkPerExample = 1;

inline Blocks example_blocks(index_t n) { return make_blocks(n, kExamplesPerBlock, 64); }

template <std::size_t N>
using Sums = std::array<double, N>;

// Per-block sums, added in block order.
template <std::size_t N>
Sums<N> sum_examples(index_t n, int n_threads,
                     FunctionView<Sums<N>(index_t begin, index_t end)> body, index_t part = 1) {
  const Blocks blocks = example_blocks(n);
  std::vector<Sums<N>> partial(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, kWorkPerExample * n / part),
             [&](index_t b, index_t begin, index_t end) { partial[b] = body(begin, end); });
  Sums<N> total{};
  for (const Sums<N>& part : partial)
    for (std::size_t k = 0; k < N; ++k) total[k] += part[k];
  return total;
}

}  // namespace cutplane
