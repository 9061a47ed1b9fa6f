#include "core/ranking/f1.hpp"

#include <limits>

namespace cutplane {

F1Labelling f1_worst(const double* positive, index_t positives, const double* negative,
                     index_t negatives, double shift) {
  const double per_n = 1.0 / static_cast<double>(positives + negatives);
  const auto loss = [&](index_t a, index_t c) {
    return 1.0 -
           2.0 * static_cast<double>(positives - a) / static_cast<double>(2 * positives - a + c);
  };
  // What the c-th negative adds to the bound where a positives are missed.
  const auto gain = [&](index_t a, index_t c) {
    const double all = static_cast<double>(2 * positives - a + c);
    return 2.0 * static_cast<double>(positives - a) / (all * (all - 1.0)) +
           (negative[c - 1] + shift) * per_n;
  };
  index_t c = 0;
  double added = 0.0, missed = 0.0;
  while (c < negatives && gain(0, c + 1) > 0.0) added += negative[c++] + shift;
  F1Labelling best{0, 0, 0.0};
  double highest = -std::numeric_limits<double>::infinity();
  for (index_t a = 0;; ++a) {
    while (c > 0 && gain(a, c) <= 0.0) added -= negative[--c] + shift;
    const double bound = loss(a, c) + (added - missed) * per_n;
    if (bound > highest) {
      highest = bound;
      best = {a, c, loss(a, c)};
    }
    if (a == positives) break;
    missed += positive[a] + shift;
  }
  return best;
}

}  // namespace cutplane
