#include "core/planes.hpp"

#include <algorithm>

#include "core/large_memory.hpp"
#include "core/multiversion.hpp"

namespace cutplane {

namespace {

// A block of a slope stays in the second-level cache while every plane is read past it.
Blocks blocks_of(index_t dimension) { return make_blocks(dimension, 16384, 256); }

}  // namespace

namespace plane_kernels {

CUTPLANE_MULTIVERSION double dot(const double* x, const double* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

CUTPLANE_MULTIVERSION void axpy(double a, const double* x, double* y, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) y[i] += a * x[i];
}

}  // namespace plane_kernels

std::vector<double> Planes::products(const double* slope, int n_threads) const {
  const index_t n = size() + 1;
  const Blocks blocks = blocks_of(dimension_);
  std::vector<double> partial(static_cast<std::size_t>(n * blocks.count));
  for_blocks(blocks, n_threads, [&](index_t block, index_t begin, index_t end) {
    double* sums = partial.data() + block * n;
    for (index_t i = 0; i < n; ++i) {
      const double* other = i + 1 < n ? this->slope(i) : slope;
      sums[i] = plane_kernels::dot(other + begin, slope + begin, end - begin);
    }
  });
  for (index_t block = 1; block < blocks.count; ++block) {
    for (index_t i = 0; i < n; ++i) partial[i] += partial[block * n + i];
  }
  partial.resize(static_cast<std::size_t>(n));
  return partial;
}

void Planes::add(const double* slope) {
  auto copy = std::make_shared_for_overwrite<double[]>(static_cast<std::size_t>(dimension_));
  prefer_large_pages(copy.get(), static_cast<std::size_t>(dimension_));
  std::copy_n(slope, dimension_, copy.get());
  slopes_.push_back(std::move(copy));
}

double Planes::combine(std::span<const double> weights, double scale, double* out,
                       int n_threads) const {
  const Blocks blocks = blocks_of(dimension_);
  std::vector<double> partial(static_cast<std::size_t>(blocks.count));
  for_blocks(blocks, n_threads, [&](index_t block, index_t begin, index_t end) {
    std::fill(out + begin, out + end, 0.0);
    for (index_t i = 0; i < size(); ++i) {
      if (weights[i] != 0.0) {
        plane_kernels::axpy(scale * weights[i], slope(i) + begin, out + begin, end - begin);
      }
    }
    partial[block] = plane_kernels::dot(out + begin, out + begin, end - begin);
  });
  double squared_norm = 0.0;
  for (const double sum : partial) squared_norm += sum;
  return squared_norm;
}

void Planes::remove(std::span<const index_t> positions) {
  auto next = positions.begin();
  index_t kept = 0;
  for (index_t i = 0; i < size(); ++i) {
    if (next != positions.end() && *next == i) {
      ++next;
    } else {
      if (kept != i) slopes_[kept] = std::move(slopes_[i]);
      ++kept;
    }
  }
  slopes_.resize(static_cast<std::size_t>(kept));
}

}  // namespace cutplane
