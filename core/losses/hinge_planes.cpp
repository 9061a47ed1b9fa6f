#include "core/losses/hinge_planes.hpp"

#include <cmath>
#include <limits>

#include "core/losses/hinge_chunks.hpp"

namespace cutplane {
namespace {

// Beyond, differences and products of scores would soon be no numbers.
constexpr double kLargestSingle = 1e30;

// Rounds base + from, or from without a base; returns how many are too large.
template <class S>
CUTPLANE_MULTIVERSION double place_scores(const double* from, const S* base, index_t count,
                                          S* __restrict out) {
  double large = 0;
  if (base) {
#pragma omp simd
    for (index_t k = 0; k < count; ++k)
      out[k] = static_cast<S>(static_cast<double>(base[k]) + from[k]);
  } else {
#pragma omp simd
    for (index_t k = 0; k < count; ++k) out[k] = static_cast<S>(from[k]);
  }
  if constexpr (sizeof(S) < sizeof(double)) {
#pragma omp simd reduction(+ : large)
    for (index_t k = 0; k < count; ++k) large += std::abs(out[k]) <= kLargestSingle ? 0.0 : 1.0;
  }
  return large;
}

}  // namespace

bool single_scores(const Matrix& matrix, const double* w, float* out, int n_threads) {
  return matrix.read_scores(
             w,
             [&](index_t begin, index_t end, const double* scores) {
               return PassSums{place_scores<float>(scores, nullptr, end - begin, out + begin)};
             },
             n_threads)[0] == 0.0;
}

ScoreCut hinge_cut_plane(const Matrix& matrix, const HingeSample& sample, const float* s,
                         const float* end, double mu, double* slope, int n_threads) {
  const ScoreLine line{s, end, LineKind::kTowards};
  const PassSums sums = matrix.combine_made(
      [&](index_t begin, index_t stop, double* coef) {
        const Sums<2> part = hinge::cut_block(sample, line, mu, coef, begin, stop);
        return PassSums{part[0], part[1]};
      },
      slope, n_threads);
  return {sums[0], sums[1]};
}

SmoothedSums hinge_smoothed_plane(const Matrix& matrix, const HingeSample& sample, AnyScores s,
                                  double h, double* slope, int n_threads) {
  const PassSums sums = matrix.combine_made(
      [&](index_t begin, index_t end, double* coef) {
        return hinge::smoothed_block(sample, s, h, coef, begin, end);
      },
      slope, n_threads);
  return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
}

template <class S>
SmoothedSums hinge_scored_plane(const Matrix& matrix, const HingeSample& sample, const double* w,
                                const S* base, double h, S* out, double* slope, int n_threads) {
  const PassSums sums = matrix.combine_scored(
      w,
      [&](index_t begin, index_t end, const double* scores, double* coef) {
        const double large =
            place_scores(scores, base ? base + begin : nullptr, end - begin, out + begin);
        PassSums part = hinge::smoothed_block(sample, out, h, coef, begin, end);
        if (large > 0.0) part[0] = std::numeric_limits<double>::infinity();
        return part;
      },
      slope, n_threads);
  return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
}

void hinge_extrapolated_slope(const Matrix& matrix, const HingeSample& sample, const float* s,
                              double h, double reach, double* slope, int n_threads) {
  matrix.combine_made(
      [&](index_t begin, index_t end, double* coef) {
        hinge::extrapolated_block(sample, s, h, reach, coef, begin, end);
        return PassSums{};
      },
      slope, n_threads);
}

template SmoothedSums hinge_scored_plane(const Matrix&, const HingeSample&, const double*,
                                         const float*, double, float*, double*, int);
template SmoothedSums hinge_scored_plane(const Matrix&, const HingeSample&, const double*,
                                         const double*, double, double*, double*, int);

}  // namespace cutplane
