// Eight numbers at a time, on any machine: one vector register of the newest processors, two or
// four of older ones. Loops over rows of any length written with these need no scalar ends.
#pragma once

#include <cstdint>

#include "core/multiversion.hpp"
#include "core/parallel.hpp"

namespace cutplane {

inline constexpr index_t kLanes = 8;

// A vector type of GCC and Clang; in memory it may begin at any number.
using Lanes = double
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));
using LaneMask = std::int64_t __attribute__((vector_size(kLanes * sizeof(double))));

// By reference, here and below: how vectors are passed by value depends on the instruction set.
CUTPLANE_INLINE void widen(const float* from, Lanes& out) {
  for (index_t l = 0; l < kLanes; ++l) out[l] = from[l];
}
CUTPLANE_INLINE void widen(const double* from, Lanes& out) {
  out = *reinterpret_cast<const Lanes*>(from);
}

// The ends of vectors of d numbers, d >= kLanes and no multiple of it: the last eight numbers, of
// which `fresh` says those that whole groups from the beginning have not met.
struct LastLanes {
  index_t start;
  LaneMask fresh;

  CUTPLANE_INLINE explicit LastLanes(index_t d) : start(d - kLanes) {
    const LaneMask place = {0, 1, 2, 3, 4, 5, 6, 7};
    fresh = place >= kLanes - d % kLanes;
  }
  CUTPLANE_INLINE void load(const double* from, Lanes& out) const {
    widen(from + start, out);
    out = fresh ? out : Lanes{};
  }
};

// Halves, quarters, eighths.
CUTPLANE_INLINE double sum_lanes(const Lanes& a) {
  using Half = double __attribute__((vector_size(kLanes / 2 * sizeof(double)), may_alias));
  using Quarter = double __attribute__((vector_size(kLanes / 4 * sizeof(double)), may_alias));
  const Half half = Half{a[0], a[1], a[2], a[3]} + Half{a[4], a[5], a[6], a[7]};
  const Quarter quarter = Quarter{half[0], half[1]} + Quarter{half[2], half[3]};
  return quarter[0] + quarter[1];
}

}  // namespace cutplane
