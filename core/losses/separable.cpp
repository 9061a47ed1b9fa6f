#include "core/losses/separable.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/base/multiversion.hpp"
#include "core/losses/ray_minimum.hpp"

namespace cutplane {
namespace {

// The arrays of a sample and a line. One type serves all weights and all lines but the constant, so
// that loops are compiled once: where an array is missing, y stands in, times 0. That is exact.
template <class L, bool kConstant>
struct Examples {
  L loss;
  const double* __restrict y;
  const double* __restrict s;
  const double* __restrict c;  // or y
  double c_scale, each;
  const double* __restrict other;
  const double* __restrict start;  // s on the way to other, or y
  double start_scale;

  Examples(const L& of, const SeparableSample& sample, const ScoreLine& line)
      : loss(of), y(sample.y), s(line.s.doubles), other(line.other.doubles) {
    const bool weighted = sample.c, towards = line.kind == LineKind::kTowards;
    c = weighted ? sample.c : y;
    c_scale = weighted ? 1.0 : 0.0;
    each = weighted ? 0.0 : sample.each;
    start = towards ? s : y;
    start_scale = towards ? 1.0 : 0.0;
  }

  CUTPLANE_INLINE double weight(index_t i) const { return each + c_scale * c[i]; }
  CUTPLANE_INLINE double direction(index_t i) const {
    return kConstant ? 1.0 : other[i] - start_scale * start[i];
  }
  // The loss where the plane is to touch it.
  CUTPLANE_INLINE LossAt touch(double score, double target) const {
    if constexpr (L::kSmooth) {
      return loss.at(score, target, 1.0);
    } else {
      return loss.touch(score, target);
    }
  }
};

template <class L, class Body>
auto with_line(const L& loss, const SeparableSample& sample, const ScoreLine& line, Body&& body) {
  if (line.kind == LineKind::kConstant) return body(Examples<L, true>(loss, sample, line));
  return body(Examples<L, false>(loss, sample, line));
}

// Calls body with the Examples of the loss.
template <class Body>
auto with_loss(const Loss& loss, const SeparableSample& sample, const double* s, Body&& body) {
  return std::visit(
      [&](const auto& l) {
        return body(Examples<std::decay_t<decltype(l)>, true>(l, sample, {s}));
      },
      loss);
}

template <class E>
CUTPLANE_MULTIVERSION Sums<1> value_block(E e, index_t begin, index_t end) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (index_t i = begin; i < end; ++i) value += e.weight(i) * e.touch(e.s[i], e.y[i]).value;
  return {value};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<2> cut_block(E e, double* __restrict coef, index_t begin, index_t end) {
  double value = 0, offset = 0;
#pragma omp simd reduction(+ : value, offset)
  for (index_t i = begin; i < end; ++i) {
    const LossAt at = e.touch(e.s[i], e.y[i]);
    const double c = e.weight(i);
    value += c * at.value;
    offset += c * at.height;
    coef[i] = c * at.slope;
  }
  return {value, offset};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<4> smoothed_block(E e, double h, double* __restrict coef, index_t begin,
                                             index_t end) {
  double value = 0, offset = 0, error = 0, curved = 0;
#pragma omp simd reduction(+ : value, offset, error, curved)
  for (index_t i = begin; i < end; ++i) {
    const LossAt at = e.loss.at(e.s[i], e.y[i], h);
    const double c = e.weight(i);
    value += c * at.value;
    offset += c * at.height;
    error += c * (at.value - at.slope * e.s[i] - at.height);
    curved += at.curvature > 0.0 ? 1.0 : 0.0;
    coef[i] = c * at.slope;
  }
  return {value, offset, error, curved};
}

// Those of some examples that are curved, and h times the second derivatives there; returns how
// many they are. Written everywhere and kept where it counts, for none of it can be foreseen.
inline constexpr index_t kLookedAt = 512;

template <class E>
CUTPLANE_MULTIVERSION index_t curved_part(E e, double h, index_t begin, index_t end,
                                          std::int64_t* rows, double* weights) {
  double found[kLookedAt];
#pragma omp simd
  for (index_t i = begin; i < end; ++i)
    found[i - begin] = h * e.weight(i) * e.loss.at(e.s[i], e.y[i], h).curvature;
  index_t count = 0;
  for (index_t i = begin; i < end; ++i) {
    rows[count] = i;
    weights[count] = found[i - begin];
    count += found[i - begin] > 0.0;
  }
  return count;
}

// use(rows, weights, count), some hundred examples at a time.
template <class E, class Use>
void each_curved(E e, double h, index_t begin, index_t end, Use use) {
  std::int64_t rows[kLookedAt];
  double weights[kLookedAt];
  for (index_t start = begin; start < end; start += kLookedAt)
    use(rows, weights, curved_part(e, h, start, std::min(start + kLookedAt, end), rows, weights));
}

template <class E>
CUTPLANE_MULTIVERSION void extrapolated_block(E e, double h, double reach, double* __restrict coef,
                                              index_t begin, index_t end) {
  const double half = 0.5 * reach;
#pragma omp simd
  for (index_t i = begin; i < end; ++i) {
    const double over = e.s[i] - e.y[i] - e.loss.epsilon;
    const double under = e.y[i] - e.loss.epsilon - e.s[i];
    const double pi_over = std::abs(over) <= half ? over / h + 0.5 : (over > 0.0 ? 1.0 : 0.0);
    const double pi_under = std::abs(under) <= half ? under / h + 0.5 : (under > 0.0 ? 1.0 : 0.0);
    coef[i] = e.weight(i) * (e.loss.above * pi_over - e.loss.below * pi_under);
  }
}

template <class E>
CUTPLANE_MULTIVERSION Sums<3> rounded_ray_block(E e, double h, double t, index_t begin,
                                                index_t end) {
  double value = 0, slope = 0, curvature = 0;
#pragma omp simd reduction(+ : value, slope, curvature)
  for (index_t i = begin; i < end; ++i) {
    const double direction = e.direction(i);
    const LossAt at = e.loss.at(e.s[i] + t * direction, e.y[i], h);
    const double c = e.weight(i);
    value += c * at.rounded;
    slope += c * at.slope * direction;
    curvature += c * at.curvature * direction * direction;
  }
  return {value, slope, curvature};
}

// Exactly on a kink, what counts for the slope to the right is the side the example moves to.
template <class E>
CUTPLANE_MULTIVERSION Sums<3> exact_ray_block(E e, double t, index_t begin, index_t end) {
  double value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
  for (index_t i = begin; i < end; ++i) {
    const double direction = e.direction(i);
    const double score = e.s[i] + t * direction;
    const double over = score - e.y[i] - e.loss.epsilon;
    const double under = e.y[i] - e.loss.epsilon - score;
    const double rising = direction > 0.0 ? e.loss.above : 0.0;
    const double falling = direction < 0.0 ? e.loss.below : 0.0;
    const double at_over = over > 0.0 ? e.loss.above : (over == 0.0 ? rising : 0.0);
    const double at_under = under > 0.0 ? e.loss.below : (under == 0.0 ? falling : 0.0);
    const double c = e.weight(i);
    value += c * e.loss.value(score, e.y[i]);
    slope += c * (at_over - at_under) * direction;
  }
  return {value, slope, 0.0};
}

template <class E>
CUTPLANE_MULTIVERSION Sums<kProbes> probe_block(E e, const double* probes, index_t begin,
                                                index_t end) {
  Sums<kProbes> total{};
  for (int p = 0; p < kProbes; ++p) {
    const double t = probes[p];
    double slope = 0;
#pragma omp simd reduction(+ : slope)
    for (index_t i = begin; i < end; ++i) {
      const double direction = e.direction(i);
      const double u = e.s[i] - e.y[i] + t * direction;
      const double side = u > e.loss.epsilon ? e.loss.above : 0.0;
      const double other = -u > e.loss.epsilon ? e.loss.below : 0.0;
      slope += e.weight(i) * (side - other) * direction;
    }
    total[p] = slope;
  }
  return total;
}

// Breakpoints of the examples that are beyond a kink at one end and not at the other.
template <class E>
void collect_block(E e, double low, double high, index_t begin, index_t end,
                   std::vector<Breakpoint>& out) {
  const double epsilon = e.loss.epsilon;
  for (index_t i = begin; i < end; ++i) {
    const double direction = e.direction(i);
    const double u = e.s[i] - e.y[i];
    const double at_low = u + low * direction, at_high = u + high * direction;
    const double size = e.weight(i) * std::abs(direction);
    if ((at_low > epsilon) != (at_high > epsilon))
      out.push_back({std::clamp((epsilon - u) / direction, low, high), e.loss.above * size});
    if ((-at_low > epsilon) != (-at_high > epsilon))
      out.push_back({std::clamp((-epsilon - u) / direction, low, high), e.loss.below * size});
  }
}

template <class E>
CUTPLANE_MULTIVERSION Sums<1> offset_block(E e, index_t begin, index_t end) {
  double offset = 0;
#pragma omp simd reduction(+ : offset)
  for (index_t i = begin; i < end; ++i) {
    // The scores of e are coefficients here: weight times slope. No weight, no slope.
    const double c = e.weight(i);
    offset += c * (c > 0.0 ? e.loss.height(e.s[i] / c, e.y[i]) : 0.0);
  }
  return {offset};
}

}  // namespace

double separable_value(const Loss& loss, const SeparableSample& sample, const double* s,
                       int n_threads) {
  return with_loss(loss, sample, s, [&](const auto& e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return value_block(e, begin, end);
    })[0];
  });
}

ScoreCut separable_cut(const Loss& loss, const SeparableSample& sample, const double* s,
                       double* coef, int n_threads) {
  return with_loss(loss, sample, s, [&](const auto& e) -> ScoreCut {
    const auto sums = sum_examples<2>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return cut_block(e, coef, begin, end);
    });
    return {sums[0], sums[1]};
  });
}

SmoothedSums separable_smoothed(const Loss& loss, const SeparableSample& sample, const double* s,
                                double h, double* coef, int n_threads) {
  return with_loss(loss, sample, s, [&](const auto& e) -> SmoothedSums {
    const auto sums = sum_examples<4>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return smoothed_block(e, h, coef, begin, end);
    });
    return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
  });
}

void tube_extrapolated(const TubeLoss& loss, const SeparableSample& sample, const double* s,
                       double h, double reach, double* coef, int n_threads) {
  const Examples<TubeLoss, true> e(loss, sample, {s});
  for_blocks(example_blocks(sample.n), useful_threads(n_threads, kWorkPerExample * sample.n),
             [&](index_t, index_t begin, index_t end) {
               extrapolated_block(e, h, reach, coef, begin, end);
             });
}

CurvedExamples separable_curved(const Loss& loss, const SeparableSample& sample, const double* s,
                                double h, int n_threads) {
  const Blocks blocks = example_blocks(sample.n);
  const int threads = useful_threads(n_threads, kWorkPerExample * sample.n);
  std::vector<std::size_t> starts(blocks.count + 1, 0);
  CurvedExamples all;
  with_loss(loss, sample, s, [&](const auto& e) {
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      each_curved(e, h, begin, end,
                  [&](const auto&, const auto&, index_t count) { starts[b + 1] += count; });
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    all = {starts.back(), unset_array<std::int64_t>(starts.back()),
           unset_array<double>(starts.back())};
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      std::size_t at = starts[b];
      each_curved(e, h, begin, end, [&](const auto& rows, const auto& weights, index_t count) {
        std::copy_n(rows, count, all.rows.get() + at);
        std::copy_n(weights, count, all.weights.get() + at);
        at += count;
      });
    });
  });
  return all;
}

RayDerivatives separable_ray(const Loss& loss, const SeparableSample& sample, const ScoreLine& line,
                             double h, double t, int n_threads) {
  const auto along = [&](const auto& e) {
    return sum_examples<3>(sample.n, n_threads, [&](index_t begin, index_t end) {
      if constexpr (!decltype(e.loss)::kSmooth) {
        if (h == 0.0) return exact_ray_block(e, t, begin, end);
      }
      return rounded_ray_block(e, h, t, begin, end);
    });
  };
  const Sums<3> sums =
      std::visit([&](const auto& l) { return with_line(l, sample, line, along); }, loss);
  return {sums[0], sums[1], sums[2]};
}

double tube_ray_minimum(const TubeLoss& loss, const SeparableSample& sample, const ScoreLine& line,
                        double quadratic, double linear, double C, double from, int n_threads) {
  return with_line(loss, sample, line, [&](const auto& e) {
    const auto slopes = [&](const double* probes, index_t part) {
      return sum_examples<kProbes>(
          sample.n, n_threads,
          [&](index_t begin, index_t end) {
            return probe_block(e, probes, begin, begin + (end - begin) / part);
          },
          part);
    };
    const auto sweep = [&](double low, double high) {
      return collect_breakpoints(sample.n, n_threads,
                                 [&](index_t begin, index_t end, std::vector<Breakpoint>& out) {
                                   collect_block(e, low, high, begin, end, out);
                                   return Sums<2>{};
                                 });
    };
    return ray_minimum({sample.n, slopes, sweep, nullptr}, quadratic, linear, C, from);
  });
}

double separable_offset(const Loss& loss, const SeparableSample& sample, const double* coef,
                        int n_threads) {
  return with_loss(loss, sample, coef, [&](const auto& e) {
    return sum_examples<1>(sample.n, n_threads, [&](index_t begin, index_t end) {
      return offset_block(e, begin, end);
    })[0];
  });
}

}  // namespace cutplane
