#include "core/bundle/planes.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/large_memory.hpp"
#include "core/base/multiversion.hpp"

namespace cutplane {

namespace {

// A block of a slope stays in the second-level cache while planes are read past it.
Blocks blocks_of(index_t dimension) { return make_blocks(dimension, 16384, 256); }

// Planes past which a block is read at a time: short slopes have one block, and many planes.
constexpr index_t kPlanesAtOnce = 16;

// A stretch of a sum stays in the first cache while all planes are added to it.
constexpr index_t kStretch = 2048;

}  // namespace

namespace plane_kernels {

CUTPLANE_MULTIVERSION double dot(const double* x, const double* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

CUTPLANE_MULTIVERSION double dot(const float* x, const float* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

CUTPLANE_MULTIVERSION void axpy(double a, const double* x, double* y, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) y[i] += a * x[i];
}

CUTPLANE_MULTIVERSION void axpy(double a, const float* x, double* y, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) y[i] += a * static_cast<double>(x[i]);
}

// Returns the squared distance of what is stored from what was given.
CUTPLANE_MULTIVERSION double to_single(const double* x, float* y, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) {
    y[i] = static_cast<float>(x[i]);
    const double off = x[i] - static_cast<double>(y[i]);
    sum += off * off;
  }
  return sum;
}

}  // namespace plane_kernels

std::vector<double> Planes::products(const Slope& slope, int n_threads) const {
  const index_t n = size() + 1;
  const Blocks blocks = blocks_of(dimension_);
  std::vector<double> partial(static_cast<std::size_t>(n * blocks.count));
  const index_t groups = (n + kPlanesAtOnce - 1) / kPlanesAtOnce;
  const Blocks tasks{blocks.count * groups, blocks.count * groups};
  for_blocks(tasks, useful_threads(n_threads, n * dimension_), [&](index_t task, index_t, index_t) {
    const index_t block = task / groups, first = task % groups * kPlanesAtOnce;
    const index_t begin = blocks.begin(block), size = blocks.end(block) - begin;
    for (index_t i = first; i < std::min(first + kPlanesAtOnce, n); ++i) {
      const Slope& other = i + 1 < n ? slopes_[static_cast<std::size_t>(i)] : slope;
      partial[block * n + i] =
          single_
              ? plane_kernels::dot(other.floats.get() + begin, slope.floats.get() + begin, size)
              : plane_kernels::dot(other.doubles.get() + begin, slope.doubles.get() + begin, size);
    }
  });
  for (index_t block = 1; block < blocks.count; ++block) {
    for (index_t i = 0; i < n; ++i) partial[i] += partial[block * n + i];
  }
  partial.resize(static_cast<std::size_t>(n));
  return partial;
}

std::vector<double> Planes::add(const double* slope, double error, int n_threads) {
  Slope stored;
  if (single_) {
    auto copy = std::make_shared_for_overwrite<float[]>(static_cast<std::size_t>(dimension_));
    prefer_large_pages(copy.get(), static_cast<std::size_t>(dimension_));
    const Blocks blocks = blocks_of(dimension_);
    std::vector<double> partial(static_cast<std::size_t>(blocks.count));
    for_blocks(blocks, n_threads, [&](index_t block, index_t begin, index_t end) {
      partial[block] = plane_kernels::to_single(slope + begin, copy.get() + begin, end - begin);
    });
    double sum = 0.0;
    for (const double part : partial) sum += part;
    // The last factor covers the rounding of this very sum.
    error += std::sqrt(sum) * (1.0 + 1e-8);
    stored.floats = std::move(copy);
  } else {
    auto copy = std::make_shared_for_overwrite<double[]>(static_cast<std::size_t>(dimension_));
    prefer_large_pages(copy.get(), static_cast<std::size_t>(dimension_));
    std::copy_n(slope, dimension_, copy.get());
    stored.doubles = std::move(copy);
  }
  std::vector<double> found = products(stored, n_threads);
  if (std::isfinite(found.back()) && std::isfinite(error)) {
    slopes_.push_back(std::move(stored));
    errors_.push_back(error);
  }
  return found;
}

void Planes::copy(index_t i, double* out) const {
  const Slope& slope = slopes_[static_cast<std::size_t>(i)];
  if (single_) {
    std::copy_n(slope.floats.get(), dimension_, out);
  } else {
    std::copy_n(slope.doubles.get(), dimension_, out);
  }
}

double Planes::combine(std::span<const double> weights, double scale, double* out,
                       int n_threads) const {
  const auto add_planes = [&](index_t begin, index_t end) {
    std::fill(out + begin, out + end, 0.0);
    for (index_t i = 0; i < size(); ++i) {
      if (weights[i] == 0.0) continue;
      const Slope& slope = slopes_[static_cast<std::size_t>(i)];
      const double factor = scale * weights[i];
      if (single_) {
        plane_kernels::axpy(factor, slope.floats.get() + begin, out + begin, end - begin);
      } else {
        plane_kernels::axpy(factor, slope.doubles.get() + begin, out + begin, end - begin);
      }
    }
  };
  const auto used =
      static_cast<index_t>(weights.size()) - std::count(weights.begin(), weights.end(), 0.0);
  const int threads = useful_threads(n_threads, dimension_ * (used + 1));
  const Blocks blocks = blocks_of(dimension_);
  if (blocks.count == 1)  // short slopes, maybe many: threads share the only block
    for_blocks(make_blocks(dimension_, kStretch, 64), threads,
               [&](index_t, index_t begin, index_t end) { add_planes(begin, end); });
  std::vector<double> partial(static_cast<std::size_t>(blocks.count));
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    if (blocks.count > 1)
      for (index_t from = begin; from < end; from += kStretch)
        add_planes(from, std::min(from + kStretch, end));
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
      if (kept != i) {
        slopes_[kept] = std::move(slopes_[i]);
        errors_[kept] = errors_[i];
      }
      ++kept;
    }
  }
  slopes_.resize(static_cast<std::size_t>(kept));
  errors_.resize(static_cast<std::size_t>(kept));
}

}  // namespace cutplane
