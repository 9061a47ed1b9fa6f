// The hinge along a line of scores.
#include <array>
#include <cmath>
#include <type_traits>

#include "core/losses/hinge_examples.hpp"
#include "core/losses/ray_minimum.hpp"

namespace cutplane {
namespace {

using hinge::by_own_chunks;
using hinge::kChunk;
using hinge::with_examples;

template <class E>
CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_block(E e, double h, double t, index_t begin,
                                                 index_t end) {
  using Real = typename E::Real;
  const Real width = h, per_h = 1 / h, at_t = t, half = 0.5;
  Sums<3> total{};
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        Real value = 0, slope = 0, curvature = 0;
#pragma omp simd reduction(+ : value, slope, curvature)
        for (index_t k = 0; k < count; ++k) {
          const Real c = at.weight(k);
          const Real direction = at.direction(k);
          const Real z = 1 - labels[k] * (at.s[k] + at_t * direction);
          const Real raw = z * per_h + half;
          const Real above = raw > 0 ? raw : 0;
          const Real pi = above < 1 ? above : 1;
          const Real kink = raw == pi ? c * per_h : 0;
          // pi z + ½ h pi (1 - pi) is ½ h pi² on the kink (there z = h (pi - ½)), z beyond it and 0
          // before it.
          value += c * pi * (z + half * width * (1 - pi));
          slope -= c * pi * labels[k] * direction;
          curvature += kink * direction * direction;
        }
        total[0] += value;
        total[1] += slope;
        total[2] += curvature;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> exact_ray_block(E e, double t, index_t begin, index_t end) {
  using Real = typename E::Real;
  const Real at_t = t;
  Sums<3> total{};
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        Real value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
        for (index_t k = 0; k < count; ++k) {
          const Real fall = labels[k] * at.direction(k);
          const Real z = 1 - labels[k] * at.s[k] - at_t * fall;
          // Exactly on its kink, an example counts for the slope to the right only if it moves
          // beyond it.
          const Real weight = at.weight(k);
          const Real c = z > 0 ? weight : 0;
          const Real entering = fall < 0 ? weight : 0;
          const Real touching = z == 0 ? entering : 0;
          value += c * z;
          slope -= (c + touching) * fall;
        }
        total[0] += value;
        total[1] += slope;
      });
  return total;
}

// Whether an example counts for the slope at t: strictly beyond its kink. On the kink itself any
// weight would do.
template <class Real>
CUTPLANE_INLINE bool counts(Real z, Real fall, Real t) {
  return z - t * fall > 0;
}

// Slopes of the risk at each probe.
template <class E>
CUTPLANE_MULTIVERSION Sums<kProbes> probe_block(E e, const double* probes, index_t begin,
                                                index_t end) {
  // Written out: eight sums that stay in registers.
  using Real = typename E::Real;
  const Real t0 = probes[0], t1 = probes[1], t2 = probes[2], t3 = probes[3];
  const Real t4 = probes[4], t5 = probes[5], t6 = probes[6], t7 = probes[7];
  Sums<kProbes> total{};
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        Real g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0;
#pragma omp simd reduction(- : g0, g1, g2, g3, g4, g5, g6, g7)
        for (index_t k = 0; k < count; ++k) {
          const Real fall = labels[k] * at.direction(k);
          const Real z = 1 - labels[k] * at.s[k];
          const Real slope = at.weight(k) * fall;
          g0 -= counts(z, fall, t0) ? slope : 0;
          g1 -= counts(z, fall, t1) ? slope : 0;
          g2 -= counts(z, fall, t2) ? slope : 0;
          g3 -= counts(z, fall, t3) ? slope : 0;
          g4 -= counts(z, fall, t4) ? slope : 0;
          g5 -= counts(z, fall, t5) ? slope : 0;
          g6 -= counts(z, fall, t6) ? slope : 0;
          g7 -= counts(z, fall, t7) ? slope : 0;
        }
        const Real part[kProbes] = {g0, g1, g2, g3, g4, g5, g6, g7};
        for (int p = 0; p < kProbes; ++p) total[p] += part[p];
      });
  return total;
}

// Of the examples at the beginning, the squared slopes at t.
template <class E>
CUTPLANE_MULTIVERSION Sums<1> square_block(E e, double t, index_t begin, index_t end) {
  using Real = typename E::Real;
  const Real at_t = t;
  Sums<1> total{};
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        Real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (index_t k = 0; k < count; ++k) {
          const Real fall = labels[k] * at.direction(k);
          const Real slope = at.weight(k) * fall;
          sum += counts(1 - labels[k] * at.s[k], fall, at_t) ? slope * slope : 0;
        }
        total[0] += sum;
      });
  return total;
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
template <class E>
CUTPLANE_MULTIVERSION Sums<2> collect_block(E e, double low, double high, index_t begin,
                                            index_t end, std::vector<Breakpoint>& out) {
  using Real = typename E::Real;
  // As wide as the scores: one vector of marks to one of those.
  using Mark = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  const Real at_low = low, at_high = high;
  Sums<2> slopes{};
  Mark marks[kChunk];
  std::int32_t found[kChunk];
  double places[kChunk], jumps[kChunk];
  by_own_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        Real slope_low = 0, slope_high = 0;
#pragma omp simd reduction(- : slope_low, slope_high)
        for (index_t k = 0; k < count; ++k) {
          const Real fall = labels[k] * at.direction(k);
          const Real z = 1 - labels[k] * at.s[k];
          const Real slope = at.weight(k) * fall;
          slope_low -= counts(z, fall, at_low) ? slope : 0;
          slope_high -= counts(z, fall, at_high) ? slope : 0;
          marks[k] = counts(z, fall, at_low) != counts(z, fall, at_high) ? 1 : 0;
        }
        slopes[0] += slope_low;
        slopes[1] += slope_high;
        for (index_t k = count; k < kChunk; ++k) marks[k] = 0;
        const index_t hits = find_marked(marks, found);
#pragma omp simd
        for (index_t j = 0; j < hits; ++j) {
          const index_t k = found[j];
          const double fall = labels[k] * at.direction(k);
          places[j] = (1.0 - labels[k] * at.s[k]) / fall;
          jumps[j] = at.weight(k) * std::abs(fall);
        }
        for (index_t j = 0; j < hits; ++j)
          add_breakpoint(out, {std::clamp(places[j], low, high), jumps[j]});
      });
  return slopes;
}

}  // namespace

template <class S>
RayDerivatives hinge_ray(const HingeSample& sample, const LineOf<S>& line, double h, double t,
                         int n_threads) {
  return with_examples(sample, line, [&](auto e) -> RayDerivatives {
    const auto sums = sum_examples<3>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return h > 0.0 ? smoothed_ray_block(e, h, t, begin, end) : exact_ray_block(e, t, begin, end);
    });
    return {sums[0], sums[1], sums[2]};
  });
}

namespace {

template <class S>
struct HingeSweeps {
  const HingeSample& sample;
  const LineOf<S>& line;
  int n_threads;

  index_t size() const { return sample.n; }

  Sums<kProbes> slopes(const double* probes, index_t part) const {
    return with_examples(sample, line, [&](auto e) {
      return sum_examples<kProbes>(
          sample.n, n_threads,
          [&](index_t begin, index_t end) {
            return probe_block(e, probes, begin, begin + (end - begin) / part);
          },
          part);
    });
  }

  double squared_slopes(double t, index_t part) const {
    return with_examples(sample, line, [&](auto e) {
      return sum_examples<1>(
          sample.n, n_threads,
          [&](index_t begin, index_t end) {
            return square_block(e, t, begin, begin + (end - begin) / part);
          },
          part)[0];
    });
  }

  BreakpointSweep sweep(double low, double high) const {
    const Blocks blocks = example_blocks(sample.n);
    std::vector<Sums<2>> slopes(blocks.count);
    return with_examples(sample, line, [&](auto e) {
      BreakpointSweep found{};
      found.parts =
          collect_parts(sample.n, n_threads,
                        [&](index_t b, index_t begin, index_t end, std::vector<Breakpoint>& out) {
                          slopes[b] = collect_block(e, low, high, begin, end, out);
                        });
      for (const Sums<2>& each : slopes) {
        found.slope_low += each[0];
        found.slope_high += each[1];
      }
      return found;
    });
  }

  std::vector<Breakpoint> breakpoints(double low, double high) const {
    return in_order(sweep(low, high).parts);
  }
};

}  // namespace

template <class S>
double hinge_ray_minimum(const HingeSample& sample, const LineOf<S>& line, double quadratic,
                         double linear, double C, double from, int n_threads) {
  const HingeSweeps<S> sweeps{sample, line, n_threads};
  return RayMinimum(sweeps, quadratic, linear, C).find(from);
}

template RayDerivatives hinge_ray(const HingeSample&, const ScoreLine&, double, double, int);
template RayDerivatives hinge_ray(const HingeSample&, const SingleLine&, double, double, int);
template double hinge_ray_minimum(const HingeSample&, const ScoreLine&, double, double, double,
                                  double, int);
template double hinge_ray_minimum(const HingeSample&, const SingleLine&, double, double, double,
                                  double, int);

}  // namespace cutplane
