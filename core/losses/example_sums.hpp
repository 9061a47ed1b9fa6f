// Sums over examples in score space: one sweep each, threaded, in blocks.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// The targets of examples and their weights; c null: every weight is `each`.
template <class Y>
struct SampleOf {
  const Y* y;
  const double* c;
  double each;
  index_t n;
};

// A plane <coef, s> + offset below the risk, and the risk where it was made.
struct ScoreCut {
  double value, offset;
};

// The same with coefficients of a rounded risk.
struct SmoothedSums {
  double value;   // the risk itself, exactly
  double offset;  // of the plane
  double error;   // what rounding adds to the gap: value - <coef, s> - offset
  index_t kinks;  // examples where the rounded loss is curved
};

// Scores on a line s + t * direction, the direction given as an array, by its end (direction = end
// - s), or constant: 1 for every example, as the intercept moves.
enum class LineKind { kConstant, kAlong, kTowards };

// In double or in single precision: one of the two is null.
struct AnyScores {
  AnyScores() = default;
  AnyScores(const double* from) : doubles(from) {}
  AnyScores(const float* from) : singles(from) {}
  template <class S>
  const S* as() const {
    if constexpr (std::is_same_v<S, float>)
      return singles;
    else
      return doubles;
  }
  const double* doubles = nullptr;
  const float* singles = nullptr;
};

struct ScoreLine {
  AnyScores s;
  AnyScores other = {};
  LineKind kind = LineKind::kConstant;
};

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
