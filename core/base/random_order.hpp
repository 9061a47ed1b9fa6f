// The order in which dual ascent visits the examples.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

CUTPLANE_INLINE std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Runs of neighbouring examples stay together when the order is shuffled: memory is read in runs,
// and the order is still random enough for the ascent.
inline constexpr index_t kRun = 4;
// The order is known: the first lines of a row some steps ahead are fetched early.
inline constexpr index_t kAhead = 8;

CUTPLANE_INLINE void shuffle_runs(std::vector<std::int32_t>& order, index_t active,
                                  std::uint64_t& random) {
  const index_t runs = active / kRun;
  for (index_t r = runs - 1; r > 0; --r) {
    // The high half of a product instead of a division: all but uniform, as r is far below 2^32.
    const index_t other =
        static_cast<index_t>((next_random(random) >> 32) * static_cast<std::uint64_t>(r + 1) >> 32);
    for (index_t j = 0; j < kRun; ++j) std::swap(order[r * kRun + j], order[other * kRun + j]);
  }
}

}  // namespace cutplane
