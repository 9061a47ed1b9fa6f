// Coordinate ascent soon finds out which variables end at their bounds; where features are many, it
// takes thousands of epochs for what is then left: a linear system in the others. Conjugate
// gradients solve it in hundreds of products, each at the price of an epoch over these alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ascent/dual_ascent_state.hpp"
#include "core/base/deadline.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// When a climb ends: after so many products, when the time is up, or where what the free examples
// have of the duality gap is enough: this much, or little next to what the others have. Zero: only
// at the top.
struct ClimbUntil {
  index_t products;
  double gap;
  Deadline deadline;
};

// What a climb took (nothing, where most is left to do elsewhere), by how much the dual value rose
// (where an intercept is free: its Lagrangian at the one found), and whether no bound was met on
// the last face.
struct Climb {
  index_t products = 0;
  double rise = 0;
  bool stands = false;
};

// The face of the box that the variables are on: those at bounds or at kinks of their heights stay
// there, the others are free. Heights must be parabolas in pieces.
class Face {
 public:
  // Climb to the top of the face; from one that is met on the way, to the top of that face, and so
  // on. A free intercept is where the mean gradient of the free variables is zero: the coefficients
  // are kept in balance.
  Climb climb(const Matrix& matrix, Ascent& state, const ClimbUntil& until);

 private:
  // A free variable as a coefficient of its example: the variable times the sign.
  struct Free {
    double sign, coef, low, high, bend, per_curvature;
  };

  void collect(const Ascent& state);
  // The gradient of the dual value at v, but for a free intercept.
  void differentiate(const Matrix& matrix, const Ascent& state);
  // What the variables that are not free leave of the duality gap, at the intercept that is best
  // for the free ones. Those that rest and should not are woken.
  double look_at_others(const Matrix& matrix, Ascent& state);
  // The mean gradient in the metric of the steps, where an intercept is free; else zero.
  double best_intercept(const Ascent& state) const;
  // Conjugate gradients from the present variables: sets `way_`, returns the products it took.
  index_t solve(const Matrix& matrix, const Ascent& state, const ClimbUntil& until);
  // The first direction, where coefficients are out of balance: back into it.
  void balance(double imbalance);
  // The curvature of the dual value along `way`, whose sum of examples becomes `combined_`.
  double curvature(const Matrix& matrix, const Ascent& state, const std::vector<double>& way);
  // Go on by a step along `direction_`, of which `combined_` is the sum of examples.
  void advance(const Matrix& matrix, const Ascent& state, double step);
  // Go along `way_`, cut off at the bounds, to where the dual value is greatest. Its rise.
  double move(const Matrix& matrix, Ascent& state);

  std::vector<std::int32_t> examples_;  // of the free variables
  std::vector<std::int32_t> others_;    // of the others
  std::vector<Free> free_;
  std::vector<double> first_, gradient_;  // where it began, and at the end of `way_`
  std::vector<double> way_, direction_, scores_;
  std::vector<double> combined_;
  double constant_ = 0;  // what `combined_` has of a constant feature that is penalised
  double intercept_ = 0;
  bool met_ = false;  // whether a bound held the last move back
};

}  // namespace cutplane
