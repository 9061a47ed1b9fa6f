#include "core/hinge.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/multiversion.hpp"
#include "core/ray_minimum.hpp"

namespace cutplane {
namespace {

using Kind = ScoreLine::Kind;

// The arrays of a sample and a line, with what is constant known to the compiler: loops over these
// vectorise.
template <bool kWeighted, Kind kKind>
struct Examples {
  const std::int8_t* __restrict y;
  const double* __restrict c;
  double each;
  const double* __restrict s;
  const double* __restrict other;

  Examples(const HingeSample& sample, const ScoreLine& line)
      : y(sample.y), c(sample.c), each(sample.each), s(line.s), other(line.other) {}

  CUTPLANE_INLINE Examples from(index_t start) const {
    Examples later = *this;
    later.y += start;
    if constexpr (kWeighted) later.c += start;
    later.s += start;
    if constexpr (kKind != Kind::kConstant) later.other += start;
    return later;
  }
  CUTPLANE_INLINE double weight(index_t i) const { return kWeighted ? c[i] : each; }
  CUTPLANE_INLINE double direction(index_t i) const {
    if constexpr (kKind == Kind::kConstant) return 1.0;
    if constexpr (kKind == Kind::kAlong) return other[i];
    return other[i] - s[i];
  }
};

// Calls body with the Examples type that fits.
template <Kind kKind, class Body>
auto with_kind(const HingeSample& sample, const ScoreLine& line, Body&& body) {
  return sample.c ? body(Examples<true, kKind>(sample, line))
                  : body(Examples<false, kKind>(sample, line));
}

template <class Body>
auto with_examples(const HingeSample& sample, const ScoreLine& line, Body&& body) {
  if (line.kind == Kind::kAlong) return with_kind<Kind::kAlong>(sample, line, body);
  if (line.kind == Kind::kTowards) return with_kind<Kind::kTowards>(sample, line, body);
  return with_kind<Kind::kConstant>(sample, line, body);
}

template <class Body>
auto with_examples(const HingeSample& sample, const double* s, Body&& body) {
  return with_kind<Kind::kConstant>(sample, ScoreLine{s}, body);
}

// Labels are bytes: turned into doubles a chunk at a time, so that loops over scores use whole
// vectors of these.
constexpr index_t kChunk = 512;

template <class E, class Body>
CUTPLANE_INLINE void by_chunks(const E& e, index_t begin, index_t end, Body body) {
  double labels[kChunk];
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    for (index_t k = 0; k < count; ++k) labels[k] = static_cast<double>(e.y[start + k]);
    body(e.from(start), count, labels);
  }
}

#define CUTPLANE_CHUNK \
  [&](const E& at, index_t count, const double* __restrict labels) __attribute__((always_inline))

template <class E>
CUTPLANE_MULTIVERSION Sums<1> value_block(E e, index_t begin, index_t end) {
  Sums<1> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double value = 0;
#pragma omp simd reduction(+ : value)
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * at.s[k];
          value += at.weight(k) * (z > 0.0 ? z : 0.0);
        }
        total[0] += value;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION Sums<2> cut_block(E e, double* coefs, index_t begin, index_t end) {
  Sums<2> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.s - e.s);
        double value = 0, offset = 0;
#pragma omp simd reduction(+ : value, offset)
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * at.s[k];
          const double active = z >= 0.0 ? at.weight(k) : 0.0;
          value += active * z;
          offset += active;
          coef[k] = -labels[k] * active;
        }
        total[0] += value;
        total[1] += offset;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION Sums<4> smoothed_block(E e, double h, double* coefs, index_t begin,
                                             index_t end) {
  const double per_h = 1.0 / h;
  Sums<4> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.s - e.s);
        double value = 0, offset = 0, error = 0, kinks = 0;
#pragma omp simd reduction(+ : value, offset, error, kinks)
        for (index_t k = 0; k < count; ++k) {
          const double c = at.weight(k);
          const double z = 1.0 - labels[k] * at.s[k];
          const double raw = z * per_h + 0.5;
          const double above = raw > 0.0 ? raw : 0.0;
          const double pi = above < 1.0 ? above : 1.0;
          const double hinge = z > 0.0 ? z : 0.0;
          value += c * hinge;
          offset += c * pi;
          error += c * (hinge - pi * z);
          kinks += raw == pi ? 1.0 : 0.0;
          coef[k] = -labels[k] * c * pi;
        }
        total[0] += value;
        total[1] += offset;
        total[2] += error;
        total[3] += kinks;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION void extrapolated_block(E e, double h, double reach, double* coefs,
                                              index_t begin, index_t end) {
  const double per_h = 1.0 / h;
  const double half = 0.5 * reach;
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.s - e.s);
#pragma omp simd
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * at.s[k];
          const double beyond = z > 0.0 ? 1.0 : 0.0;
          const double inside = z * per_h + 0.5;
          const double pi = std::abs(z) <= half ? inside : beyond;
          coef[k] = -labels[k] * at.weight(k) * pi;
        }
      });
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_block(E e, double h, double t, index_t begin,
                                                 index_t end) {
  const double per_h = 1.0 / h;
  Sums<3> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double value = 0, slope = 0, curvature = 0;
#pragma omp simd reduction(+ : value, slope, curvature)
        for (index_t k = 0; k < count; ++k) {
          const double c = at.weight(k);
          const double direction = at.direction(k);
          const double z = 1.0 - labels[k] * (at.s[k] + t * direction);
          const double raw = z * per_h + 0.5;
          const double above = raw > 0.0 ? raw : 0.0;
          const double pi = above < 1.0 ? above : 1.0;
          const double kink = raw == pi ? c * per_h : 0.0;
          // pi z + ½ h pi (1 - pi) is ½ h pi² on the kink (there z = h (pi - ½)), z beyond it and 0
          // before it.
          value += c * pi * (z + 0.5 * h * (1.0 - pi));
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
  Sums<3> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
        for (index_t k = 0; k < count; ++k) {
          const double fall = labels[k] * at.direction(k);
          const double z = 1.0 - labels[k] * at.s[k] - t * fall;
          // Exactly on its kink, an example counts for the slope to the right only if it moves
          // beyond it.
          const double weight = at.weight(k);
          const double c = z > 0.0 ? weight : 0.0;
          const double entering = fall < 0.0 ? weight : 0.0;
          const double touching = z == 0.0 ? entering : 0.0;
          value += c * z;
          slope -= (c + touching) * fall;
        }
        total[0] += value;
        total[1] += slope;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> advance_block(E e, double step, double mu, double* scores,
                                            double* coefs, index_t begin, index_t end) {
  Sums<3> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict moved = scores + (at.s - e.s);
        double* __restrict coef = coefs + (at.s - e.s);
        double value = 0, cut_value = 0, offset = 0;
#pragma omp simd reduction(+ : value, cut_value, offset)
        for (index_t k = 0; k < count; ++k) {
          const double c = at.weight(k);
          const double next = at.s[k] + step * at.direction(k);
          const double there = 1.0 - labels[k] * next;
          const double z = 1.0 - labels[k] * (next + mu * (at.other[k] - next));
          const double active = z >= 0.0 ? c : 0.0;
          moved[k] = next;
          value += c * (there > 0.0 ? there : 0.0);
          cut_value += active * z;
          offset += active;
          coef[k] = -labels[k] * active;
        }
        total[0] += value;
        total[1] += cut_value;
        total[2] += offset;
      });
  return total;
}

// Whether an example counts for the slope at t: strictly beyond its kink. On the kink itself any
// weight would do.
CUTPLANE_INLINE bool counts(double z, double fall, double t) { return z - t * fall > 0.0; }

// Slopes of the risk at each probe.
template <class E>
CUTPLANE_MULTIVERSION Sums<kProbes> probe_block(E e, const double* probes, index_t begin,
                                                index_t end) {
  // Written out: eight sums that stay in registers.
  const double t0 = probes[0], t1 = probes[1], t2 = probes[2], t3 = probes[3];
  const double t4 = probes[4], t5 = probes[5], t6 = probes[6], t7 = probes[7];
  Sums<kProbes> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0;
#pragma omp simd reduction(- : g0, g1, g2, g3, g4, g5, g6, g7)
        for (index_t k = 0; k < count; ++k) {
          const double fall = labels[k] * at.direction(k);
          const double z = 1.0 - labels[k] * at.s[k];
          const double slope = at.weight(k) * fall;
          g0 -= counts(z, fall, t0) ? slope : 0.0;
          g1 -= counts(z, fall, t1) ? slope : 0.0;
          g2 -= counts(z, fall, t2) ? slope : 0.0;
          g3 -= counts(z, fall, t3) ? slope : 0.0;
          g4 -= counts(z, fall, t4) ? slope : 0.0;
          g5 -= counts(z, fall, t5) ? slope : 0.0;
          g6 -= counts(z, fall, t6) ? slope : 0.0;
          g7 -= counts(z, fall, t7) ? slope : 0.0;
        }
        const Sums<kProbes> part{g0, g1, g2, g3, g4, g5, g6, g7};
        for (int p = 0; p < kProbes; ++p) total[p] += part[p];
      });
  return total;
}

// The breakpoints between low and high: of the examples that count at one end and not at the other.
// Few do, so that a chunk is marked first, as a whole, and then looked through.
template <class E>
CUTPLANE_MULTIVERSION void collect_block(E e, double low, double high, index_t begin, index_t end,
                                         std::vector<Breakpoint>& out) {
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double marks[kChunk];
        double any = 0;
#pragma omp simd reduction(+ : any)
        for (index_t k = 0; k < count; ++k) {
          const double fall = labels[k] * at.direction(k);
          const double z = 1.0 - labels[k] * at.s[k];
          const double at_low = counts(z, fall, low) ? 1.0 : 0.0;
          const double at_high = counts(z, fall, high) ? 1.0 : 0.0;
          marks[k] = at_low - at_high;
          any += std::abs(marks[k]);
        }
        if (any == 0.0) return;
        for (index_t k = 0; k < count; ++k) {
          if (marks[k] == 0.0) continue;
          const double fall = labels[k] * at.direction(k);
          const double t = (1.0 - labels[k] * at.s[k]) / fall;
          out.push_back({std::clamp(t, low, high), at.weight(k) * std::abs(fall)});
        }
      });
}

}  // namespace

double hinge_value(const HingeSample& sample, const double* s, int n_threads) {
  return with_examples(sample, s, [&](auto e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return value_block(e, begin, end);
    })[0];
  });
}

HingeCut hinge_cut(const HingeSample& sample, const double* s, double* coef, int n_threads) {
  return with_examples(sample, s, [&](auto e) -> HingeCut {
    const auto sums = sum_examples<2>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return cut_block(e, coef, begin, end);
    });
    return {sums[0], sums[1]};
  });
}

HingeCut hinge_balanced_cut(const HingeSample& sample, const double* s, double width, double* coef,
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

SmoothedHinge hinge_smoothed(const HingeSample& sample, const double* s, double h, double* coef,
                             int n_threads) {
  return with_examples(sample, s, [&](auto e) -> SmoothedHinge {
    const auto sums = sum_examples<4>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return smoothed_block(e, h, coef, begin, end);
    });
    return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
  });
}

void hinge_extrapolated(const HingeSample& sample, const double* s, double h, double reach,
                        double* coef, int n_threads) {
  with_examples(sample, s, [&](auto e) {
    for_blocks(example_blocks(sample.n), useful_threads(n_threads, kWorkPerExample * sample.n),
               [&](index_t, index_t begin, index_t end) {
                 extrapolated_block(e, h, reach, coef, begin, end);
               });
  });
}

void hinge_kinks(const HingeSample& sample, const double* s, double h,
                 std::vector<std::int64_t>& rows, std::vector<double>& weights, int n_threads) {
  const Blocks blocks = example_blocks(sample.n);
  std::vector<std::vector<std::int64_t>> found(blocks.count);
  const double half = 0.5 * h;
  for_blocks(blocks, useful_threads(n_threads, kWorkPerExample * sample.n),
             [&](index_t b, index_t begin, index_t end) {
               // Written everywhere, kept where it counts: no branch to mispredict.
               std::vector<std::int64_t> near(end - begin);
               index_t count = 0;
               for (index_t i = begin; i < end; ++i) {
                 near[count] = i;
                 count += std::abs(1.0 - sample.y[i] * s[i]) <= half;
               }
               near.resize(count);
               found[b] = std::move(near);
             });
  rows.clear();
  for (const auto& part : found) rows.insert(rows.end(), part.begin(), part.end());
  weights.resize(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    weights[k] = sample.c ? sample.c[rows[k]] : sample.each;
}

RayDerivatives hinge_ray(const HingeSample& sample, const ScoreLine& line, double h, double t,
                         int n_threads) {
  return with_examples(sample, line, [&](auto e) -> RayDerivatives {
    const auto sums = sum_examples<3>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return h > 0.0 ? smoothed_ray_block(e, h, t, begin, end) : exact_ray_block(e, t, begin, end);
    });
    return {sums[0], sums[1], sums[2]};
  });
}

namespace {

struct HingeSweeps {
  const HingeSample& sample;
  const ScoreLine& line;
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

  std::vector<Breakpoint> breakpoints(double low, double high) const {
    return with_examples(sample, line, [&](auto e) {
      return collect_breakpoints(sample.n, n_threads,
                                 [&](index_t begin, index_t end, std::vector<Breakpoint>& out) {
                                   collect_block(e, low, high, begin, end, out);
                                 });
    });
  }
};

}  // namespace

double hinge_ray_minimum(const HingeSample& sample, const ScoreLine& line, double quadratic,
                         double linear, double C, double from, int n_threads) {
  const HingeSweeps sweeps{sample, line, n_threads};
  return RayMinimum(sweeps, quadratic, linear, C).find(from);
}

HingeAdvance hinge_advance(const HingeSample& sample, const double* s, const double* end,
                           double step, double mu, double* moved, double* coef, int n_threads) {
  return with_examples(sample, ScoreLine{s, end, Kind::kTowards}, [&](auto e) -> HingeAdvance {
    const auto sums = sum_examples<3>(sample.n, n_threads, [&](index_t begin, index_t stop) {
      return advance_block(e, step, mu, moved, coef, begin, stop);
    });
    return {sums[0], {sums[1], sums[2]}};
  });
}

}  // namespace cutplane
