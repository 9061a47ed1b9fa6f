// The exact minimum along a line of scores. Every example contributes the upper envelope of its
// classes' lines; the slope of the sum is a step function whose root is wanted.
#include <cmath>
#include <limits>

#include "core/multiclass/lines.hpp"
#include "core/ray_minimum.hpp"

namespace cutplane {
namespace multiclass {

using Probes = Sums<kProbes>;

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

// What the search for the minimum asks (core/ray_minimum.hpp).
struct LineSweeps {
  const MulticlassSample& sample;
  const double* s;
  const double* ends;
  int n_threads;

  // A sample counts as large by its scores: a few classes take as long as an example of the hinge.
  index_t size() const { return sample.n * sample.classes / 4; }

  Probes slopes(const double* probes, index_t part) const {
    return with_rescaling(sample, [&](auto slack) {
      return sum_examples<kProbes>(
          sample, n_threads,
          [&](index_t begin, index_t end) {
            return probe_block<slack.value>(sample, s, ends, probes, begin,
                                            begin + (end - begin) / part);
          },
          part);
    });
  }

  std::vector<Breakpoint> breakpoints(double low, double high) const {
    const Blocks blocks = example_blocks(sample);
    std::vector<std::vector<Breakpoint>> found(blocks.count);
    with_rescaling(sample, [&](auto slack) {
      for_blocks(blocks, sweep_threads(sample, n_threads),
                 [&](index_t b, index_t begin, index_t end) {
                   collect_block<slack.value>(sample, s, ends, low, high, begin, end, found[b]);
                 });
    });
    std::vector<Breakpoint> points;
    for (const auto& part : found) points.insert(points.end(), part.begin(), part.end());
    return points;
  }
};

}  // namespace multiclass

double multiclass_ray_minimum(const MulticlassSample& sample, const double* s, const double* end,
                              double quadratic, double linear, double C, int n_threads) {
  const multiclass::LineSweeps sweeps{sample, s, end, n_threads};
  return RayMinimum(sweeps, quadratic, linear, C).find(0.0);
}

}  // namespace cutplane
