#include "core/structured/chain_rows.hpp"

#include <limits>
#include <type_traits>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr index_t kLanes = ChainScratch::kLanes;
// Labels whose sums are in registers together.
constexpr index_t kTogether = 4 * kLanes;
// Rows of weights lie all over the memory, and which will be needed is known: they are fetched some
// tokens early.
constexpr index_t kTokensAhead = 2;

CUTPLANE_INLINE void fetch_rows(const Chains& chains, const double* w, index_t t) {
  constexpr index_t doubles_per_line = 8;
  for (index_t f = chains.indptr[t]; f < chains.indptr[t + 1]; ++f) {
    const double* row = w + static_cast<index_t>(chains.indices[f]) * chains.labels;
    for (index_t j = 0; j < chains.labels; j += doubles_per_line) __builtin_prefetch(row + j);
  }
}

// Numbers of some labels in a row, in registers.
template <index_t Size>
struct Registers {
  static constexpr int kWidth = kCommonLanes;
  static constexpr index_t kCount = Size / kWidth;
  Lanes<kWidth> lanes[kCount];

  // In two steps: of one, GCC 12 says on x86-64 that it reads what was not written.
  CUTPLANE_INLINE void fill(double value) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      lanes[r] = Lanes<kWidth>{};
      lanes[r] += value;
    }
  }
  CUTPLANE_INLINE void store_to(double* out) const {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) store<kWidth>(lanes[r], out + r * kWidth);
  }
  CUTPLANE_INLINE void add(const double* from) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      Lanes<kWidth> x;
      load<kWidth>(from + r * kWidth, x);
      lanes[r] += x;
    }
  }
  CUTPLANE_INLINE void add_times(double value, const double* from) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      Lanes<kWidth> x;
      load<kWidth>(from + r * kWidth, x);
      lanes[r] += value * x;
    }
  }
  // Each becomes the larger of itself and value + what is there.
  CUTPLANE_INLINE void raise_to(double value, const double* from) {
#pragma GCC unroll 16
    for (index_t r = 0; r < kCount; ++r) {
      Lanes<kWidth> x;
      load<kWidth>(from + r * kWidth, x);
      x += value;
#ifdef __aarch64__
      lanes[r] = vmaxq_f64(lanes[r], x);
#else
      lanes[r] = x > lanes[r] ? x : lanes[r];
#endif
    }
  }
};

// Calls body(size, first) with the labels in groups of `size`, a number known to the compiler: all
// of a row if there are not many.
template <class Body>
CUTPLANE_INLINE void for_groups(index_t stride, const Body& body) {
  for (index_t first = 0; first < stride; first += kTogether) {
    switch (stride - first) {
      case kLanes:
        body(std::integral_constant<index_t, kLanes>{}, first);
        break;
      case 2 * kLanes:
        body(std::integral_constant<index_t, 2 * kLanes>{}, first);
        break;
      case 3 * kLanes:
        body(std::integral_constant<index_t, 3 * kLanes>{}, first);
        break;
      default:
        body(std::integral_constant<index_t, kTogether>{}, first);
    }
  }
}

template <index_t Size>
CUTPLANE_INLINE void score_group(const Chains& chains, const double* w, index_t t, double* out) {
  Registers<Size> sum;
  sum.fill(0.0);
  const auto row = [&](index_t f) CUTPLANE_INLINED {
    return w + static_cast<index_t>(chains.indices[f]) * chains.labels;
  };
  const index_t end = chains.indptr[t + 1];
  if (chains.values)
    for (index_t f = chains.indptr[t]; f < end; ++f) sum.add_times(chains.values[f], row(f));
  else
    for (index_t f = chains.indptr[t]; f < end; ++f) sum.add(row(f));
  sum.store_to(out);
}

// Of fewer labels than a vector has.
CUTPLANE_INLINE void score_few(const Chains& chains, const double* w, index_t t, double* out) {
  for (index_t f = chains.indptr[t]; f < chains.indptr[t + 1]; ++f) {
    const double* row = w + static_cast<index_t>(chains.indices[f]) * chains.labels;
    const double value = chains.values ? chains.values[f] : 1.0;
    for (index_t j = 0; j < chains.labels; ++j) out[j] += value * row[j];
  }
}

}  // namespace

CUTPLANE_MULTIVERSION void score_rows_of(const Chains& chains, const double* w, index_t begin,
                                         index_t end, index_t stride, double* out) {
  for (index_t t = begin; t < end; ++t, out += stride) {
    if (t + kTokensAhead < chains.tokens()) fetch_rows(chains, w, t + kTokensAhead);
    if (chains.labels < kLanes) {
      for (index_t j = 0; j < stride; ++j) out[j] = 0.0;
      score_few(chains, w, t, out);
      continue;
    }
    // The last vector of a row reaches into the next one, which is there: after the features come
    // the transitions, rows of at least a vector.
    for_groups(stride, [&](auto size, index_t first) CUTPLANE_INLINED {
      score_group<size>(chains, w + first, t, out + first);
    });
    for (index_t j = chains.labels; j < stride; ++j) out[j] = 0.0;
  }
}

CUTPLANE_MULTIVERSION void reach(const double* scores, const double* transitions, index_t length,
                                 index_t labels, index_t stride, double* reached) {
  for (index_t j = 0; j < stride; ++j) reached[j] = scores[j];
  for (index_t t = 1; t < length; ++t) {
    const double* before = reached + (t - 1) * stride;
    for_groups(stride, [&](auto size, index_t first) CUTPLANE_INLINED {
      Registers<size> best;
      best.fill(kNever);
      for (index_t i = 0; i < labels; ++i)
        best.raise_to(before[i], transitions + i * stride + first);
      best.add(scores + t * stride + first);
      best.store_to(reached + t * stride + first);
    });
  }
}

}  // namespace cutplane
