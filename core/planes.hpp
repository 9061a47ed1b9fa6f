// The slopes of a bundle's planes. A slope never changes once stored, so copies of a bundle share
// them; each has its own memory, so growing and pruning move no slope.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"

namespace cutplane {

class Planes {
 public:
  explicit Planes(index_t dimension) : dimension_(dimension) {}

  index_t size() const { return static_cast<index_t>(slopes_.size()); }
  index_t dimension() const { return dimension_; }
  const double* slope(index_t i) const { return slopes_[static_cast<std::size_t>(i)].get(); }

  // Products of `slope` with every stored plane in order, then with itself.
  std::vector<double> products(const double* slope, int n_threads) const;

  // Store a copy of `slope`.
  void add(const double* slope);

  // out = scale * sum over i of weights[i] * slope i; planes without weight are not read. Returns
  // |out|^2.
  double combine(std::span<const double> weights, double scale, double* out, int n_threads) const;

  // Forget the planes at these positions (ascending).
  void remove(std::span<const index_t> positions);

 private:
  index_t dimension_;
  std::vector<std::shared_ptr<const double[]>> slopes_;
};

}  // namespace cutplane
