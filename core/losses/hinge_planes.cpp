#include "core/losses/hinge_planes.hpp"

#include <cmath>
#include <limits>

#include "core/losses/hinge_blocks.hpp"

namespace cutplane {
namespace {

using hinge::by_own_chunks;
using hinge::kChunk;
using hinge::with_examples;

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

// Writes where it reads: not by the pointers of Examples, which no one else points to.
template <class E>
CUTPLANE_MULTIVERSION Sums<1> move_block(E e, float* s, const float* ends, double step,
                                         index_t begin, index_t end) {
  const float at_step = static_cast<float>(step);
  Sums<1> total{};
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        float* here = s + (at.y - e.y);
        const float* there = ends + (at.y - e.y);
        float value = 0;
#pragma omp simd reduction(+ : value)
        for (index_t k = 0; k < count; ++k) {
          const float next = here[k] + at_step * (there[k] - here[k]);
          const float loss = 1 - labels[k] * next;
          here[k] = next;
          value += at.weight(k) * (loss > 0 ? loss : 0);
        }
        total[0] += value;
      });
  return total;
}

// The part of a sample from an example on.
HingeSample from(const HingeSample& sample, index_t begin, index_t end) {
  return {sample.y + begin, sample.c ? sample.c + begin : nullptr, sample.each, end - begin};
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

HingeCut hinge_cut_plane(const Matrix& matrix, const HingeSample& sample, const float* s,
                         const float* end, double mu, double* slope, int n_threads) {
  return hinge::with_kind<LineKind::kTowards>(
      sample, SingleLine{s, end, LineKind::kTowards}, [&](auto e) -> HingeCut {
        const PassSums sums = matrix.combine_made(
            [&](index_t begin, index_t stop, double* coef) {
              const Sums<2> part = hinge::cut_block(e, mu, coef, begin, stop);
              return PassSums{part[0], part[1]};
            },
            slope, n_threads);
        return {sums[0], sums[1]};
      });
}

template <class S>
SmoothedHinge hinge_smoothed_plane(const Matrix& matrix, const HingeSample& sample, const S* s,
                                   double h, double* slope, int n_threads) {
  return with_examples(sample, s, [&](auto e) -> SmoothedHinge {
    const PassSums sums = matrix.combine_made(
        [&](index_t begin, index_t end, double* coef) {
          return hinge::smoothed_block(e, h, coef, begin, end);
        },
        slope, n_threads);
    return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
  });
}

template <class S>
SmoothedHinge hinge_scored_plane(const Matrix& matrix, const HingeSample& sample, const double* w,
                                 const S* base, double h, S* out, double* slope, int n_threads) {
  const PassSums sums = matrix.combine_scored(
      w,
      [&](index_t begin, index_t end, const double* scores, double* coef) {
        const double large =
            place_scores(scores, base ? base + begin : nullptr, end - begin, out + begin);
        PassSums part = with_examples(
            from(sample, begin, end), out + begin,
            [&](auto e) -> PassSums { return hinge::smoothed_block(e, h, coef, 0, end - begin); });
        if (large > 0.0) part[0] = std::numeric_limits<double>::infinity();
        return part;
      },
      slope, n_threads);
  return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
}

void hinge_extrapolated_slope(const Matrix& matrix, const HingeSample& sample, const float* s,
                              double h, double reach, double* slope, int n_threads) {
  with_examples(sample, s, [&](auto e) {
    matrix.combine_made(
        [&](index_t begin, index_t end, double* coef) {
          hinge::extrapolated_block(e, h, reach, coef, begin, end);
          return PassSums{};
        },
        slope, n_threads);
  });
}

template <class S>
double hinge_rounding_error(const HingeSample& sample, const S* s, double h, int n_threads) {
  return with_examples(sample, s, [&](auto e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
      double coef[kChunk];  // not wanted
      Sums<1> error{};
      for (index_t start = begin; start < end; start += kChunk)
        error[0] += hinge::smoothed_block(e, h, coef, start, std::min(start + kChunk, end))[2];
      return error;
    })[0];
  });
}

double hinge_move(const HingeSample& sample, float* s, const float* end, double step,
                  int n_threads) {
  return with_examples(sample, s, [&](auto e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t stop) {
      return move_block(e, s, end, step, begin, stop);
    })[0];
  });
}

template SmoothedHinge hinge_smoothed_plane(const Matrix&, const HingeSample&, const float*, double,
                                            double*, int);
template SmoothedHinge hinge_smoothed_plane(const Matrix&, const HingeSample&, const double*,
                                            double, double*, int);
template SmoothedHinge hinge_scored_plane(const Matrix&, const HingeSample&, const double*,
                                          const float*, double, float*, double*, int);
template SmoothedHinge hinge_scored_plane(const Matrix&, const HingeSample&, const double*,
                                          const double*, double, double*, double*, int);
template double hinge_rounding_error(const HingeSample&, const float*, double, int);
template double hinge_rounding_error(const HingeSample&, const double*, double, int);

}  // namespace cutplane
