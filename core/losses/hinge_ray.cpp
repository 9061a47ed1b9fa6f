// The hinge along a line of scores.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/losses/hinge_chunks.hpp"
#include "core/losses/ray_minimum.hpp"

namespace cutplane {
namespace {

using hinge::Chunk;
using hinge::kChunk;
using hinge::sum_chunks;
using hinge::sum_sample;

template <class Real>
CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_chunk(Chunk<Real> at, double h, double t) {
  const Real width = h, per_h = 1 / h, at_t = t, half = 0.5;
  Real value = 0, slope = 0, curvature = 0;
#pragma omp simd reduction(+ : value, slope, curvature)
  for (index_t k = 0; k < at.count; ++k) {
    const Real c = at.c[k];
    const Real direction = at.direction(k);
    const Real z = 1 - at.y[k] * (at.s[k] + at_t * direction);
    const Real raw = z * per_h + half;
    const Real above = raw > 0 ? raw : 0;
    const Real pi = above < 1 ? above : 1;
    const Real kink = raw == pi ? c * per_h : 0;
    // pi z + ½ h pi (1 - pi) is ½ h pi² on the kink (there z = h (pi - ½)), z beyond it and 0
    // before it.
    value += c * pi * (z + half * width * (1 - pi));
    slope -= c * pi * at.y[k] * direction;
    curvature += kink * direction * direction;
  }
  return {value, slope, curvature};
}

template <class Real>
CUTPLANE_MULTIVERSION Sums<3> exact_ray_chunk(Chunk<Real> at, double t) {
  const Real at_t = t;
  Real value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
  for (index_t k = 0; k < at.count; ++k) {
    const Real fall = at.y[k] * at.direction(k);
    const Real z = 1 - at.y[k] * at.s[k] - at_t * fall;
    // Exactly on its kink, an example counts for the slope to the right only if it moves
    // beyond it.
    const Real weight = at.c[k];
    const Real c = z > 0 ? weight : 0;
    const Real entering = fall < 0 ? weight : 0;
    const Real touching = z == 0 ? entering : 0;
    value += c * z;
    slope -= (c + touching) * fall;
  }
  return {value, slope, 0.0};
}

// Whether an example counts for the slope at t: strictly beyond its kink. On the kink itself any
// weight would do.
template <class Real>
CUTPLANE_INLINE bool counts(Real z, Real fall, Real t) {
  return z - t * fall > 0;
}

// Slopes of the risk at each probe.
template <class Real>
CUTPLANE_MULTIVERSION Sums<kProbes> probe_chunk(Chunk<Real> at, const double* probes) {
  // Written out: eight sums that stay in registers.
  const Real t0 = probes[0], t1 = probes[1], t2 = probes[2], t3 = probes[3];
  const Real t4 = probes[4], t5 = probes[5], t6 = probes[6], t7 = probes[7];
  Real g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0;
#pragma omp simd reduction(- : g0, g1, g2, g3, g4, g5, g6, g7)
  for (index_t k = 0; k < at.count; ++k) {
    const Real fall = at.y[k] * at.direction(k);
    const Real z = 1 - at.y[k] * at.s[k];
    const Real slope = at.c[k] * fall;
    g0 -= counts(z, fall, t0) ? slope : 0;
    g1 -= counts(z, fall, t1) ? slope : 0;
    g2 -= counts(z, fall, t2) ? slope : 0;
    g3 -= counts(z, fall, t3) ? slope : 0;
    g4 -= counts(z, fall, t4) ? slope : 0;
    g5 -= counts(z, fall, t5) ? slope : 0;
    g6 -= counts(z, fall, t6) ? slope : 0;
    g7 -= counts(z, fall, t7) ? slope : 0;
  }
  return {g0, g1, g2, g3, g4, g5, g6, g7};
}

// Of the examples at the beginning, the squared slopes at t.
template <class Real>
CUTPLANE_MULTIVERSION Sums<1> square_chunk(Chunk<Real> at, double t) {
  const Real at_t = t;
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t k = 0; k < at.count; ++k) {
    const Real fall = at.y[k] * at.direction(k);
    const Real slope = at.c[k] * fall;
    sum += counts(1 - at.y[k] * at.s[k], fall, at_t) ? slope * slope : 0;
  }
  return {sum};
}

// Which of a chunk are marked, written to `found`; how many. Few are: groups of eight are looked at
// first, and what is found is written everywhere and kept where it counts, so that there is no
// branch to mispredict.
template <class Mark>
CUTPLANE_INLINE index_t find_marked(const Mark* __restrict marks, std::int32_t* __restrict found) {
  constexpr index_t kGroups = kChunk / 8;
  Mark any[kGroups] = {};
  // A group is eight far apart: it is looked at without exchange within vectors.
  for (index_t k = 0; k < kChunk; k += kGroups) {
#pragma omp simd
    for (index_t g = 0; g < kGroups; ++g) any[g] |= marks[k + g];
  }
  std::int32_t groups[kGroups];
  index_t count = 0, hits = 0;
  for (index_t g = 0; g < kGroups; ++g) {
    groups[count] = static_cast<std::int32_t>(g);
    count += any[g];
  }
  for (index_t j = 0; j < count; ++j) {
    for (index_t k = 0; k < kChunk; k += kGroups) {
      found[hits] = static_cast<std::int32_t>(groups[j] + k);
      hits += marks[groups[j] + k];
    }
  }
  return hits;
}

// The breakpoints between low and high: of the examples that count at one end and not at the other.
// A chunk is marked first, as a whole. Also the slopes of the risk at both ends.
template <class Real>
CUTPLANE_MULTIVERSION Sums<2> collect_chunk(Chunk<Real> at, double low, double high,
                                            std::vector<Breakpoint>& out) {
  // As wide as the scores: one vector of marks to one of those.
  using Mark = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  const Real at_low = low, at_high = high;
  Mark marks[kChunk];
  std::int32_t found[kChunk];
  double places[kChunk], jumps[kChunk];
  Real slope_low = 0, slope_high = 0;
#pragma omp simd reduction(- : slope_low, slope_high)
  for (index_t k = 0; k < at.count; ++k) {
    const Real fall = at.y[k] * at.direction(k);
    const Real z = 1 - at.y[k] * at.s[k];
    const Real slope = at.c[k] * fall;
    slope_low -= counts(z, fall, at_low) ? slope : 0;
    slope_high -= counts(z, fall, at_high) ? slope : 0;
    marks[k] = counts(z, fall, at_low) != counts(z, fall, at_high) ? 1 : 0;
  }
  for (index_t k = at.count; k < kChunk; ++k) marks[k] = 0;
  const index_t hits = find_marked(marks, found);
#pragma omp simd
  for (index_t j = 0; j < hits; ++j) {
    const index_t k = found[j];
    const double fall = at.y[k] * at.direction(k);
    places[j] = (1.0 - at.y[k] * at.s[k]) / fall;
    jumps[j] = at.c[k] * std::abs(fall);
  }
  for (index_t j = 0; j < hits; ++j)
    add_breakpoint(out, {std::clamp(places[j], low, high), jumps[j]});
  return {slope_low, slope_high};
}

template <class Real>
double minimum(const HingeSample& sample, const ScoreLine& line, double quadratic, double linear,
               double C, double from, int n_threads) {
  const auto slopes = [&](const double* probes, index_t part) {
    return sum_sample<Real, kProbes>(
        sample, line, n_threads, [&](const auto& at) { return probe_chunk(at, probes); }, part);
  };
  const auto sweep = [&](double low, double high) {
    return collect_breakpoints(
        sample.n, n_threads, [&](index_t begin, index_t end, std::vector<Breakpoint>& out) {
          return sum_chunks<Real, 2>(sample, line, begin, end, [&](const auto& at) {
            return collect_chunk(at, low, high, out);
          });
        });
  };
  const auto squared_slopes = [&](double t, index_t part) {
    return sum_sample<Real, 1>(
        sample, line, n_threads, [&](const auto& at) { return square_chunk(at, t); }, part)[0];
  };
  return ray_minimum({sample.n, slopes, sweep, squared_slopes}, quadratic, linear, C, from);
}

template <class Real>
RayDerivatives derivatives(const HingeSample& sample, const ScoreLine& line, double h, double t,
                           int n_threads) {
  const auto sums = sum_sample<Real, 3>(sample, line, n_threads, [&](const auto& at) {
    return h > 0.0 ? smoothed_ray_chunk(at, h, t) : exact_ray_chunk(at, t);
  });
  return {sums[0], sums[1], sums[2]};
}

}  // namespace

RayDerivatives hinge_ray(const HingeSample& sample, const ScoreLine& line, double h, double t,
                         int n_threads) {
  return line.s.singles ? derivatives<float>(sample, line, h, t, n_threads)
                        : derivatives<double>(sample, line, h, t, n_threads);
}

double hinge_ray_minimum(const HingeSample& sample, const ScoreLine& line, double quadratic,
                         double linear, double C, double from, int n_threads) {
  return (line.s.singles ? minimum<float> : minimum<double>)(sample, line, quadratic, linear, C,
                                                             from, n_threads);
}

}  // namespace cutplane
