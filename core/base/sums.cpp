#include "core/base/sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

constexpr index_t kGroup = 64;
constexpr index_t kBlock = 16384, kMostBlocks = 256;

// Adds up without losing what each sum rounds (Neumaier).
struct Compensated {
  double sum = 0.0, lost = 0.0;

  void add(double x) {
    const double next = sum + x;
    lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  // What is lost of an infinite sum is no number.
  double total() const { return std::isfinite(sum) ? sum + lost : sum; }
};

template <std::size_t N>
using Sums = std::array<double, N>;

CUTPLANE_MULTIVERSION Sums<2> sides_of_few(const double* a, index_t n) {
  double up = 0.0, down = 0.0;
#pragma omp simd reduction(+ : up, down)
  for (index_t i = 0; i < n; ++i) {
    up += a[i] > 0.0 ? a[i] : 0.0;
    down += a[i] < 0.0 ? a[i] : 0.0;
  }
  return {up, down};
}

CUTPLANE_MULTIVERSION Sums<1> square_of_few(const double* a, double factor, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) {
    const double x = factor * a[i];
    sum += x * x;
  }
  return {sum};
}

CUTPLANE_MULTIVERSION Sums<1> square_of_few_sums(const double* a, const double* b, double factor,
                                                 index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) {
    const double x = a[i] + factor * b[i];
    sum += x * x;
  }
  return {sum};
}

CUTPLANE_MULTIVERSION Sums<1> sized_few(const double* sizes, const double* w, index_t n,
                                        index_t each) {
  double sum = 0.0;
  if (each == 1) {
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < n; ++j) sum += sizes[j] * std::abs(w[j]);
    return {sum};
  }
  for (index_t j = 0; j < n; ++j) {
    double one = 0.0;
#pragma omp simd reduction(+ : one)
    for (index_t k = 0; k < each; ++k) one += std::abs(w[j * each + k]);
    sum += sizes[j] * one;
  }
  return {sum};
}

// few(begin, count) for groups of all n items, each `work` numbers, added up.
template <std::size_t N, class Few>
Sums<N> in_groups(index_t n, index_t group, index_t work, int n_threads, Few&& few) {
  const Blocks blocks = make_blocks(n, std::max(kBlock / work, index_t{1}), kMostBlocks);
  std::vector<Sums<N>> partial(blocks.count);
  const auto totals = [](const std::array<Compensated, N>& sums) {
    Sums<N> found;
    for (std::size_t k = 0; k < N; ++k) found[k] = sums[k].total();
    return found;
  };
  for_blocks(blocks, useful_threads(n_threads, n * work),
             [&](index_t b, index_t begin, index_t end) {
               std::array<Compensated, N> sums;
               for (index_t i = begin; i < end; i += group) {
                 const Sums<N> found = few(i, std::min(group, end - i));
                 for (std::size_t k = 0; k < N; ++k) sums[k].add(found[k]);
               }
               partial[b] = totals(sums);
             });
  std::array<Compensated, N> sums;
  for (const Sums<N>& each : partial)
    for (std::size_t k = 0; k < N; ++k) sums[k].add(each[k]);
  return totals(sums);
}

}  // namespace

Sides sides(const double* a, index_t n, int n_threads) {
  const auto [positive, negative] =
      in_groups<2>(n, kGroup, 1, n_threads,
                   [a](index_t i, index_t count) { return sides_of_few(a + i, count); });
  return {positive, negative};
}

double square(const double* a, double factor, index_t n, int n_threads) {
  return in_groups<1>(n, kGroup, 1, n_threads, [=](index_t i, index_t count) {
    return square_of_few(a + i, factor, count);
  })[0];
}

double square_of_sum(const double* a, const double* b, double factor, index_t n, int n_threads) {
  return in_groups<1>(n, kGroup, 1, n_threads, [=](index_t i, index_t count) {
    return square_of_few_sums(a + i, b + i, factor, count);
  })[0];
}

double sized(const double* sizes, const double* w, index_t n, index_t each, int n_threads) {
  const index_t group = std::max(kGroup / each, index_t{1});
  return in_groups<1>(n, group, each, n_threads, [=](index_t j, index_t count) {
    return sized_few(sizes + j, w + j * each, count, each);
  })[0];
}

}  // namespace cutplane
