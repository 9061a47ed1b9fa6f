#include "core/base/vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
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

Blocks blocks_of(index_t n) { return make_blocks(n, 16384, 256); }

CUTPLANE_MULTIVERSION void mix_block(const double* a, const double* b, double t, double* out,
                                     index_t n) {
  if (t == 1.0) {  // from scores of 1e20 to those of 1, b would be lost
    std::copy(b, b + n, out);
    return;
  }
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] = a[i] + t * (b[i] - a[i]);
}

template <class S>
CUTPLANE_MULTIVERSION void move_block(const S* a, S* direction, double t, index_t n) {
  const S length = static_cast<S>(t);
#pragma omp simd
  for (index_t i = 0; i < n; ++i) direction[i] = a[i] + length * direction[i];
}

CUTPLANE_MULTIVERSION void scale_block(const double* a, double factor, double shift, double* out,
                                       index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] = factor * a[i] + shift;
}

CUTPLANE_MULTIVERSION index_t count_block(const double* a, index_t n) {
  index_t count = 0;
#pragma omp simd reduction(+ : count)
  for (index_t i = 0; i < n; ++i) count += a[i] != 0.0;
  return count;
}

CUTPLANE_MULTIVERSION void add_scaled(const float* a, double weight, double* out, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] += weight * static_cast<double>(a[i]);
}

CUTPLANE_MULTIVERSION double sum_block(const double* a, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += a[i];
  return sum;
}

CUTPLANE_MULTIVERSION double inner_block(const double* a, const double* b, index_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

CUTPLANE_MULTIVERSION void scale_sides(const double* a, double up, double down, double* out,
                                       index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) out[i] = a[i] * (a[i] > 0.0 ? up : down);
}

CUTPLANE_MULTIVERSION bool block_within(const std::int64_t* positions, index_t count, index_t n) {
  std::uint64_t largest = 0;  // one that is negative is the largest of all
#pragma omp simd reduction(max : largest)
  for (index_t i = 0; i < count; ++i)
    largest = std::max(largest, static_cast<std::uint64_t>(positions[i]));
  return count == 0 || largest < static_cast<std::uint64_t>(n);
}

CUTPLANE_MULTIVERSION Along along_block(const double* a, const double* b, index_t n) {
  double square = 0.0, slope = 0.0;
#pragma omp simd reduction(+ : square, slope)
  for (index_t i = 0; i < n; ++i) {
    const double step = b[i] - a[i];
    square += step * step;
    slope += a[i] * step;
  }
  return {square, slope};
}

// body(begin, end) for every block, added up in their order.
template <class Body>
double add_blocks(index_t n, int n_threads, Body&& body) {
  const Blocks blocks = blocks_of(n);
  std::vector<double> partial(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, n),
             [&](index_t k, index_t begin, index_t end) { partial[k] = body(begin, end); });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
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

void scale_and_shift(const double* a, double factor, double shift, double* out, index_t n,
                     int n_threads) {
  for_blocks(blocks_of(n), useful_threads(n_threads, n / 2),
             [&](index_t, index_t begin, index_t end) {
               scale_block(a + begin, factor, shift, out + begin, end - begin);
             });
}

void balance(const double* a, double* out, index_t n, int n_threads) {
  for (int round = 0; round < 2; ++round) {  // the second time for what rounding left
    const Sides found = sides(round == 0 ? a : out, n, n_threads);
    const double excess = found.positive + found.negative;
    const double up = excess > 0.0 ? -found.negative / found.positive : 1.0;
    const double down = excess < 0.0 ? -found.positive / found.negative : 1.0;
    for_blocks(blocks_of(n), useful_threads(n_threads, n),
               [&](index_t, index_t begin, index_t end) {
                 const double* from = round == 0 ? a : out;
                 scale_sides(from + begin, up, down, out + begin, end - begin);
               });
  }
}

bool all_within(const std::int64_t* positions, index_t count, index_t n, int n_threads) {
  const Blocks blocks = blocks_of(count);
  std::vector<char> good(blocks.count, 1);
  for_blocks(blocks, useful_threads(n_threads, count / 2),
             [&](index_t k, index_t begin, index_t end) {
               good[k] = block_within(positions + begin, end - begin, n);
             });
  return std::all_of(good.begin(), good.end(), [](char each) { return each != 0; });
}

std::vector<std::int64_t> nonzero(const double* a, index_t n, int n_threads) {
  const Blocks blocks = blocks_of(n);
  const int threads = useful_threads(n_threads, n / 2);
  std::vector<index_t> starts(blocks.count + 1, 0);
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    starts[block + 1] = count_block(a + begin, end - begin);
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::int64_t> found(starts.back());
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    index_t at = starts[block];
    for (index_t i = begin; i < end; ++i)
      if (a[i] != 0.0) found[at++] = i;
  });
  return found;
}

void mix(const double* a, const double* b, double t, double* out, index_t n, int n_threads) {
  for_blocks(blocks_of(n), useful_threads(n_threads, n), [&](index_t, index_t begin, index_t end) {
    mix_block(a + begin, b + begin, t, out + begin, end - begin);
  });
}

template <class S>
void move_along(const S* a, S* direction, double t, index_t n, int n_threads) {
  for_blocks(blocks_of(n), useful_threads(n_threads, n), [&](index_t, index_t begin, index_t end) {
    move_block(a + begin, direction + begin, t, end - begin);
  });
}
template void move_along(const float*, float*, double, index_t, int);
template void move_along(const double*, double*, double, index_t, int);

void combine(const float* const* vectors, const double* weights, index_t count, double* out,
             index_t n, int n_threads) {
  // A stretch of the sum stays in the first cache while all vectors are added to it.
  constexpr index_t kStretch = 2048;
  const index_t work = n * std::max<index_t>(count, 1);
  for_blocks(blocks_of(n), useful_threads(n_threads, work),
             [&](index_t, index_t begin, index_t end) {
               for (index_t from = begin; from < end; from += kStretch) {
                 const index_t size = std::min(kStretch, end - from);
                 std::fill_n(out + from, size, 0.0);
                 for (index_t k = 0; k < count; ++k)
                   add_scaled(vectors[k] + from, weights[k], out + from, size);
               }
             });
}

double sum(const double* a, index_t n, int n_threads) {
  return add_blocks(n, n_threads,
                    [&](index_t begin, index_t end) { return sum_block(a + begin, end - begin); });
}

double inner(const double* a, const double* b, index_t n, int n_threads) {
  return add_blocks(n, n_threads, [&](index_t begin, index_t end) {
    return inner_block(a + begin, b + begin, end - begin);
  });
}

Along along(const double* a, const double* b, index_t n, int n_threads) {
  const Blocks blocks = blocks_of(n);
  std::vector<Along> partial(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, n), [&](index_t k, index_t begin, index_t end) {
    partial[k] = along_block(a + begin, b + begin, end - begin);
  });
  Along sum{0.0, 0.0};
  for (const Along& part : partial) {
    sum.square += part.square;
    sum.slope += part.slope;
  }
  return sum;
}

}  // namespace cutplane
