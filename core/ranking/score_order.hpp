// Scores in ascending order: a radix sort on single-precision keys, mended where these are equal.
//
// Rounding to single precision never turns an order round, so sorting by it leaves only runs of
// equal keys to be sorted by the scores themselves; these are short unless scores are equal.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// The grid that scores are put on before they are compared.
//
// It is so wide that sums of all scores, and numbers of pairs times scores, have no digits to lose:
// sweeps over windows of scores, divided by a narrow width, would raise what rounding leaves in
// them to any size.

// The step of the grid of n scores, the largest of which has this size: a power of 2, or 0 for none
// where a score is not finite.
inline double grid_step(index_t n, double largest) {
  const double size = 1.0 + largest;
  if (!(size <= std::numeric_limits<double>::max())) return 0.0;
  return std::exp2(std::ceil(std::log2(4.0 * static_cast<double>(n) * size)) - 53.0);
}

// The size of the largest of n scores; infinite where one is not finite.
double largest_size(const double* s, index_t n, int n_threads);

class ScoreGrid {
 public:
  explicit ScoreGrid(double step) : step_(step), per_step_(1.0 / step) {}

  // The nearest point, of two the even one: numbers below 2^51 are whole after 1.5 * 2^52 was
  // added.
  double nearest(double score) const {
    constexpr double kWhole = 6755399441055744.0;
    return ((score * per_step_ + kWhole) - kWhole) * step_;
  }

 private:
  double step_, per_step_;  // powers of 2
};

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

// The labelling that holds up the structural bound of 1 - F1 (Joachims 2005).
//
// With P positives, of which a are missed, and c negatives added, the loss is
// D(a, c) = 1 - 2(P - a) / (2P - a + c), and the bound is the maximum over a and c of
// D(a, c) - A(a)/n + B(c)/n, where A sums the a lowest scores of positives and B the c highest of
// negatives. What the c-th negative adds,
//     2(P - a) / ((2P - a + c - 1)(2P - a + c)) + score/n,
// falls in c, so for each a the best c is where it turns negative. The first term is
// 2u / ((u + K)(u + K + 1)) with u = P - a and K = P + c - 1, whose derivative in u has the sign of
// K(K + 1) - u²; for c >= 1, K >= P >= u: it falls as a grows, and so does the best c.
struct F1Labelling {
  index_t missed, added;
  double loss;
};

// `positive` ascending, `negative` descending; `shift` is added to every score.
F1Labelling f1_worst(const double* positive, index_t positives, const double* negative,
                     index_t negatives, double shift);

}  // namespace cutplane
