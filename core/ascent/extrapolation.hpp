// Dual coordinate ascent is slow along the directions in which many variables have to move
// together; where it has gone lately tells them.
#pragma once

#include <array>
#include <vector>

#include "core/ascent/dual_ascent_state.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

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

}  // namespace cutplane
