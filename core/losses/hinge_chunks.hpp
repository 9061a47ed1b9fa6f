// The examples of a hinge as loops see them: chunks of arrays of one type of number.
#pragma once

#include <algorithm>

#include "core/base/multiversion.hpp"
#include "core/losses/hinge.hpp"

namespace cutplane::hinge {

inline constexpr index_t kChunk = 512;

// Examples begin to begin + count - 1. Weights that are all alike are an array, too, and all kinds
// of lines have one form: loops are compiled once.
template <class Real>
struct Chunk {
  index_t begin, count;
  const Real *y, *c, *s;
  // The direction is other - back * start; back is 0, or 1 on a line towards other.
  const Real *other, *start;
  Real back;

  CUTPLANE_INLINE Real direction(index_t k) const { return other[k] - back * start[k]; }
};

// Room for what does not lie in memory as Real.
template <class Real>
struct ChunkRoom {
  alignas(64) Real y[kChunk], c[kChunk], s[kChunk], other[kChunk];
};

// Weights that are all alike have to be in the room already.
template <class Real>
Chunk<Real> read_chunk(const HingeSample& sample, const ScoreLine& line, index_t begin,
                       index_t count, ChunkRoom<Real>& room);

// Sums over chunks, in order.
template <class Real, std::size_t N>
Sums<N> sum_chunks(const HingeSample& sample, const ScoreLine& line, index_t begin, index_t end,
                   FunctionView<Sums<N>(const Chunk<Real>& at)> body) {
  ChunkRoom<Real> room;
  if (!sample.c) std::fill_n(room.c, std::min(kChunk, end - begin), static_cast<Real>(sample.each));
  Sums<N> total{};
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    const Sums<N> part = body(read_chunk(sample, line, start, count, room));
    for (std::size_t k = 0; k < N; ++k) total[k] += part[k];
  }
  return total;
}

// Over 1 / part of the sample, by all threads.
template <class Real, std::size_t N>
Sums<N> sum_sample(const HingeSample& sample, const ScoreLine& line, int n_threads,
                   FunctionView<Sums<N>(const Chunk<Real>& at)> body, index_t part = 1) {
  return sum_examples<N>(
      sample.n, n_threads,
      [&](index_t begin, index_t end) {
        return sum_chunks<Real, N>(sample, line, begin, begin + (end - begin) / part, body);
      },
      part);
}

// Over examples begin to end - 1, whose coefficients are written to coef.
// The sums of ScoreCut, at s + mu times the direction.
Sums<2> cut_block(const HingeSample& sample, const ScoreLine& line, double mu, double* coef,
                  index_t begin, index_t end);
// The sums of SmoothedSums.
Sums<4> smoothed_block(const HingeSample& sample, AnyScores s, double h, double* coef,
                       index_t begin, index_t end);
void extrapolated_block(const HingeSample& sample, AnyScores s, double h, double reach,
                        double* coef, index_t begin, index_t end);

}  // namespace cutplane::hinge
