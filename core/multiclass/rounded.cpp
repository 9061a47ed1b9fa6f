// The risk with its kinks rounded, its curvature, and both along a line.
#include <cmath>

#include "core/multiclass/lines.hpp"

namespace cutplane {
namespace multiclass {

CUTPLANE_MULTIVERSION Sums<4> smoothed_block(const MulticlassSample& sample, const double* s,
                                             double h, double* coef, index_t begin, index_t end) {
  const double width = 0.5 * h;
  Sums<4> sum{};
  std::vector<double> z(sample.classes), p(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    const index_t row = i * e.classes;
    double top;
    const index_t at = e.highest_class(s + row, top);
    sum[0] += e.weight * top;
    e.lines(s + row, z.data());
    const Projection on = project(z.data(), e.classes, top, width, near);
    if (on.count == 1) {
      sum[1] += e.vertex(at, coef + row);
      continue;
    }
    double height = 0, total = 0;
    for (index_t y = 0; y < e.classes; ++y) {
      p[y] = z[y] > on.threshold ? (z[y] - on.threshold) / width : 0.0;
      total += p[y];
    }
    for (index_t y = 0; y < e.classes; ++y) {
      p[y] /= total;
      height += p[y] * z[y];
    }
    sum[1] += e.plane(p.data(), coef + row);
    sum[2] += e.weight * (top - height);
    sum[3] += 1.0;
  }
  return sum;
}

void extrapolated_block(const MulticlassSample& sample, const double* s, double h, double reach,
                        double* coef, index_t begin, index_t end) {
  std::vector<double> z(sample.classes), p(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    const index_t row = i * e.classes;
    double top;
    const index_t at = e.highest_class(s + row, top);
    e.lines(s + row, z.data());
    const Projection on = project(z.data(), e.classes, top, 0.5 * reach, near);
    if (on.count == 1) {
      e.vertex(at, coef + row);
      continue;
    }
    double sum = 0;
    for (index_t y = 0; y < e.classes; ++y)
      if (z[y] > on.threshold) sum += z[y];
    const double count = static_cast<double>(on.count);
    for (index_t y = 0; y < e.classes; ++y)
      p[y] = z[y] > on.threshold ? 2.0 * (z[y] - sum / count) / h + 1.0 / count : 0.0;
    e.plane(p.data(), coef + row);
  }
}

void kinks_block(const MulticlassSample& sample, const double* s, double h, index_t begin,
                 index_t end, Kinks& found) {
  std::vector<double> z(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    const double top = e.highest(s + i * e.classes);
    e.lines(s + i * e.classes, z.data());
    const Projection on = project(z.data(), e.classes, top, 0.5 * h, near);
    if (on.count == 1) continue;
    found.rows.push_back(i);
    found.weights.push_back(e.weight);
    for (index_t y = 0; y < e.classes; ++y)
      if (z[y] > on.threshold) found.classes.push_back(static_cast<std::int32_t>(y));
    found.starts.push_back(std::ssize(found.classes));
  }
}

CUTPLANE_MULTIVERSION void curvature_block(const MulticlassSample& sample, const Kinks& kinks,
                                           const double* t, double* out, index_t begin,
                                           index_t end) {
  for (index_t r = begin; r < end; ++r) {
    const Example e(sample, kinks.rows[r]);
    const double* from = t + r * e.classes;
    double* to = out + r * e.classes;
    std::fill(to, to + e.classes, 0.0);
    const std::int64_t first = kinks.starts[r], last = kinks.starts[r + 1];
    double mean = 0;
    for (std::int64_t j = first; j < last; ++j) {
      const index_t y = kinks.classes[j];
      mean += e.scale(y) * (from[y] - from[e.k]);
    }
    mean /= static_cast<double>(last - first);
    double own = 0;
    for (std::int64_t j = first; j < last; ++j) {
      const index_t y = kinks.classes[j];
      const double moved = e.scale(y) * (from[y] - from[e.k]) - mean;
      const double share = 2.0 * kinks.weights[r] * e.scale(y) * moved;
      if (y != e.k) to[y] = share, own += share;
    }
    to[e.k] = -own;
  }
}

CUTPLANE_MULTIVERSION Sums<3> ray_block(const MulticlassSample& sample, const double* s,
                                        const double* other, bool towards, double t, index_t begin,
                                        index_t end) {
  Sums<3> sum{};
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    const double* from = s + i * e.classes;
    const double* to = other + i * e.classes;
    const double own = from[e.k];
    const double own_way = towards ? to[e.k] - own : to[e.k];
    double best = 0, slope = 0;
    for (index_t y = 0; y < e.classes; ++y) {
      const double way = towards ? to[y] - from[y] : to[y];
      const double rise = e.scale(y) * (way - own_way);
      const double z = e.line(y, from[y] - own) + t * rise;
      // Of lines that meet here, the steepest is the highest right of it.
      if (z > best || (z == best && rise > slope)) best = z, slope = rise;
    }
    sum[0] += e.weight * best;
    sum[1] += e.weight * slope;
  }
  return sum;
}

CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_block(const MulticlassSample& sample, const double* s,
                                                 const double* other, bool towards, double t,
                                                 double h, index_t begin, index_t end) {
  const double width = 0.5 * h;
  Sums<3> sum{};
  std::vector<double> z(sample.classes), rise(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    const double* from = s + i * e.classes;
    const double* to = other + i * e.classes;
    const double own = from[e.k];
    const double own_way = towards ? to[e.k] - own : to[e.k];
    double top = -INFINITY;
    index_t at = e.k;
    for (index_t y = 0; y < e.classes; ++y) {
      const double way = towards ? to[y] - from[y] : to[y];
      rise[y] = e.scale(y) * (way - own_way);
      z[y] = e.line(y, from[y] - own) + t * rise[y];
      if (z[y] > top) top = z[y], at = y;
    }
    const Projection on = project(z.data(), e.classes, top, width, near);
    if (on.count == 1) {
      sum[0] += e.weight * top;
      sum[1] += e.weight * rise[at];
      continue;
    }
    double height = 0, square = 0, slope = 0, mean = 0, spread = 0;
    for (index_t y = 0; y < e.classes; ++y) {
      if (z[y] <= on.threshold) continue;
      const double p = (z[y] - on.threshold) / width;
      height += p * z[y];
      square += p * p;
      slope += p * rise[y];
      mean += rise[y];
      spread += rise[y] * rise[y];
    }
    mean /= static_cast<double>(on.count);
    sum[0] += e.weight * (height + 0.5 * width * (1.0 - square));
    sum[1] += e.weight * slope;
    sum[2] +=
        e.weight * std::max(0.0, spread - static_cast<double>(on.count) * mean * mean) / width;
  }
  return sum;
}

}  // namespace multiclass

using namespace multiclass;

SmoothedMulticlass multiclass_smoothed(const MulticlassSample& sample, const double* s, double h,
                                       double* coef, int n_threads) {
  const auto sums = sum_examples<4>(sample, n_threads, [&](index_t begin, index_t end) {
    return smoothed_block(sample, s, h, coef, begin, end);
  });
  return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
}

void multiclass_extrapolated(const MulticlassSample& sample, const double* s, double h,
                             double reach, double* coef, int n_threads) {
  for_blocks(example_blocks(sample), sweep_threads(sample, n_threads),
             [&](index_t, index_t begin, index_t end) {
               extrapolated_block(sample, s, h, reach, coef, begin, end);
             });
}

Kinks multiclass_kinks(const MulticlassSample& sample, const double* s, double h, int n_threads) {
  const Blocks blocks = example_blocks(sample);
  std::vector<Kinks> found(blocks.count);
  for_blocks(blocks, sweep_threads(sample, n_threads), [&](index_t b, index_t begin, index_t end) {
    kinks_block(sample, s, h, begin, end, found[b]);
  });
  Kinks all;
  all.starts.push_back(0);
  for (const Kinks& part : found) {
    const std::int64_t base = std::ssize(all.classes);
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
    all.classes.insert(all.classes.end(), part.classes.begin(), part.classes.end());
    for (std::int64_t start : part.starts) all.starts.push_back(base + start);
  }
  return all;
}

void multiclass_curvature(const MulticlassSample& sample, const Kinks& kinks, const double* t,
                          double* out, int n_threads) {
  const index_t rows = std::ssize(kinks.rows);
  for_blocks(make_blocks(rows, 1024, 64),
             useful_threads(n_threads, kWorkPerScore * rows * sample.classes),
             [&](index_t, index_t begin, index_t end) {
               curvature_block(sample, kinks, t, out, begin, end);
             });
}

MulticlassDerivatives multiclass_ray(const MulticlassSample& sample, const double* s,
                                     const double* other, bool towards, double t, double h,
                                     int n_threads) {
  const auto sums = sum_examples<3>(sample, n_threads, [&](index_t begin, index_t end) {
    return h > 0.0 ? smoothed_ray_block(sample, s, other, towards, t, h, begin, end)
                   : ray_block(sample, s, other, towards, t, begin, end);
  });
  return {sums[0], sums[1], sums[2]};
}

}  // namespace cutplane
