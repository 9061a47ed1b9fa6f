#include "core/hinge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/multiversion.hpp"

namespace cutplane {
namespace {

// Sweeps are short; blocks of this many examples keep threads busy and partial sums few.
constexpr index_t kExamplesPerBlock = 1 << 13;

Blocks example_blocks(index_t n) { return make_blocks(n, kExamplesPerBlock, 64); }

template <std::size_t N>
using Sums = std::array<double, N>;

// Per-block sums, added in block order.
template <std::size_t N, class Body>
Sums<N> sum_examples(index_t n, int n_threads, Body&& body) {
  const Blocks blocks = example_blocks(n);
  std::vector<Sums<N>> partial(blocks.count);
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    partial[b] = body(begin, end);
  });
  Sums<N> total{};
  for (const Sums<N>& part : partial)
    for (std::size_t k = 0; k < N; ++k) total[k] += part[k];
  return total;
}

// The arrays of a sample and a line, with what is constant known to the compiler: loops over these vectorise.
template <bool kWeighted, bool kDirected>
struct Examples {
  const std::int8_t* __restrict y;
  const double* __restrict c;
  double each;
  const double* __restrict s;
  const double* __restrict towards;

  Examples(const HingeSample& sample, const double* scores, const double* direction = nullptr)
      : y(sample.y), c(sample.c), each(sample.each), s(scores), towards(direction) {}

  CUTPLANE_INLINE double weight(index_t i) const { return kWeighted ? c[i] : each; }
  CUTPLANE_INLINE double label(index_t i) const { return static_cast<double>(y[i]); }
  CUTPLANE_INLINE double direction(index_t i) const { return kDirected ? towards[i] : 1.0; }
};

// Calls body with the Examples type that fits.
template <class Body>
auto with_examples(const HingeSample& sample, const ScoreLine& line, Body&& body) {
  if (sample.c) {
    return line.direction ? body(Examples<true, true>(sample, line.s, line.direction))
                          : body(Examples<true, false>(sample, line.s));
  }
  return line.direction ? body(Examples<false, true>(sample, line.s, line.direction))
                        : body(Examples<false, false>(sample, line.s));
}

template <class Body>
auto with_examples(const HingeSample& sample, const double* s, Body&& body) {
  return sample.c ? body(Examples<true, false>(sample, s)) : body(Examples<false, false>(sample, s));
}

template <class E>
CUTPLANE_MULTIVERSION Sums<1> value_block(E e, index_t begin, index_t end) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (index_t i = begin; i < end; ++i) {
    const double z = 1.0 - e.label(i) * e.s[i];
    value += e.weight(i) * std::max(z, 0.0);
  }
  return {value};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<2> cut_block(E e, double* __restrict coef, index_t begin, index_t end) {
  double value = 0, offset = 0;
#pragma omp simd reduction(+ : value, offset)
  for (index_t i = begin; i < end; ++i) {
    const double y = e.label(i);
    const double z = 1.0 - y * e.s[i];
    const double active = z >= 0.0 ? e.weight(i) : 0.0;
    value += active * z;
    offset += active;
    coef[i] = -y * active;
  }
  return {value, offset};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<5> smoothed_block(E e, double h, double* __restrict coef, index_t begin,
                                             index_t end) {
  const double per_h = 1.0 / h;
  double value = 0, offset = 0, error = 0, kink_weight = 0, kinks = 0;
#pragma omp simd reduction(+ : value, offset, error, kink_weight, kinks)
  for (index_t i = begin; i < end; ++i) {
    const double c = e.weight(i);
    const double y = e.label(i);
    const double z = 1.0 - y * e.s[i];
    const double raw = z * per_h + 0.5;
    const double pi = std::min(std::max(raw, 0.0), 1.0);
    const double kink = raw == pi ? 1.0 : 0.0;
    const double hinge = std::max(z, 0.0);
    value += c * hinge;
    offset += c * pi;
    error += c * (hinge - pi * z);
    kink_weight += c * kink;
    kinks += kink;
    coef[i] = -y * c * pi;
  }
  return {value, offset, error, kink_weight, kinks};
}

template <class E>
CUTPLANE_MULTIVERSION void extrapolated_block(E e, double h, double reach, double* __restrict coef,
                                              index_t begin, index_t end) {
  const double per_h = 1.0 / h;
  const double half = 0.5 * reach;
#pragma omp simd
  for (index_t i = begin; i < end; ++i) {
    const double y = e.label(i);
    const double z = 1.0 - y * e.s[i];
    const double beyond = z > 0.0 ? 1.0 : 0.0;
    const double inside = z * per_h + 0.5;
    const double pi = std::abs(z) <= half ? inside : beyond;
    coef[i] = -y * e.weight(i) * pi;
  }
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_block(E e, double h, double t, index_t begin,
                                                 index_t end) {
  const double per_h = 1.0 / h;
  double value = 0, slope = 0, curvature = 0;
#pragma omp simd reduction(+ : value, slope, curvature)
  for (index_t i = begin; i < end; ++i) {
    const double c = e.weight(i);
    const double y = e.label(i);
    const double direction = e.direction(i);
    const double z = 1.0 - y * (e.s[i] + t * direction);
    const double raw = z * per_h + 0.5;
    const double pi = std::min(std::max(raw, 0.0), 1.0);
    const double kink = raw == pi ? c * per_h : 0.0;
    // pi z + ½ h pi (1 - pi) is ½ h pi² on the kink (there z = h (pi - ½)), z beyond it and 0 before it.
    value += c * pi * (z + 0.5 * h * (1.0 - pi));
    slope -= c * pi * y * direction;
    curvature += kink * direction * direction;
  }
  return {value, slope, curvature};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> exact_ray_block(E e, double t, index_t begin, index_t end) {
  double value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
  for (index_t i = begin; i < end; ++i) {
    const double y = e.label(i);
    const double fall = y * e.direction(i);
    const double z = 1.0 - y * e.s[i] - t * fall;
    // Exactly on its kink, an example counts for the slope to the right only if it moves beyond it.
    const double weight = e.weight(i);
    const double c = z > 0.0 ? weight : 0.0;
    const double touching = z == 0.0 && fall < 0.0 ? weight : 0.0;
    value += c * z;
    slope -= (c + touching) * fall;
  }
  return {value, slope, 0.0};
}

// A breakpoint of the ray: where an example meets its kink, and by how much the slope rises there.
struct Breakpoint {
  double t, jump;
};

// Buckets of breakpoints by the sign, exponent and first four fraction bits of t: no range has to be guessed, and a bucket
// is at most a sixteenth of its own distance from zero wide. Exponents beyond ±128 share the outermost buckets.
constexpr std::int32_t kHalf = 256 << 4;
constexpr std::int32_t kBuckets = 2 * kHalf;
constexpr std::int32_t kSmallestExponent = (1023 - 128) << 4;

CUTPLANE_INLINE std::int32_t bucket_of(double t) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(t);
  const auto leading = static_cast<std::int32_t>((bits & 0x7fffffffffffffffULL) >> 48);
  const std::int32_t size = std::clamp(leading - kSmallestExponent, 0, kHalf - 1);
  return bits >> 63 ? kHalf - 1 - size : kHalf + size;
}

double size_edge(std::int32_t size) {
  if (size <= 0) return 0.0;
  if (size >= kHalf) return INFINITY;
  return std::bit_cast<double>(static_cast<std::uint64_t>(size + kSmallestExponent) << 48);
}

// The largest t a bucket can hold.
double bucket_end(std::int32_t bucket) {
  return bucket >= kHalf ? size_edge(bucket - kHalf + 1) : -size_edge(kHalf - 1 - bucket);
}

// t where the example crosses its kink, in small chunks so that the division vectorises; jump = 0 where there is none.
constexpr index_t kChunk = 256;

template <class E>
CUTPLANE_INLINE void chunk_breakpoints(const E& e, index_t begin, index_t count,
                                       double* __restrict t, double* __restrict jump) {
#pragma omp simd
  for (index_t k = 0; k < count; ++k) {
    const double y = e.label(begin + k);
    const double fall = y * e.direction(begin + k);
    const double safe = fall != 0.0 ? fall : 1.0;
    t[k] = (1.0 - y * e.s[begin + k]) / safe;
    jump[k] = e.weight(begin + k) * std::abs(fall);
  }
}

// Adds the jumps beyond `from` to their buckets; returns the slope at -inf if every jump were still to come, i.e. the sum
// of -c_i fall_i over fall_i > 0, corrected for jumps at or before `from`.
template <class E>
CUTPLANE_MULTIVERSION double fill_buckets(E e, double from, index_t begin, index_t end,
                                          double* buckets) {
  double t[kChunk], jump[kChunk];
  double slope = 0;
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    chunk_breakpoints(e, start, count, t, jump);
    double falling = 0;
#pragma omp simd reduction(+ : falling)
    for (index_t k = 0; k < count; ++k) {
      const double fall = e.label(start + k) * e.direction(start + k);
      falling -= fall > 0.0 ? jump[k] : 0.0;
      falling += t[k] <= from ? jump[k] : 0.0;
    }
    slope += falling;
    for (index_t k = 0; k < count; ++k)
      if (t[k] > from) buckets[bucket_of(t[k])] += jump[k];
  }
  return slope;
}

template <class E>
CUTPLANE_MULTIVERSION void collect_bucket(E e, double from, std::int32_t bucket, index_t begin,
                                          index_t end, std::vector<Breakpoint>& out) {
  double t[kChunk], jump[kChunk];
  for (index_t start = begin; start < end; start += kChunk) {
    const index_t count = std::min(kChunk, end - start);
    chunk_breakpoints(e, start, count, t, jump);
    for (index_t k = 0; k < count; ++k)
      if (t[k] > from && jump[k] > 0.0 && bucket_of(t[k]) == bucket) out.push_back({t[k], jump[k]});
  }
}

// The root of  q t + g + C (jumps at or before t)  among the breakpoints [first, last): quickselect, O(m) expected.
double select_root(std::vector<Breakpoint>& points, double q, double g, double C, double lo,
                   double hi) {
  auto first = points.begin();
  auto last = points.end();
  auto before = [](const Breakpoint& a, const Breakpoint& b) { return a.t < b.t; };
  while (first != last) {
    auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    double left = 0;
    for (auto it = first; it != middle; ++it) left += it->jump;
    if (q * middle->t + g + C * left >= 0.0) {
      hi = middle->t;
      last = middle;
    } else if (q * middle->t + g + C * (left + middle->jump) >= 0.0) {
      return middle->t;
    } else {
      lo = middle->t;
      g += C * (left + middle->jump);
      first = middle + 1;
    }
  }
  // Between lo and hi the slope is q t + g.
  if (q > 0.0) return std::clamp(-g / q, lo, hi);
  return g >= 0.0 || !std::isfinite(hi) ? lo : hi;
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
  // Weights of the examples beyond the kink and on it, by side: {value, beyond+, beyond-, on+, on-}.
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
    const auto sums = sum_examples<5>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return smoothed_block(e, h, coef, begin, end);
    });
    return {sums[0], sums[1], sums[2], sums[3], static_cast<index_t>(sums[4])};
  });
}

void hinge_extrapolated(const HingeSample& sample, const double* s, double h, double reach,
                        double* coef, int n_threads) {
  with_examples(sample, s, [&](auto e) {
    for_blocks(example_blocks(sample.n), n_threads, [&](index_t, index_t begin, index_t end) {
      extrapolated_block(e, h, reach, coef, begin, end);
    });
  });
}

void hinge_kinks(const HingeSample& sample, const double* s, double h,
                 std::vector<std::int64_t>& rows, std::vector<double>& weights, int n_threads) {
  const Blocks blocks = example_blocks(sample.n);
  std::vector<std::vector<std::int64_t>> found(blocks.count);
  const double half = 0.5 * h;
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
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

double hinge_ray_minimum(const HingeSample& sample, const ScoreLine& line, double quadratic,
                         double linear, double C, double from, int n_threads) {
  // Fewer blocks than elsewhere: each owns a table of buckets.
  const Blocks blocks = make_blocks(sample.n, 4 * kExamplesPerBlock, 16);
  std::vector<double> tables(blocks.count * kBuckets, 0.0);
  std::vector<double> slopes(blocks.count);
  with_examples(sample, line, [&](auto e) {
    for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
      slopes[b] = fill_buckets(e, from, begin, end, tables.data() + b * kBuckets);
    });
  });
  double slope = 0;
  for (double part : slopes) slope += part;
  for (index_t b = 1; b < blocks.count; ++b)
    for (index_t k = 0; k < kBuckets; ++k) tables[k] += tables[b * kBuckets + k];

  double g = linear + C * slope;
  if (std::isfinite(from) && quadratic * from + g >= 0.0) return from;

  // The root lies in the first bucket at whose end the slope is no longer negative.
  double lo = from;
  for (std::int32_t k = 0; k < kBuckets; ++k) {
    if (tables[k] == 0.0) continue;
    const double end = bucket_end(k);
    const bool here = g + C * tables[k] + (quadratic > 0.0 ? quadratic * end : 0.0) >= 0.0;
    if (!here) {
      g += C * tables[k];
      lo = end;
      continue;
    }
    std::vector<std::vector<Breakpoint>> found(blocks.count);
    with_examples(sample, line, [&](auto e) {
      for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t stop) {
        collect_bucket(e, from, k, begin, stop, found[b]);
      });
    });
    std::vector<Breakpoint> points;
    for (const auto& part : found) points.insert(points.end(), part.begin(), part.end());
    return select_root(points, quadratic, g, C, lo, INFINITY);
  }
  // All breakpoints lie before the root.
  return quadratic > 0.0 ? -g / quadratic : lo;
}

}  // namespace cutplane
