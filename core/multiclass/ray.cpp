// The exact minimum along a line of scores. Every example contributes the upper envelope of its
// classes' lines; the slope of the sum is a step function whose root is wanted.
#include <cmath>
#include <limits>

#include "core/multiclass/lines.hpp"

namespace cutplane {
namespace multiclass {

constexpr int kProbes = 8;
using Probes = std::array<double, kProbes>;

// Slopes at each probe, left or right ones where it meets a breakpoint: any will do there.
template <bool kSlack>
CUTPLANE_MULTIVERSION Probes probe_block(const MulticlassSample& sample, const double* s,
                                         const double* ends, const double* probes, index_t begin,
                                         index_t end) {
  Probes total{};
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    const double* from = s + i * e.classes;
    const double* to = ends + i * e.classes;
    const double own = from[e.k], own_way = to[e.k] - own;
    double best[kProbes] = {}, slope[kProbes] = {};
    for (index_t y = 0; y < e.classes; ++y) {
      const double start = e.line(y, from[y] - own);
      const double rise = e.scale(y) * (to[y] - from[y] - own_way);
#pragma omp simd
      for (int p = 0; p < kProbes; ++p) {
        const double z = start + probes[p] * rise;
        slope[p] = z > best[p] ? rise : slope[p];
        best[p] = z > best[p] ? z : best[p];
      }
    }
    for (int p = 0; p < kProbes; ++p) total[p] += e.weight * slope[p];
  }
  return total;
}

// Where a line of the envelope gives way to the next, and by how much the slope rises there.
struct Breakpoint {
  double t, jump;
};

struct Line {
  double rise, height;  // height at the left end of the bracket
};

// The breakpoints of one example between `low` and low + span: the lines sorted by slope, those
// below their neighbours' crossing dropped (a convex hull), O(Y log Y). The first line is the
// highest at the left end, the steepest the highest at the right end.
inline void envelope(std::vector<Line>& lines, double span, double low, double weight,
                     std::vector<Breakpoint>& out) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.rise < b.rise || (a.rise == b.rise && a.height > b.height);
  });
  // (a, b) meet where a.height + t a.rise = b.height + t b.rise.
  auto meet = [](const Line& a, const Line& b) {
    return (a.height - b.height) / (b.rise - a.rise);
  };
  std::size_t top = 0;  // lines[0..top] are the envelope so far
  for (std::size_t j = 1; j < lines.size(); ++j) {
    const Line next = lines[j];
    if (next.rise == lines[top].rise) continue;
    while (top > 0 && meet(lines[top], next) <= meet(lines[top - 1], lines[top])) --top;
    lines[++top] = next;
  }
  for (std::size_t j = 0; j < top; ++j) {
    const double t = std::clamp(meet(lines[j], lines[j + 1]), 0.0, span);
    out.push_back({low + t, weight * (lines[j + 1].rise - lines[j].rise)});
  }
}

// Few examples have a breakpoint inside a narrow bracket: their highest lines at its ends differ.
template <bool kSlack>
CUTPLANE_MULTIVERSION void collect_block(const MulticlassSample& sample, const double* s,
                                         const double* ends, double low, double high, index_t begin,
                                         index_t end, std::vector<Breakpoint>& out) {
  std::vector<Line> lines;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    const double* from = s + i * e.classes;
    const double* to = ends + i * e.classes;
    const double own = from[e.k], own_way = to[e.k] - own;
    double best_low = 0, best_high = 0, rise_low = 0, rise_high = 0;
    for (index_t y = 0; y < e.classes; ++y) {
      const double start = e.line(y, from[y] - own);
      const double rise = e.scale(y) * (to[y] - from[y] - own_way);
      const double z_low = start + low * rise, z_high = start + high * rise;
      rise_low = z_low > best_low ? rise : rise_low;
      best_low = z_low > best_low ? z_low : best_low;
      rise_high = z_high > best_high ? rise : rise_high;
      best_high = z_high > best_high ? z_high : best_high;
    }
    if (rise_low >= rise_high) continue;
    lines.clear();
    lines.push_back({rise_low, best_low});
    for (index_t y = 0; y < e.classes; ++y) {
      const double rise = e.scale(y) * (to[y] - from[y] - own_way);
      if (rise <= rise_low || rise > rise_high) continue;
      lines.push_back({rise, e.line(y, from[y] - own) + low * rise});
    }
    envelope(lines, high - low, low, e.weight, out);
  }
}

// The root of  q t + g + C (jumps at or before t)  among the breakpoints: quickselect, O(m)
// expected.
double select_root(std::vector<Breakpoint>& points, double q, double g, double C, double lo,
                   double hi) {
  auto first = points.begin();
  auto last = points.end();
  while (first != last) {
    auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last,
                     [](const Breakpoint& a, const Breakpoint& b) { return a.t < b.t; });
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

// Where the slope q t + linear + C g(t) turns from negative to not, and g at both ends.
struct Bracket {
  double low = -INFINITY, high = INFINITY, slope_low = 0, slope_high = 0;
};

// Above this many scores, a part of them tells first where to look.
constexpr index_t kLargeSample = 1 << 18;
constexpr index_t kPart = 32;
constexpr Probes kFirstSteps{0, 1e-3, 1e-2, 0.05, 0.2, 0.5, 1, 2};

class RayMinimum {
 public:
  RayMinimum(const MulticlassSample& sample, const double* s, const double* end, double quadratic,
             double linear, double C, int n_threads)
      : sample_(sample),
        s_(s),
        end_(end),
        q_(quadratic),
        linear_(linear),
        C_(C),
        n_threads_(n_threads) {}

  double find() const {
    const bool large = sample_.n * sample_.classes > kLargeSample;
    Bracket bracket;
    narrow(bracket, large ? near_estimate() : kFirstSteps, 1);
    if (bracket.high <= 0.0) return 0.0;
    widen(bracket, 1);
    if (!std::isfinite(bracket.high)) return bracket.low;  // falls for ever
    for (int round = 0; round < 2 && bracket.high - bracket.low > 0.1 * bracket.high; ++round)
      narrow(bracket, around_secant(bracket), 1);
    return select(bracket);
  }

 private:
  double total(double t, double slope) const { return q_ * t + linear_ + C_ * slope; }

  // Probes close to where a part of the sample has its minimum: the whole has it nearby.
  Probes near_estimate() const {
    Bracket bracket;
    narrow(bracket, kFirstSteps, kPart);
    if (bracket.high <= 0.0) return kFirstSteps;
    widen(bracket, kPart);
    if (!std::isfinite(bracket.high)) return kFirstSteps;
    for (int round = 0; round < 3; ++round) narrow(bracket, around_secant(bracket), kPart);
    const double guess = secant(bracket);
    constexpr Probes spread{-1.0, -0.3, -0.1, -0.03, 0.03, 0.1, 0.3, 1.0};
    Probes probes;
    for (int k = 0; k < kProbes; ++k) probes[k] = std::max(0.0, guess + spread[k] * guess);
    return probes;
  }

  // The slopes at the probes, from the first 1 / part of every block.
  void narrow(Bracket& bracket, const Probes& probes, index_t part) const {
    const Probes slopes = with_rescaling(sample_, [&](auto slack) {
      return sum_examples<kProbes>(
          sample_, n_threads_,
          [&](index_t begin, index_t end) {
            return probe_block<slack.value>(sample_, s_, end_, probes.data(), begin,
                                            begin + (end - begin) / part);
          },
          part);
    });
    for (int k = 0; k < kProbes; ++k) {
      const double slope = slopes[k] * static_cast<double>(part);
      if (total(probes[k], slope) < 0.0) {
        if (probes[k] >= bracket.low) bracket.low = probes[k], bracket.slope_low = slope;
      } else if (probes[k] < bracket.high) {
        bracket.high = probes[k], bracket.slope_high = slope;
      }
    }
  }

  // Ever larger probes, to the end of the numbers, until one has a slope that is not negative.
  void widen(Bracket& bracket, index_t part) const {
    for (double scale = 1e1; !std::isfinite(bracket.high) && scale < 1e300; scale *= 1e16) {
      Probes probes;
      for (int k = 0; k < kProbes; ++k) probes[k] = scale * std::pow(1e2, k);
      narrow(bracket, probes, part);
    }
  }

  double secant(const Bracket& bracket) const {
    const double low = total(bracket.low, bracket.slope_low);
    const double high = total(bracket.high, bracket.slope_high);
    const double fraction = high > low ? -low / (high - low) : 0.5;
    return bracket.low + std::clamp(fraction, 0.0, 1.0) * (bracket.high - bracket.low);
  }

  // Probes spread over the bracket, closest where the secant has its root.
  Probes around_secant(const Bracket& bracket) const {
    const double width = bracket.high - bracket.low, guess = secant(bracket);
    constexpr Probes spread{-0.25, -0.08, -0.02, -0.005, 0.005, 0.02, 0.08, 0.25};
    Probes probes;
    for (int k = 0; k < kProbes; ++k)
      probes[k] = std::clamp(guess + spread[k] * width, bracket.low, bracket.high);
    return probes;
  }

  double select(const Bracket& bracket) const {
    const Blocks blocks = example_blocks(sample_);
    std::vector<std::vector<Breakpoint>> found(blocks.count);
    with_rescaling(sample_, [&](auto slack) {
      for_blocks(blocks, sweep_threads(sample_, n_threads_),
                 [&](index_t b, index_t begin, index_t end) {
                   collect_block<slack.value>(sample_, s_, end_, bracket.low, bracket.high, begin,
                                              end, found[b]);
                 });
    });
    std::vector<Breakpoint> points;
    for (const auto& part : found) points.insert(points.end(), part.begin(), part.end());
    return select_root(points, q_, linear_ + C_ * bracket.slope_low, C_, bracket.low, bracket.high);
  }

  const MulticlassSample& sample_;
  const double* s_;
  const double* end_;
  double q_, linear_, C_;
  int n_threads_;
};

}  // namespace multiclass

double multiclass_ray_minimum(const MulticlassSample& sample, const double* s, const double* end,
                              double quadratic, double linear, double C, int n_threads) {
  return multiclass::RayMinimum(sample, s, end, quadratic, linear, C, n_threads).find();
}

}  // namespace cutplane
