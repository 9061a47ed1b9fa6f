// Scores in ascending order: a radix sort on single-precision keys, mended where these are equal.
//
// Rounding to single precision never turns an order round, so sorting by it leaves only runs of
// equal keys to be sorted by the scores themselves; these are short unless scores are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

using place_t = std::uint32_t;  // a place among fewer than 2^32 examples

// Scores with a direction to break ties: sorted as score + epsilon * direction. Ties that are left
// are in the order of their places, so that there is one order only.
struct TiedScores {
  const double* score;
  const double* direction;

  bool less(place_t a, place_t b) const {
    if (score[a] != score[b]) return score[a] < score[b];
    if (direction && direction[a] != direction[b]) return direction[a] < direction[b];
    return a < b;
  }
};

// So many scores are worth a radix sort.
inline constexpr index_t kFewForRadix = 512;

// Sorts the places begin .. end - 1 by their scores: place[k] for k in [begin, end) is the one that
// comes k-th, key[k] its score. All arrays are indexed by place. `place` holds the places in some
// order: the nearer it is to the right one, the sooner few of them are sorted. `spare` holds
// 2 (end - begin) words if these are kFewForRadix or more. The order does not depend on the number
// of threads.
void sort_scores(const TiedScores& scores, index_t begin, index_t end, place_t* place, double* key,
                 std::uint64_t* spare, int n_threads);

}  // namespace cutplane
