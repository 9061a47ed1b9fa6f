// The exact minimum along a line of scores. Every example contributes the upper envelope of its
// classes' lines; the slope of the sum is a step function whose root is wanted.
//
// Between two steps close to each other most examples keep their highest line, and so have no
// breakpoint there: one sweep over all of them gives the slopes at both and the breakpoints
// between.
#include <cmath>
#include <utility>

#include "core/losses/ray_minimum.hpp"
#include "core/multiclass/tiles.hpp"

namespace cutplane {
namespace multiclass {

using Probes = Sums<kProbes>;

// Slopes at each probe, left or right ones where it meets a breakpoint: any will do there. Every
// `part`-th example is looked at.
CUTPLANE_MULTIVERSION Probes probe_block(const MulticlassSample& sample, const double* s,
                                         const double* ends, const double* probes, index_t part,
                                         index_t begin, index_t end) {
  TileSum sums[kProbes];
  Tile tile(sample.classes);
  double best[kTile], slope[kTile];
  for (index_t i = begin; i < end; i += part * kTile) {
    tile.fill(sample, s, ends, i, end, part);
    for (int p = 0; p < kProbes; ++p) {
      tile.highest(probes[p], best, slope);
      sums[p].add(tile.weights, slope);
    }
  }
  Probes total;
  for (int p = 0; p < kProbes; ++p) total[p] = sums[p].total();
  return total;
}

// The squares of what each example adds to the slope at t.
CUTPLANE_MULTIVERSION Sums<1> square_block(const MulticlassSample& sample, const double* s,
                                           const double* ends, double t, index_t part,
                                           index_t begin, index_t end) {
  double total = 0;
  Tile tile(sample.classes);
  double best[kTile], slope[kTile];
  for (index_t i = begin; i < end; i += part * kTile) {
    tile.fill(sample, s, ends, i, end, part);
    tile.highest(t, best, slope);
    for (index_t e = 0; e < kTile; ++e) {
      const double mine = tile.weights[e] * slope[e];
      total += mine * mine;
    }
  }
  return {total};
}

struct Line {
  double rise, height;  // height at the left end of the bracket
};

// Where a.height + t a.rise = b.height + t b.rise.
inline double meet(const Line& a, const Line& b) {
  return (a.height - b.height) / (b.rise - a.rise);
}

// The breakpoints of one example between `low` and low + span: the lines sorted by slope, those
// below their neighbours' crossing dropped (a convex hull), O(Y log Y). The first line is the
// highest at the left end, the steepest the highest at the right end.
inline void envelope(std::vector<Line>& lines, double span, double low, double weight,
                     std::vector<Breakpoint>& out) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.rise < b.rise || (a.rise == b.rise && a.height > b.height);
  });
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

// The breakpoints of an example whose highest lines at the ends of a bracket are `first` and
// `last`, where others may be above them in between.
void bend(const MulticlassSample& sample, const double* s, const double* ends, index_t i,
          const Line& first, const Line& last, double low, double span, std::vector<Line>& lines,
          std::vector<Breakpoint>& out) {
  const Example example(sample, i);
  const double* from = s + i * example.classes;
  const double* to = ends + i * example.classes;
  const double own = from[example.k], own_way = to[example.k] - own;
  // A line that is not above these two where they meet is below one of them all the way.
  const double meeting = meet(first, last), height = first.height + meeting * first.rise;
  lines.assign(1, first);
  for (index_t y = 0; y < example.classes; ++y) {
    const double rise = example.scale(y) * (to[y] - from[y] - own_way);
    const Line line{rise, example.line(y, from[y] - own) + low * rise};
    const bool between = line.rise > first.rise && line.rise < last.rise;
    if (between && line.height + meeting * line.rise > height) lines.push_back(line);
  }
  lines.push_back(last);
  envelope(lines, span, low, example.weight, out);
}

// The slopes at `low` and `high`, and the breakpoints between. Few examples have any in a narrow
// bracket: their highest lines at its ends differ. Most of these have one, where the two meet.
CUTPLANE_MULTIVERSION Sums<2> collect_block(const MulticlassSample& sample, const double* s,
                                            const double* ends, double low, double high,
                                            index_t begin, index_t end,
                                            std::vector<Breakpoint>& out) {
  TileSum sum_low, sum_high;
  Tile tile(sample.classes);
  std::vector<Line> lines;
  const double span = high - low;
  double best_low[kTile], best_high[kTile], rise_low[kTile], rise_high[kTile];
  double meeting[kTile], there[kTile], more[kTile];
  for (index_t i = begin; i < end; i += kTile) {
    tile.fill(sample, s, ends, i, end);
    tile.highest(low, best_low, rise_low);
    tile.highest(high, best_high, rise_high);
    sum_low.add(tile.weights, rise_low);
    sum_high.add(tile.weights, rise_high);
    double bent = 0.0;
#pragma omp simd reduction(+ : bent)
    for (index_t e = 0; e < kTile; ++e) {
      const double bend = rise_high[e] - rise_low[e];
      bent += bend > 0.0 ? 1.0 : 0.0;
      // From here on the height of the last line is that at the left end.
      best_high[e] -= span * rise_high[e];
      meeting[e] = (best_low[e] - best_high[e]) / (bend > 0.0 ? bend : 1.0);
      there[e] = best_low[e] + meeting[e] * rise_low[e];
    }
    if (bent == 0.0) continue;
    tile.above(low, meeting, there, rise_low, rise_high, more);
    for (index_t e = 0; e < kTile; ++e) {
      const Line first{rise_low[e], best_low[e]}, last{rise_high[e], best_high[e]};
      if (!(first.rise < last.rise)) continue;
      if (more[e] > 0.0) {
        bend(sample, s, ends, i + e, first, last, low, span, lines, out);
      } else {
        out.push_back(
            {low + std::clamp(meeting[e], 0.0, span), tile.weights[e] * (last.rise - first.rise)});
      }
    }
  }
  return {sum_low.total(), sum_high.total()};
}

// What the search for the minimum asks (core/losses/ray_minimum.hpp).
struct LineSweeps {
  const MulticlassSample& sample;
  const double* s;
  const double* ends;
  int n_threads;

  // A sample counts as large by its scores: two classes take as long as an example of the hinge.
  index_t size() const { return sample.n * sample.classes / 2; }

  // Several probes of an example are as much work as a sweep over several.
  static index_t weigh(index_t part) { return std::max<index_t>(1, part / 4); }

  Probes slopes(const double* probes, index_t part) const {
    return sum_examples<kProbes>(
        sample, n_threads,
        [&](index_t begin, index_t end) {
          return probe_block(sample, s, ends, probes, part, begin, end);
        },
        weigh(part));
  }

  double squared_slopes(double t, index_t part) const {
    return sum_examples<1>(
        sample, n_threads,
        [&](index_t begin, index_t end) {
          return square_block(sample, s, ends, t, part, begin, end);
        },
        weigh(part))[0];
  }

  // The breakpoints between low and high, and the slopes there.
  BreakpointSweep sweep(double low, double high) const {
    const Blocks blocks = example_blocks(sample);
    BreakpointParts found(blocks.count);
    const auto slopes = sum_blocks<2>(
        blocks, sweep_threads(sample, n_threads), [&](index_t b, index_t begin, index_t end) {
          return collect_block(sample, s, ends, low, high, begin, end, found[b]);
        });
    return {std::move(found), slopes[0], slopes[1]};
  }
};

}  // namespace multiclass

double multiclass_ray_minimum(const MulticlassSample& sample, const double* s, const double* end,
                              double quadratic, double linear, double C, int n_threads) {
  const multiclass::LineSweeps sweeps{sample, s, end, n_threads};
  return ray_minimum(
      {sweeps.size(),
       [&](const double* probes, index_t part) { return sweeps.slopes(probes, part); },
       [&](double low, double high) { return sweeps.sweep(low, high); },
       [&](double t, index_t part) { return sweeps.squared_slopes(t, part); }},
      quadratic, linear, C, 0.0);
}

}  // namespace cutplane
