// The triangular factor behind the reduced QP: M = R'R over the planes that carry weight, where
// M = G + shift * 11'. On the simplex the shift adds a constant, so it changes no solution, but it
// makes M regular whenever the planes are affinely independent, the trivial plane (slope zero)
// included.
//
// R is kept by rows so that every inner loop, the rotations of a removal too, runs along memory.
#pragma once

#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

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

}  // namespace cutplane
