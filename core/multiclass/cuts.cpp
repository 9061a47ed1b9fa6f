// The risk itself and planes that touch it.
#include "core/base/random_order.hpp"
#include "core/matrix/any_rows.hpp"
#include "core/matrix/block_sums.hpp"
#include "core/multiclass/tiles.hpp"

namespace cutplane {
namespace multiclass {

CUTPLANE_MULTIVERSION Sums<1> value_block(const MulticlassSample& sample, const double* s,
                                          index_t begin, index_t end) {
  double value = 0;
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    value += e.weight * e.highest(s + i * e.classes);
  }
  return {value};
}

CUTPLANE_MULTIVERSION Sums<2> cut_block(const MulticlassSample& sample, const double* s,
                                        double* coef, index_t begin, index_t end) {
  Sums<2> sum{};
  for (index_t i = begin; i < end; ++i) {
    const Example e(sample, i);
    double best;
    const index_t at = e.highest_class(s + i * e.classes, best);
    sum[0] += e.weight * best;
    sum[1] += e.vertex(at, coef + i * e.classes);
  }
  return sum;
}

CUTPLANE_MULTIVERSION Sums<3> advance_block(const MulticlassSample& sample, const double* s,
                                            const double* end_scores, double step, double mu,
                                            double* moved, std::int32_t* chosen, index_t begin,
                                            index_t end) {
  TileSum value, cut_value;
  double offset = 0;
  const index_t classes = sample.classes;
  const bool moves = step != 0.0 || moved != s;
  Tile tile(classes);
  double best[kTile], there[kTile], at[kTile];
  for (index_t i = begin; i < end; i += kTile) {
    const index_t last = std::min(i + kTile, end);
    if (moves) {
#pragma omp simd
      for (index_t j = i * classes; j < last * classes; ++j)
        moved[j] = s[j] + step * (end_scores[j] - s[j]);
    }
    tile.fill(sample, moved, end_scores, i, last);
    tile.highest_classes(mu, best, there, at);
    value.add(tile.weights, best);
    cut_value.add(tile.weights, there);
    std::int32_t classes_there[kTile];
    for (index_t e = 0; e < kTile; ++e) classes_there[e] = static_cast<std::int32_t>(at[e]);
    for (index_t e = 0; e < last - i; ++e) {
      const std::int32_t k = sample.y[i + e];
      const std::int32_t y = there[e] > 0.0 ? classes_there[e] : k;
      chosen[i + e] = y;
      offset += tile.weights[e] * sample.cost[k * classes + y];
    }
  }
  return {value.total(), cut_value.total(), offset};
}

void coefficients_block(const MulticlassSample& sample, const std::int32_t* chosen, double* coef,
                        index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i)
    Example(sample, i).vertex(chosen[i], coef + i * sample.classes);
}

CUTPLANE_MULTIVERSION Sums<2> feasible_block(const MulticlassSample& sample, double* coef,
                                             index_t begin, index_t end) {
  // A little less than one: sums over classes are rounded.
  const double within = 1.0 - (static_cast<double>(sample.classes) + 8.0) * 0x1p-52;
  Sums<2> sum{};
  for (index_t i = begin; i < end; ++i) {
    const std::int32_t k = sample.y[i];
    const double* cost = sample.cost + k * sample.classes;
    double* p = coef + i * sample.classes;
    p[k] = 0.0;
    double total = 0, dear = 0;
#pragma omp simd reduction(+ : total, dear)
    for (index_t y = 0; y < sample.classes; ++y) {
      p[y] = p[y] > 0.0 ? p[y] : 0.0;
      total += p[y];
      dear += p[y] * cost[y];
    }
    const double most = within * (sample.c ? sample.c[i] : sample.each);
    if (total > most) {
      const double share = most / total;
#pragma omp simd
      for (index_t y = 0; y < sample.classes; ++y) p[y] *= share;
      total *= share;
      dear *= share;
    }
    p[k] = -total;
    sum[0] += dear;
    sum[1] += 2.0 * total;
  }
  return sum;
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_changes(const Rows& rows, index_t begin, index_t end,
                                       const MulticlassSample& sample, const std::int32_t* from,
                                       const std::int32_t* to, double* sum) {
  std::vector<index_t> changed(end - begin + 1);
  index_t count = 0;
  for (index_t i = begin; i < end; ++i) {
    changed[count] = i;
    count += from[i] != to[i];
  }
  for (index_t j = 0; j < count; ++j) {
    if (j + kAhead < count) rows.prefetch(rows.at(changed[j + kAhead]));
    const index_t i = changed[j];
    const std::int32_t classes[3] = {to[i], from[i], sample.y[i]};
    const double weight = sample.c ? sample.c[i] : sample.each;
    const double* factor = sample.factor + classes[2] * sample.factor_stride;
    const double up = weight * factor[to[i]], down = -weight * factor[from[i]];
    const double shares[3] = {up, down, -(up + down)};
    rows.axpy_few(rows.at(i), classes, shares, shares[2] == 0.0 ? 2 : 3, sample.classes, sum);
  }
}

}  // namespace multiclass

using namespace multiclass;

double multiclass_value(const MulticlassSample& sample, const double* s, int n_threads) {
  return sum_examples<1>(sample, n_threads, [&](index_t begin, index_t end) {
    return value_block(sample, s, begin, end);
  })[0];
}

MulticlassCut multiclass_cut(const MulticlassSample& sample, const double* s, double* coef,
                             int n_threads) {
  const auto sums = sum_examples<2>(sample, n_threads, [&](index_t begin, index_t end) {
    return cut_block(sample, s, coef, begin, end);
  });
  return {sums[0], sums[1]};
}

MulticlassAdvance multiclass_advance(const MulticlassSample& sample, const double* s,
                                     const double* end_scores, double step, double mu,
                                     double* moved, std::int32_t* chosen, int n_threads) {
  const auto sums = sum_examples<3>(sample, n_threads, [&](index_t begin, index_t end) {
    return advance_block(sample, s, end_scores, step, mu, moved, chosen, begin, end);
  });
  return {sums[0], {sums[1], sums[2]}};
}

MulticlassPlane multiclass_feasible(const MulticlassSample& sample, double* coef, int n_threads) {
  const auto sums = sum_examples<2>(sample, n_threads, [&](index_t begin, index_t end) {
    return feasible_block(sample, coef, begin, end);
  });
  return {sums[0], sums[1]};
}

void multiclass_coefficients(const MulticlassSample& sample, const std::int32_t* chosen,
                             double* coef, int n_threads) {
  for_blocks(example_blocks(sample), sweep_threads(sample, n_threads),
             [&](index_t, index_t begin, index_t end) {
               coefficients_block(sample, chosen, coef, begin, end);
             });
}

void change_choices(const Matrix& matrix, const MulticlassSample& sample, const std::int32_t* from,
                    const std::int32_t* to, double* out, int n_threads) {
  const index_t n = matrix.rows();
  index_t changes = 0;
  for (index_t i = 0; i < n; ++i) changes += from[i] != to[i];
  visit_rows(matrix, [&](const auto& rows) {
    add_blocks(n, 2 * changes * matrix.entries_per_row(), matrix.cols() * sample.classes, out,
               n_threads, [&](index_t begin, index_t end, double* sum) {
                 add_changes(rows, begin, end, sample, from, to, sum);
               });
  });
}

}  // namespace cutplane
