// The QP of a bundle: minimise 1/2 |w|^2 + C max_i (<a_i, w> + b_i) over w, by its dual over the
// simplex
//
//     maximise  q'beta - 1/2 beta'G beta,   q = b / C,  G = A A',   w = -C A'beta,
//
// which is the dual of the problem above divided by C^2: C enters through q alone, so weights,
// support and factor all survive a change of C. Plane 0 is the trivial one (slope zero, offset
// lower_bound).
//
// An active-set method. It keeps the support (the planes with weight) affinely independent and
// factorised, takes Newton steps on it until every plane of the support has the same value, then
// lets the plane that is most violated enter. Where the entering plane depends on the support there
// is a direction that changes no w; it is followed until a weight vanishes, and that plane leaves.
#pragma once

#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// The triangular factor behind the reduced QP: M = R'R over the planes that carry weight, where
// M = G + shift * 11'. On the simplex the shift adds a constant, so it changes no solution, but it
// makes M regular whenever the planes are affinely independent, the trivial plane (slope zero)
// included.
//
// R is kept by rows so that every inner loop, the rotations of a removal too, runs along memory.
class SupportFactor {
 public:
  index_t size() const { return size_; }
  void clear() { size_ = 0; }

  // Border M by `column` (products with the current support) and `diagonal`. Where the new plane is
  // an affine combination of the support as far as rounding can tell, nothing is appended, `column`
  // is replaced by the coefficients of that combination, and the answer is false.
  bool append(std::span<double> column, double diagonal);

  // Drop the plane at `position`; those after it move up by one.
  void remove(index_t position);

  // Replace r by the x with M x = r + nu 1 and sum(x) = 0: the Newton step within the simplex.
  void newton(std::span<double> r) const;

 private:
  void reserve(index_t n);

  index_t size_ = 0;
  index_t stride_ = 0;
  std::vector<double> R_;
  std::vector<double> ones_;  // R' ones_ = 1, kept up to date with R
};

struct ReducedQpOutcome {
  double violation;   // duality gap of the QP at the weights, relative to its value
  double risk_model;  // the highest plane at w
  index_t pivots;     // planes that entered or left
};

class ReducedQp {
 public:
  explicit ReducedQp(double lower_bound);

  // Planes in all, the trivial one included.
  index_t size() const { return static_cast<index_t>(offsets_.size()); }
  // One weight per plane: none negative, their sum one up to its last bits.
  std::span<const double> weights() const { return weights_; }
  std::span<const double> offsets() const { return offsets_; }
  // Solves in a row, up to the last, that left each plane without weight.
  std::span<const index_t> idle() const { return idle_; }

  // products: of the new slope with planes 1, 2, ... in order, then with itself.
  void append(std::span<const double> products, double offset);

  // Forget planes (ascending positions, none with weight, never plane 0).
  void remove(std::span<const index_t> positions);

  // Forget the weights: the next solve starts from the trivial plane.
  void reset();

  // Starts from the weights of the last solve. Always ends; see ReducedQpOutcome::violation for how
  // well.
  ReducedQpOutcome solve(double C);

 private:
  double product(index_t i, index_t j) const { return gram_[i * stride_ + j]; }
  void reserve(index_t n);
  void measure();
  double slack(index_t i) const;
  double imbalance() const;
  index_t most_violated(const std::vector<int>& entries) const;
  bool newton_step();
  void absorb(index_t plane);
  void drop(index_t position);
  void drop_weightless();
  void normalise();
  double wanted_shift() const;
  void refactorise();
  void settle();
  void enter_violated();
  bool stuck() const;

  std::vector<double> gram_;  // row-major, stride_ apart
  index_t stride_ = 0;
  std::vector<double> norms_;
  std::vector<double> offsets_;
  std::vector<double> weights_;
  std::vector<index_t> idle_;

  std::vector<index_t> support_;  // in the factor's order
  SupportFactor factor_;
  double shift_ = 1.0;

  // What `measure` finds at the current weights; plane values are divided by C.
  double inverse_C_ = 1.0;
  std::vector<double> values_;
  double level_ = 0.0;      // weighted mean of the values: what all of the support should have
  double objective_ = 0.0;  // dual objective over C^2
  double mean_norm_ = 0.0;  // weighted mean of the norms, the scale of rounding in the values
  index_t pivots_ = 0;
  bool refactorised_ = false;  // once per solve is enough

  std::vector<double> step_;  // scratch, one entry per support plane
};

}  // namespace cutplane
