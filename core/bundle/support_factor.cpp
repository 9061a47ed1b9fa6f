#include "core/bundle/support_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/multiversion.hpp"

namespace cutplane {

// Outside an anonymous namespace because run-time dispatch needs external linkage.
namespace factor_kernels {

CUTPLANE_INLINE double dot(const double* x, const double* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// x := R'^-1 x
CUTPLANE_MULTIVERSION void solve_transposed(const double* R, index_t stride, index_t n, double* x) {
  for (index_t i = 0; i < n; ++i) {
    const double* row = R + i * stride;
    const double xi = x[i] /= row[i];
#pragma omp simd
    for (index_t j = i + 1; j < n; ++j) x[j] -= xi * row[j];
  }
}

// x := R^-1 x
CUTPLANE_MULTIVERSION void solve(const double* R, index_t stride, index_t n, double* x) {
  for (index_t i = n - 1; i >= 0; --i) {
    const double* row = R + i * stride;
    x[i] = (x[i] - dot(row + i + 1, x + i + 1, n - i - 1)) / row[i];
  }
}

// Rotate rows i and i + 1 so that the entry below the diagonal in column i vanishes, for every i
// from `first` on: R, whose column `first` was taken out, is triangular again.
CUTPLANE_MULTIVERSION void retriangularise(double* R, index_t stride, index_t first, index_t n,
                                           double* ones) {
  for (index_t i = first; i + 1 < n; ++i) {
    double* upper = R + i * stride;
    double* below = upper + stride;
    const double length = std::sqrt(upper[i] * upper[i] + below[i] * below[i]);
    const double c = upper[i] / length;
    const double s = below[i] / length;
    upper[i] = length;
#pragma omp simd
    for (index_t j = i + 1; j < n - 1; ++j) {
      const double u = upper[j];
      const double b = below[j];
      upper[j] = c * u + s * b;
      below[j] = c * b - s * u;
    }
    const double u = ones[i];
    ones[i] = c * u + s * ones[i + 1];
    ones[i + 1] = c * ones[i + 1] - s * u;
  }
}

}  // namespace factor_kernels

void SupportFactor::reserve(index_t n) {
  if (n <= stride_) return;
  const index_t stride = std::max<index_t>(32, 2 * n);
  std::vector<double> wider(static_cast<std::size_t>(stride * stride));
  for (index_t i = 0; i < size_; ++i) {
    std::copy_n(R_.data() + i * stride_, size_, wider.data() + i * stride);
  }
  R_ = std::move(wider);
  stride_ = stride;
  ones_.resize(static_cast<std::size_t>(stride));
}

bool SupportFactor::append(std::span<double> column, double diagonal) {
  const index_t n = size_;
  reserve(n + 1);
  factor_kernels::solve_transposed(R_.data(), stride_, n, column.data());
  const double pivot = diagonal - factor_kernels::dot(column.data(), column.data(), n);
  // What the subtraction above, and the products behind it, leave of a pivot that should be zero.
  const double noise =
      4.0 * static_cast<double>(n + 8) * std::numeric_limits<double>::epsilon() * diagonal;
  if (!(pivot > noise)) {
    factor_kernels::solve(R_.data(), stride_, n, column.data());
    return false;
  }
  const double root = std::sqrt(pivot);
  for (index_t i = 0; i < n; ++i) R_[i * stride_ + n] = column[i];
  R_[n * stride_ + n] = root;
  ones_[n] = (1.0 - factor_kernels::dot(column.data(), ones_.data(), n)) / root;
  ++size_;
  return true;
}

void SupportFactor::remove(index_t position) {
  const index_t n = size_;
  for (index_t i = 0; i < n; ++i) {
    double* row = R_.data() + i * stride_;
    // Row i starts at its diagonal; below the removed column that entry lies left of the new
    // diagonal.
    const index_t first = std::max(position, i - 1);
    std::copy(row + first + 1, row + n, row + first);
  }
  factor_kernels::retriangularise(R_.data(), stride_, position, n, ones_.data());
  --size_;
}

void SupportFactor::newton(std::span<double> r) const {
  const index_t n = size_;
  factor_kernels::solve_transposed(R_.data(), stride_, n, r.data());
  const double nu = -factor_kernels::dot(ones_.data(), r.data(), n) /
                    factor_kernels::dot(ones_.data(), ones_.data(), n);
  for (index_t i = 0; i < n; ++i) r[i] += nu * ones_[i];
  factor_kernels::solve(R_.data(), stride_, n, r.data());
}

}  // namespace cutplane
