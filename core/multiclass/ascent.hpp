// Dual ascent over the examples' blocks for the multi-class risk (Keerthi et al. 2008).
//
// Maximises  sum_iy u_iy cost(y_i, y) - ½|V|²,  V = -sum_i x_i (u_i - U_i e_k)',  over u_i in the
// simplex of size U_i = C c_i, one block u_i at a time: with the lines z of the example at V, the
// best block is the projection of  u_i + z / |x_i|²  on its simplex, found by sorting. u_i / U_i
// are the weights p of a plane: what is proven with them is computed elsewhere, from the data.
//
// Free intercepts are multipliers for the balance of the classes, handled as in
// core/ascent/dual_ascent.hpp by the proximal method of multipliers: a constant feature of size
// `bias`, centred anew at every epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ascent/simplex_aim.hpp"
#include "core/base/deadline.hpp"
#include "core/multiclass/ascent.hpp"
#include "core/multiclass/ascent_state.hpp"

namespace cutplane {

// Going on in the direction of the last epoch, as far as is best.
//
// Every visit takes the best block of its example while all others stand still. Where examples
// share their features, as digits do, all of them together could go further: the direction of an
// epoch is tried, within every simplex, and its best length is known in closed form.
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

class BlockDualAscent {
 public:
  BlockDualAscent(const Matrix& matrix, index_t classes, const std::int32_t* y, const double* cost,
                  const double* upper, double upper_all, bool intercept, std::uint64_t seed,
                  int n_threads);

  // One sweep over the active examples, or over the first of them where the time is up; after 4, 8,
  // 16, ... all come back.
  void epoch(const Deadline& deadline);
  // Where the last epochs lead. Not with the Gram matrix, whose sweeps go further by themselves.
  void extrapolate() { extrapolation_.go_on(matrix_, state_, n_threads_); }
  // From now on sweeps go by the Gram matrix of the examples (core/multiclass/gram_sweep.hpp),
  // which must outlive this.
  void use_gram(const float* gram) { gram_ = gram; }
  // Settled examples come back.
  void unshrink();

  // What the last sweep met of the gap, infinite if it had no time to end.
  double open_gap() const { return state_.open_gap; }
  double mean_square() const { return mean_square_; }
  double classes_changed() const { return state_.classes_changed; }
  double dual_value() const;
  // coef (n x classes) = scale * (u_iy for y != k, -sum of these for k); returns the offset of the
  // plane, scale * sum u_iy cost(k, y).
  double coefficients(double scale, double* coef) const;
  // V without the padding, d x classes.
  void weights(double* out) const;
  const double* intercepts() const { return state_.bias_center.data(); }

  index_t classes() const { return state_.classes; }
  index_t examples() const { return matrix_.rows(); }
  index_t features() const { return matrix_.cols(); }
  index_t active() const { return state_.active; }

 private:
  const Matrix& matrix_;
  const float* gram_ = nullptr;  // n x n
  BlockAscent state_;
  BlockExtrapolation extrapolation_;
  int n_threads_;
  double mean_square_ = 0;
  index_t epochs_ = 0, revival_ = 4;
};

// Dual ascent over the examples' blocks by the Gram matrix of the examples.
//
// The lines of all examples are kept up to date: a step changes them by a row of the matrix for
// every class whose weight it changes, which is much less than a product of the example with the
// weights of all classes where rows are long against the number of examples. It also tells which
// blocks are furthest from their best, and these are the ones to go to.

// One sweep: steps on the blocks furthest from their best until the largest violation is a third of
// what it was. V is summed up afresh in the end, so that what the matrix in single precision leaves
// out is made up for by the next sweep.
void ascend_blocks_by_gram(const Matrix& matrix, const float* gram, BlockAscent& state,
                           const Deadline& deadline, int n_threads);

}  // namespace cutplane
