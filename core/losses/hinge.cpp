#include "core/losses/hinge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

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

namespace hinge {
namespace {

template <class Real>
alignas(64) constexpr std::array<Real, kChunk> kOnes = [] {
  std::array<Real, kChunk> ones{};
  ones.fill(1);
  return ones;
}();

template <class T, class Real>
CUTPLANE_INLINE void convert(const T* __restrict from, index_t count, Real* __restrict out) {
  for (index_t k = 0; k < count; ++k) out[k] = static_cast<Real>(from[k]);
}

// Numbers where they lie, if they are of this type already.
template <class Real>
CUTPLANE_INLINE const Real* read(const AnyScores& from, index_t begin, index_t count, Real* room) {
  if (const Real* there = from.as<Real>()) return there + begin;
  if (from.singles) {
    convert(from.singles + begin, count, room);
  } else {
    convert(from.doubles + begin, count, room);
  }
  return room;
}

}  // namespace

template <class Real>
CUTPLANE_MULTIVERSION Chunk<Real> read_chunk(const HingeSample& sample, const ScoreLine& line,
                                             index_t begin, index_t count, ChunkRoom<Real>& room) {
  const Real* scores = read<Real>(line.s, begin, count, room.s);
  Chunk<Real> at{begin, count, room.y, room.c, scores, kOnes<Real>.data(), room.y, 0};
  convert(sample.y + begin, count, room.y);
  if (sample.c) at.c = read<Real>(sample.c, begin, count, room.c);
  if (line.kind == LineKind::kConstant) return at;
  at.other = read<Real>(line.other, begin, count, room.other);
  if (line.kind == LineKind::kTowards) {
    at.start = scores;
    at.back = 1;
  }
  return at;
}
template Chunk<double> read_chunk(const HingeSample&, const ScoreLine&, index_t, index_t,
                                  ChunkRoom<double>&);
template Chunk<float> read_chunk(const HingeSample&, const ScoreLine&, index_t, index_t,
                                 ChunkRoom<float>&);

namespace {

CUTPLANE_MULTIVERSION Sums<1> value_chunk(Chunk<double> at) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (index_t k = 0; k < at.count; ++k) {
    const double z = 1.0 - at.y[k] * at.s[k];
    value += at.c[k] * (z > 0.0 ? z : 0.0);
  }
  return {value};
}

// coef, here and below: of the examples of the chunk.
CUTPLANE_MULTIVERSION Sums<2> cut_chunk(Chunk<double> at, double mu, double* __restrict coef) {
  double value = 0, offset = 0;
#pragma omp simd reduction(+ : value, offset)
  for (index_t k = 0; k < at.count; ++k) {
    const double c = at.c[k];
    const double z = 1.0 - at.y[k] * (at.s[k] + mu * at.direction(k));
    const double active = z >= 0.0 ? c : 0.0;
    value += active * z;
    offset += active;
    coef[k] = -at.y[k] * active;
  }
  return {value, offset};
}

CUTPLANE_MULTIVERSION Sums<4> smoothed_chunk(Chunk<double> at, double h, double* __restrict coef) {
  const double per_h = 1.0 / h;
  double value = 0, offset = 0, error = 0, kinks = 0;
#pragma omp simd reduction(+ : value, offset, error, kinks)
  for (index_t k = 0; k < at.count; ++k) {
    const double c = at.c[k];
    const double z = 1.0 - at.y[k] * at.s[k];
    const double raw = z * per_h + 0.5;
    const double above = raw > 0.0 ? raw : 0.0;
    const double pi = above < 1.0 ? above : 1.0;
    const double hinge = z > 0.0 ? z : 0.0;
    value += c * hinge;
    offset += c * pi;
    error += c * (hinge - pi * z);
    kinks += raw == pi ? 1.0 : 0.0;
    coef[k] = -at.y[k] * c * pi;
  }
  return {value, offset, error, kinks};
}

CUTPLANE_MULTIVERSION void extrapolated_chunk(Chunk<double> at, double h, double reach,
                                              double* __restrict coef) {
  const double per_h = 1.0 / h;
  const double half = 0.5 * reach;
#pragma omp simd
  for (index_t k = 0; k < at.count; ++k) {
    const double z = 1.0 - at.y[k] * at.s[k];
    const double beyond = z > 0.0 ? 1.0 : 0.0;
    const double inside = z * per_h + 0.5;
    const double pi = std::abs(z) <= half ? inside : beyond;
    coef[k] = -at.y[k] * at.c[k] * pi;
  }
}

CUTPLANE_MULTIVERSION Sums<1> count_kinks(Chunk<double> at, double half) {
  double near = 0;
#pragma omp simd reduction(+ : near)
  for (index_t k = 0; k < at.count; ++k)
    near += std::abs(1.0 - at.y[k] * at.s[k]) <= half ? 1.0 : 0.0;
  return {near};
}

// Writes the positions of the examples on kinks, in order; returns where the next goes.
CUTPLANE_MULTIVERSION std::int64_t* list_kinks(Chunk<double> at, double half, std::int64_t* place) {
  // Eight marks are looked at together: mostly none of them is set.
  static_assert(std::endian::native == std::endian::little);
  alignas(8) std::uint8_t marks[kChunk];
  for (index_t k = 0; k < at.count; ++k) marks[k] = std::abs(1.0 - at.y[k] * at.s[k]) <= half;
  std::fill(marks + at.count, marks + (at.count + 7) / 8 * 8, std::uint8_t{0});
  for (index_t k = 0; k < at.count; k += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, marks + k, sizeof eight);
    for (; eight != 0; eight &= eight - 1) *place++ = at.begin + k + std::countr_zero(eight) / 8;
  }
  return place;
}

// Writes where it reads: to the scores of the chunk and their ends.
CUTPLANE_MULTIVERSION Sums<3> advance_chunk(Chunk<double> at, double* here, double* there,
                                            double step, double mu) {
  double value = 0, cut_value = 0, offset = 0;
#pragma omp simd reduction(+ : value, cut_value, offset)
  for (index_t k = 0; k < at.count; ++k) {
    const double c = at.c[k];
    const double next = here[k] + step * (there[k] - here[k]);
    const double loss = 1.0 - at.y[k] * next;
    const double z = 1.0 - at.y[k] * (next + mu * (there[k] - next));
    const double active = z >= 0.0 ? c : 0.0;
    here[k] = next;
    there[k] = -at.y[k] * active;
    value += c * (loss > 0.0 ? loss : 0.0);
    cut_value += active * z;
    offset += active;
  }
  return {value, cut_value, offset};
}

CUTPLANE_MULTIVERSION Sums<1> move_chunk(Chunk<float> at, float* here, const float* there,
                                         float step) {
  float value = 0;
#pragma omp simd reduction(+ : value)
  for (index_t k = 0; k < at.count; ++k) {
    const float next = here[k] + step * (there[k] - here[k]);
    const float loss = 1 - at.y[k] * next;
    here[k] = next;
    value += at.c[k] * (loss > 0 ? loss : 0);
  }
  return {value};
}

CUTPLANE_MULTIVERSION double signed_sum(const double* coef, const std::int8_t* y, index_t begin,
                                        index_t end) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = begin; i < end; ++i) sum += coef[i] * y[i];
  return sum;
}

}  // namespace

Sums<2> cut_block(const HingeSample& sample, const ScoreLine& line, double mu, double* coef,
                  index_t begin, index_t end) {
  return sum_chunks<double, 2>(sample, line, begin, end, [&](const Chunk<double>& at) {
    return cut_chunk(at, mu, coef + (at.begin - begin));
  });
}

Sums<4> smoothed_block(const HingeSample& sample, AnyScores s, double h, double* coef,
                       index_t begin, index_t end) {
  return sum_chunks<double, 4>(sample, {s}, begin, end, [&](const Chunk<double>& at) {
    return smoothed_chunk(at, h, coef + (at.begin - begin));
  });
}

void extrapolated_block(const HingeSample& sample, AnyScores s, double h, double reach,
                        double* coef, index_t begin, index_t end) {
  sum_chunks<double, 0>(sample, {s}, begin, end, [&](const Chunk<double>& at) {
    extrapolated_chunk(at, h, reach, coef + (at.begin - begin));
    return Sums<0>{};
  });
}

}  // namespace hinge

using hinge::Chunk;

double hinge_value(const HingeSample& sample, AnyScores s, int n_threads) {
  return hinge::sum_sample<double, 1>(
      sample, {s}, n_threads, [](const Chunk<double>& at) { return hinge::value_chunk(at); })[0];
}

ScoreCut hinge_cut(const HingeSample& sample, const double* s, double* coef, int n_threads) {
  const auto sums = sum_examples<2>(sample.n, n_threads, [&](index_t begin, index_t end) {
    return hinge::cut_block(sample, {s}, 0.0, coef + begin, begin, end);
  });
  return {sums[0], sums[1]};
}

ScoreCut hinge_balanced_cut(const HingeSample& sample, const double* s, double width, double* coef,
                            int n_threads) {
  auto weight = [&](index_t i) { return sample.c ? sample.c[i] : sample.each; };
  // Weights of the examples beyond the kink and on it, by side: {value, beyond+, beyond-, on+,
  // on-}.
  const auto sums = sum_examples<5>(sample.n, n_threads, [&](index_t begin, index_t end) {
    Sums<5> sum{};
    for (index_t i = begin; i < end; ++i) {
      const double c = weight(i);
      const double z = 1.0 - sample.y[i] * s[i];
      const bool positive = sample.y[i] > 0;
      if (z > width) {
        sum[positive ? 1 : 2] += c;
      } else if (z >= -width) {
        sum[positive ? 3 : 4] += c;
      }
      sum[0] += c * std::max(z, 0.0);
    }
    return sum;
  });
  const double excess = sums[1] - sums[2];  // of the positive side, beyond the kink
  double beyond_positive = 1, beyond_negative = 1, on_positive = 0, on_negative = 0;
  if (excess > 0.0) {
    on_negative = sums[4] > 0.0 ? std::min(1.0, excess / sums[4]) : 0.0;
    beyond_positive = (sums[2] + on_negative * sums[4]) / sums[1];
  } else if (excess < 0.0) {
    on_positive = sums[3] > 0.0 ? std::min(1.0, -excess / sums[3]) : 0.0;
    beyond_negative = (sums[1] + on_positive * sums[3]) / sums[2];
  }
  const auto offset = sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
    Sums<1> sum{};
    for (index_t i = begin; i < end; ++i) {
      const double z = 1.0 - sample.y[i] * s[i];
      const bool positive = sample.y[i] > 0;
      double pi = 0;
      if (z > width) {
        pi = positive ? beyond_positive : beyond_negative;
      } else if (z >= -width) {
        pi = positive ? on_positive : on_negative;
      }
      const double active = pi * weight(i);
      sum[0] += active;
      coef[i] = -sample.y[i] * active;
    }
    return sum;
  });
  return {sums[0], offset[0]};
}

SmoothedSums hinge_smoothed(const HingeSample& sample, const double* s, double h, double* coef,
                            int n_threads) {
  const auto sums = sum_examples<4>(sample.n, n_threads, [&](index_t begin, index_t end) {
    return hinge::smoothed_block(sample, s, h, coef + begin, begin, end);
  });
  return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
}

double hinge_offset(const HingeSample& sample, const double* coef, int n_threads) {
  return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) -> Sums<1> {
    return {-hinge::signed_sum(coef, sample.y, begin, end)};
  })[0];
}

void hinge_extrapolated(const HingeSample& sample, const double* s, double h, double reach,
                        double* coef, int n_threads) {
  for_blocks(example_blocks(sample.n), useful_threads(n_threads, kWorkPerExample * sample.n),
             [&](index_t, index_t begin, index_t end) {
               hinge::extrapolated_block(sample, s, h, reach, coef + begin, begin, end);
             });
}

void hinge_kinks(const HingeSample& sample, AnyScores s, double h, std::vector<std::int64_t>& rows,
                 std::vector<double>& weights, int n_threads) {
  const double half = 0.5 * h;
  const Blocks blocks = example_blocks(sample.n);
  const int threads = useful_threads(n_threads, kWorkPerExample * sample.n);
  // Counted before they are listed: no more memory than the list takes. Labels are -1 or +1, so
  // that both times z is the same to the bit, whatever instructions compute it.
  std::vector<index_t> starts(blocks.count + 1, 0);
  for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
    const auto counts = hinge::sum_chunks<double, 1>(
        sample, {s}, begin, end,
        [&](const Chunk<double>& at) { return hinge::count_kinks(at, half); });
    starts[b + 1] = static_cast<index_t>(counts[0]);
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  rows.resize(starts.back());
  weights.resize(starts.back());
  for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
    std::int64_t* place = rows.data() + starts[b];
    hinge::sum_chunks<double, 0>(sample, {s}, begin, end, [&](const Chunk<double>& at) {
      place = hinge::list_kinks(at, half, place);
      return Sums<0>{};
    });
    for (index_t k = starts[b]; k < starts[b + 1]; ++k)
      weights[k] = sample.c ? sample.c[rows[k]] : sample.each;
  });
}

HingeAdvance hinge_advance(const HingeSample& sample, double* s, double* end, double step,
                           double mu, int n_threads) {
  const auto sums =
      hinge::sum_sample<double, 3>(sample, {s}, n_threads, [&](const Chunk<double>& at) {
        return hinge::advance_chunk(at, s + at.begin, end + at.begin, step, mu);
      });
  return {sums[0], {sums[1], sums[2]}};
}

double hinge_move(const HingeSample& sample, float* s, const float* end, double step,
                  int n_threads) {
  return hinge::sum_sample<float, 1>(sample, {s}, n_threads, [&](const Chunk<float>& at) {
    return hinge::move_chunk(at, s + at.begin, end + at.begin, static_cast<float>(step));
  })[0];
}

double hinge_rounding_error(const HingeSample& sample, AnyScores s, double h, int n_threads) {
  return hinge::sum_sample<double, 1>(sample, {s}, n_threads, [&](const Chunk<double>& at) {
    double coef[hinge::kChunk];  // not wanted
    return Sums<1>{hinge::smoothed_chunk(at, h, coef)[2]};
  })[0];
}

}  // namespace cutplane
