// Dual coordinate ascent (Hsieh et al. 2008; Yu et al. 2011 for the logistic loss; Ho and Lin 2012
// for regression), with shrinking.
//
// Maximises  sum_i height_i(alpha_i) - ½|v|²,  v = sum_i alpha_i sign_i x_i  (dual_losses.hpp). The
// alpha_i are coefficients of a plane: what is proven with them is computed elsewhere, from the
// data.
//
// Weights that must not fall below a floor are w = max(v, floor), and <w, v> - ½|w|² takes the
// place of ½|v|². It bends no more than that does, so the steps are the same, if a little short.
//
// It visits one example after the other on one thread, or sparse ones in batches on several
// (batch_ascent.hpp).
//
// An unpenalised intercept is a multiplier for sum_i alpha_i y_i = 0. It is handled by the proximal
// method of multipliers: a constant feature of size `bias`, centred anew at every epoch. A long one
// couples all examples and slows every epoch down; a short one moves the intercept slowly. A
// penalised intercept b = s w, w the weight of a constant feature s, is the least of ½ b²/s² -
// b·sum_i alpha_i sign_i: with the proximal term (b - c)²/2t, that is a feature of the square
// 1/(1/s² + 1/t), and a share of c, so that a long one becomes short, too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ascent/ascent_scale.hpp"
#include "core/ascent/batch_ascent.hpp"
#include "core/ascent/dual_ascent_state.hpp"
#include "core/base/deadline.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

// Coordinate ascent soon finds out which variables end at their bounds; where features are many, it
// takes thousands of epochs for what is then left: a linear system in the others. Conjugate
// gradients solve it in hundreds of products, each at the price of an epoch over these alone.

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

// Dual coordinate ascent is slow along the directions in which many variables have to move
// together; where it has gone lately tells them.
class Extrapolation {
 public:
  // Go on to where the dual value is greatest on the plane through the variables now, those that
  // the last call left and those that the call before it left, were there no bounds; as far as it
  // rises. As in the method of conjugate gradients, two directions keep what earlier ones gained.
  void go_on(const Matrix& matrix, Ascent& state);

 private:
  // How far to go on from each of the earlier variables through the present ones.
  using Steps = std::array<double, 2>;
  Steps best_steps(const Ascent& state) const;
  // Sets `further_` to the present variables plus the steps times their ways from the earlier ones,
  // kept within the bounds.
  void look(const Matrix& matrix, const Ascent& state, const Steps& steps);

  std::array<DualVariables, 2> earlier_;  // those that calls have left, the last ones first
  DualVariables further_;
  std::vector<double> beyond_;  // by how much the bounds hold each variable back, times y
};

// Of an intercept: none, a free one, or a constant feature of a given size, penalised like others.
struct AscentIntercept {
  bool free = false;
  double constant = 0;
};

class DualAscent {
 public:
  // The scale is that of the matrix. `weight` is the mean of the u_i: C per example.
  DualAscent(const Matrix& matrix, const AscentScale& scale, DualLoss loss, double weight,
             AscentIntercept intercept, std::uint64_t seed);

  // No weight falls below the floor, one number for each column of the matrix, -inf where there is
  // none. Before the first epoch.
  void keep_above(const double* floor);
  // Visit examples in batches from now on, where rows are sparse and weights have no floor. The
  // scale is that of the matrix. Whether it will.
  bool go_in_batches(const AscentScale& scale, int n_threads);
  // Go on from the coefficients alpha_i sign_i, whose alpha are moved into their bounds, their v,
  // and an intercept; of a penalised one, NaN stands for what the variables make it. So many
  // roundings are in v, infinitely many where nobody has counted.
  void resume(const double* coefficients, const double* v, double intercept, double roundings);
  // One sweep over the active examples; several where they are few.
  void epoch();
  index_t sweeps() const { return sweeps_; }
  // For tests that look at one sweep at a time.
  void set_sweeps(index_t sweeps) { sweeps_ = sweeps; }
  // Shrunken examples come back: all of them, or those that the scores at v show to have been put
  // aside too early.
  void unshrink();
  void unshrink(const double* scores);
  // Only the examples rest that are at a bound and, by the scores at v, at least so far from where
  // they would leave it.
  void shrink(const double* scores, double distance);

  // Go on where the epochs since the last calls lead, as far as the dual value rises.
  void extrapolate() { extrapolation_.go_on(matrix_, state_); }

  // Go on to where the dual value is greatest while the variables at bounds stay there: see
  // face.hpp. Where weights have a floor, or heights are no parabolas, it does nothing.
  Climb climb(const ClimbUntil& until);

  // About what the variables prove once they are in balance.
  double dual_value() const;
  // Of a penalised intercept: what the dual value lacks until then.
  double cost_of_lean() const;
  double gain() const { return state_.gain; }
  // What v is off by at most, as DualVariables has it.
  double travelled() const { return state_.travelled; }
  double roundings() const { return state_.roundings; }
  double open_gap() const { return state_.open_gap; }
  // The fraction of the variables other than zero that are at their bounds.
  double share_at_bounds() const;
  // coef_i = -alpha_i sign_i * scale; balanced: so that they sum to zero, by moving those between
  // their bounds, and where these have no room, by scaling the heavier side down. Where an
  // intercept is penalised: towards what that asks for, as far as those between their bounds go.
  std::vector<double> coefficients(double scale, bool balanced) const;

  // With a penalised constant feature, its weight is the last. w is v, but not below the floor.
  std::vector<double> v() const;
  std::vector<double> w() const;
  index_t weights() const { return std::ssize(state_.v) + (state_.penalised ? 1 : 0); }
  // What scores have besides the weights; and what `resume` goes on from.
  double intercept() const { return state_.penalised ? 0.0 : state_.bias_center; }
  double centre() const { return state_.bias == 0.0 ? 0.0 : state_.intercept(); }
  index_t active() const { return state_.active; }

 private:
  void sweep();
  void visit_one_by_one();

  const Matrix& matrix_;
  index_t sweeps_ = 1;  // of an epoch
  Ascent state_;
  Extrapolation extrapolation_;
  Face face_;
  std::unique_ptr<BatchAscent> batches_;  // null: one example after the other
};

}  // namespace cutplane
