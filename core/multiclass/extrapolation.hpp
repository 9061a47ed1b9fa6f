// Going on in the direction of the last epoch, as far as is best.
//
// Every visit takes the best block of its example while all others stand still. Where examples
// share their features, as digits do, all of them together could go further: the direction of an
// epoch is tried, within every simplex, and its best length is known in closed form.
#pragma once

#include <vector>

#include "core/ascent/simplex_aim.hpp"
#include "core/multiclass/ascent_state.hpp"

namespace cutplane {

class BlockExtrapolation {
 public:
  // From where the last call has begun, if there was one. Only active examples go on.
  void go_on(const Matrix& matrix, BlockAscent& state, int n_threads);

 private:
  // Sets the coefficients of the direction; the sum of the costs it adds.
  double aim(const BlockAscent& state, int n_threads);

  std::vector<double> before_;  // n x classes: the blocks
  LargeArray coef_;             // n x columns: zero for examples that rest
  LargeArray direction_;        // d x columns
  Reach reach_;
};

}  // namespace cutplane
