#include "core/multiclass/sweeps.hpp"

#include <cmath>

#include "core/multiclass/lines.hpp"

namespace cutplane {
namespace multiclass {

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<1> value_block(const MulticlassSample& sample, const double* s,
                                          index_t begin, index_t end) {
  double value = 0;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    value += e.weight * e.highest(s + i * e.classes);
  }
  return {value};
}

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<2> cut_block(const MulticlassSample& sample, const double* s,
                                        double* coef, index_t begin, index_t end) {
  Sums<2> sum{};
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    double best;
    const index_t at = e.highest_class(s + i * e.classes, best);
    sum[0] += e.weight * best;
    sum[1] += e.vertex(at, coef + i * e.classes);
  }
  return sum;
}

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<3> advance_block(const MulticlassSample& sample, const double* s,
                                            const double* end_scores, double step, double mu,
                                            double* moved, double* coef, index_t begin,
                                            index_t end) {
  Sums<3> sum{};
  std::vector<double> there(sample.classes);
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    const index_t row = i * e.classes;
    for (index_t y = 0; y < e.classes; ++y) {
      const double to = end_scores[row + y];
      const double next = s[row + y] + step * (to - s[row + y]);
      moved[row + y] = next;
      there[y] = next + mu * (to - next);
    }
    sum[0] += e.weight * e.highest(moved + row);
    double best;
    const index_t at = e.highest_class(there.data(), best);
    sum[1] += e.weight * best;
    sum[2] += e.vertex(at, coef + row);
  }
  return sum;
}

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<4> smoothed_block(const MulticlassSample& sample, const double* s,
                                             double h, double* coef, index_t begin, index_t end) {
  const double width = 0.5 * h;
  Sums<4> sum{};
  std::vector<double> z(sample.classes), p(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
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

template <bool kSlack>
void extrapolated_block(const MulticlassSample& sample, const double* s, double h, double reach,
                        double* coef, index_t begin, index_t end) {
  std::vector<double> z(sample.classes), p(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
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

template <bool kSlack>
void kinks_block(const MulticlassSample& sample, const double* s, double h, index_t begin,
                 index_t end, Kinks& found) {
  std::vector<double> z(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
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

template <bool kSlack>
CUTPLANE_MULTIVERSION void curvature_block(const MulticlassSample& sample, const Kinks& kinks,
                                           const double* t, double* out, index_t begin,
                                           index_t end) {
  for (index_t r = begin; r < end; ++r) {
    const Example<kSlack> e(sample, kinks.rows[r]);
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

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<3> ray_block(const MulticlassSample& sample, const double* s,
                                        const double* other, bool towards, double t, index_t begin,
                                        index_t end) {
  Sums<3> sum{};
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
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

template <bool kSlack>
CUTPLANE_MULTIVERSION Sums<3> smoothed_ray_block(const MulticlassSample& sample, const double* s,
                                                 const double* other, bool towards, double t,
                                                 double h, index_t begin, index_t end) {
  const double width = 0.5 * h;
  Sums<3> sum{};
  std::vector<double> z(sample.classes), rise(sample.classes), near;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
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

// sums: value, gradient, second derivative of the rounded risk in the intercepts.
template <bool kSlack>
void intercepts_block(const MulticlassSample& sample, const double* s, const double* b, double h,
                      index_t begin, index_t end, double* sums) {
  const double width = 0.5 * h;
  const index_t classes = sample.classes;
  double* gradient = sums + 1;
  double* hessian = gradient + classes;
  std::vector<double> shifted(classes), z(classes), near;
  std::vector<index_t> meeting;
  for (index_t i = begin; i < end; ++i) {
    const Example<kSlack> e(sample, i);
    for (index_t y = 0; y < classes; ++y) shifted[y] = s[i * classes + y] + b[y];
    double top;
    const index_t at = e.highest_class(shifted.data(), top);
    e.lines(shifted.data(), z.data());
    const Projection on = project(z.data(), classes, top, width, near);
    if (on.count == 1) {
      sums[0] += e.weight * top;
      if (at == e.k) continue;
      gradient[at] += e.weight * e.scale(at);
      gradient[e.k] -= e.weight * e.scale(at);
      continue;
    }
    meeting.clear();
    double height = 0, square = 0;
    for (index_t y = 0; y < classes; ++y) {
      if (z[y] <= on.threshold) continue;
      const double p = (z[y] - on.threshold) / width;
      height += p * z[y];
      square += p * p;
      gradient[y] += e.weight * p * e.scale(y);
      gradient[e.k] -= e.weight * p * e.scale(y);
      meeting.push_back(y);
    }
    sums[0] += e.weight * (height + 0.5 * width * (1.0 - square));
    // Each pair of the classes that meet adds the square of the difference of their lines.
    const double share = e.weight / (width * static_cast<double>(on.count));
    for (std::size_t one = 0; one < meeting.size(); ++one)
      for (std::size_t two = 0; two < one; ++two) {
        const index_t y[3] = {meeting[one], meeting[two], e.k};
        const double f[3] = {e.scale(y[0]), -e.scale(y[1]), e.scale(y[1]) - e.scale(y[0])};
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) hessian[y[a] * classes + y[c]] += share * f[a] * f[c];
      }
  }
}

}  // namespace multiclass

using namespace multiclass;

double multiclass_value(const MulticlassSample& sample, const double* s, int n_threads) {
  return with_rescaling(sample, [&](auto slack) {
    return sum_examples<1>(sample, n_threads, [&](index_t begin, index_t end) {
      return value_block<slack.value>(sample, s, begin, end);
    })[0];
  });
}

MulticlassCut multiclass_cut(const MulticlassSample& sample, const double* s, double* coef,
                             int n_threads) {
  return with_rescaling(sample, [&](auto slack) -> MulticlassCut {
    const auto sums = sum_examples<2>(sample, n_threads, [&](index_t begin, index_t end) {
      return cut_block<slack.value>(sample, s, coef, begin, end);
    });
    return {sums[0], sums[1]};
  });
}

MulticlassAdvance multiclass_advance(const MulticlassSample& sample, const double* s,
                                     const double* end_scores, double step, double mu,
                                     double* moved, double* coef, int n_threads) {
  return with_rescaling(sample, [&](auto slack) -> MulticlassAdvance {
    const auto sums = sum_examples<3>(sample, n_threads, [&](index_t begin, index_t end) {
      return advance_block<slack.value>(sample, s, end_scores, step, mu, moved, coef, begin, end);
    });
    return {sums[0], {sums[1], sums[2]}};
  });
}

SmoothedMulticlass multiclass_smoothed(const MulticlassSample& sample, const double* s, double h,
                                       double* coef, int n_threads) {
  return with_rescaling(sample, [&](auto slack) -> SmoothedMulticlass {
    const auto sums = sum_examples<4>(sample, n_threads, [&](index_t begin, index_t end) {
      return smoothed_block<slack.value>(sample, s, h, coef, begin, end);
    });
    return {sums[0], sums[1], sums[2], static_cast<index_t>(sums[3])};
  });
}

void multiclass_extrapolated(const MulticlassSample& sample, const double* s, double h,
                             double reach, double* coef, int n_threads) {
  with_rescaling(sample, [&](auto slack) {
    for_blocks(example_blocks(sample), sweep_threads(sample, n_threads),
               [&](index_t, index_t begin, index_t end) {
                 extrapolated_block<slack.value>(sample, s, h, reach, coef, begin, end);
               });
  });
}

Kinks multiclass_kinks(const MulticlassSample& sample, const double* s, double h, int n_threads) {
  const Blocks blocks = example_blocks(sample);
  std::vector<Kinks> found(blocks.count);
  with_rescaling(sample, [&](auto slack) {
    for_blocks(blocks, sweep_threads(sample, n_threads),
               [&](index_t b, index_t begin, index_t end) {
                 kinks_block<slack.value>(sample, s, h, begin, end, found[b]);
               });
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
  with_rescaling(sample, [&](auto slack) {
    for_blocks(make_blocks(rows, 1024, 64),
               useful_threads(n_threads, kWorkPerScore * rows * sample.classes),
               [&](index_t, index_t begin, index_t end) {
                 curvature_block<slack.value>(sample, kinks, t, out, begin, end);
               });
  });
}

MulticlassDerivatives multiclass_ray(const MulticlassSample& sample, const double* s,
                                     const double* other, bool towards, double t, double h,
                                     int n_threads) {
  return with_rescaling(sample, [&](auto slack) -> MulticlassDerivatives {
    const auto sums = sum_examples<3>(sample, n_threads, [&](index_t begin, index_t end) {
      return h > 0.0 ? smoothed_ray_block<slack.value>(sample, s, other, towards, t, h, begin, end)
                     : ray_block<slack.value>(sample, s, other, towards, t, begin, end);
    });
    return {sums[0], sums[1], sums[2]};
  });
}

double multiclass_intercepts(const MulticlassSample& sample, const double* s, const double* b,
                             double h, double* gradient, double* hessian, int n_threads) {
  const index_t size = 1 + sample.classes + sample.classes * sample.classes;
  const Blocks blocks = example_blocks(sample);
  std::vector<double> partial(blocks.count * size, 0.0);
  with_rescaling(sample, [&](auto slack) {
    for_blocks(
        blocks, sweep_threads(sample, n_threads), [&](index_t block, index_t begin, index_t end) {
          intercepts_block<slack.value>(sample, s, b, h, begin, end, partial.data() + block * size);
        });
  });
  for (index_t block = 1; block < blocks.count; ++block)
    for (index_t j = 0; j < size; ++j) partial[j] += partial[block * size + j];
  std::copy_n(partial.data() + 1, sample.classes, gradient);
  std::copy_n(partial.data() + 1 + sample.classes, sample.classes * sample.classes, hessian);
  return partial[0];
}

void multiclass_flows(const MulticlassSample& sample, const double* coef, double* out) {
  std::fill(out, out + sample.classes * sample.classes, 0.0);
  for (index_t i = 0; i < sample.n; ++i) {
    const index_t k = sample.y[i];
    for (index_t y = 0; y < sample.classes; ++y)
      if (y != k) out[k * sample.classes + y] += coef[i * sample.classes + y];
  }
}

double multiclass_scale_flows(const MulticlassSample& sample, const double* keep, double* coef,
                              int n_threads) {
  return sum_examples<1>(sample, n_threads, [&](index_t begin, index_t end) {
    double offset = 0;
    for (index_t i = begin; i < end; ++i) {
      const index_t k = sample.y[i], row = k * sample.classes;
      double* mine = coef + i * sample.classes;
      double own = 0;
      for (index_t y = 0; y < sample.classes; ++y) {
        if (y == k || mine[y] == 0.0) continue;
        mine[y] *= keep[row + y];
        own += mine[y];
        const double scale = sample.factor ? sample.factor[row + y] : 1.0;
        offset += mine[y] / scale * sample.cost[row + y];
      }
      mine[k] = -own;
    }
    return Sums<1>{offset};
  })[0];
}

}  // namespace cutplane
