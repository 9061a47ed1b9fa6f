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
#pragma once

#include <utility>

#include "core/base/parallel.hpp"

namespace cutplane {

struct F1Labelling {
  index_t missed, added;
  double loss;
};

// `positive` ascending, `negative` descending; `shift` is added to every score.
F1Labelling f1_worst(const double* positive, index_t positives, const double* negative,
                     index_t negatives, double shift);

}  // namespace cutplane
