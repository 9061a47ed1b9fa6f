// The slopes of a bundle's planes. A slope never changes once stored, so copies of a bundle share
// them; each has its own memory, so growing and pruning move no slope.
//
// Slopes may be stored in single precision. What is stored is then another slope than the plane's:
// its distance from it is kept, and it is for those who prove something to add it up.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

class Planes {
 public:
  Planes(index_t dimension, bool single) : dimension_(dimension), single_(single) {}

  index_t size() const { return static_cast<index_t>(slopes_.size()); }
  index_t dimension() const { return dimension_; }
  bool single() const { return single_; }
  // Copy a slope as it is stored.
  void copy(index_t i, double* out) const;
  // At least the distance of a stored slope from that of its plane.
  double error(index_t i) const { return errors_[static_cast<std::size_t>(i)]; }

  // Store `slope`, which is `error` away from that of its plane. Returns the products of what is
  // stored with every plane in order, itself last; nothing is stored if these are not finite.
  std::vector<double> add(const double* slope, double error, int n_threads);

  // out = scale * sum over i of weights[i] * slope i; planes without weight are not read. Returns
  // |out|^2.
  double combine(std::span<const double> weights, double scale, double* out, int n_threads) const;

  // Forget the planes at these positions (ascending).
  void remove(std::span<const index_t> positions);

 private:
  struct Slope {
    std::shared_ptr<const double[]> doubles;
    std::shared_ptr<const float[]> floats;  // one of the two
  };
  std::vector<double> products(const Slope& slope, int n_threads) const;

  index_t dimension_;
  bool single_;
  std::vector<Slope> slopes_;
  std::vector<double> errors_;
};

}  // namespace cutplane
