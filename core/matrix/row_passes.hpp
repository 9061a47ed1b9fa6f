// Passes over a matrix stored by rows, written once for every layout.
//
// A `Rows` offers dot, axpy, ... on one row; RowMatrix turns them into threaded passes.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/any_rows.hpp"
#include "core/matrix/block_sums.hpp"
#include "core/matrix/columns.hpp"
#include "core/matrix/matrix.hpp"
#include "core/matrix/row_products.hpp"
#include "core/matrix/row_squares.hpp"

namespace cutplane {

// Of so many columns of coefficients, dense rows are added up one column after the other: a row
// that stays in the cache is read again faster than sums of all columns are.
inline constexpr index_t kColumnsInTurn = 6;

// Sums of outer products are cut into parts of their triangle where they are larger than this; a
// row is looked at once for each part, which so much work in it is worth.
inline constexpr index_t kShortTriangle = 1 << 17;
inline constexpr index_t kWorkPerPart = 512;
inline constexpr index_t kMostParts = 16;

template <class Rows>
CUTPLANE_MULTIVERSION void score_rows_many(const Rows& rows, index_t begin, index_t end,
                                           const double* padded, index_t columns, index_t k,
                                           double* out) {
  // What padding adds to a row's scores, at most three numbers, the next row overwrites.
  for (index_t i = begin; i + 1 < end; ++i) rows.dot_many(rows.at(i), padded, columns, out + i * k);
  if (begin == end) return;
  std::vector<double> sums(columns);
  rows.dot_many(rows.at(end - 1), padded, columns, sums.data());
  std::copy_n(sums.data(), k, out + (end - 1) * k);
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_rows_many(const Rows& rows, index_t begin, index_t end,
                                         const double* coef, index_t k, double* sum) {
  for (index_t i = begin; i < end; ++i) rows.axpy_many(rows.at(i), coef + i * k, k, sum);
}

// Null squares are not asked for.
template <class Rows>
CUTPLANE_MULTIVERSION RowExtent extent_of_single_rows(const Rows& rows, index_t begin, index_t end,
                                                      double* columns, double* squares) {
  RowExtent largest{0.0, 0};
  for (index_t i = begin; i < end; ++i) {
    const index_t row = rows.at(i);
    const double square = rows.survey(row, columns);
    if (squares) squares[i] = square;
    largest.squared_norm = std::max(largest.squared_norm, square);
    largest.entries = std::max(largest.entries, rows.size(row));
  }
  return largest;
}

// Rows of which eight can be surveyed at a time.
template <class Rows>
concept SurveyedOctets = requires { &Rows::template survey_eight<2>; };

template <int N, class Rows>
CUTPLANE_INLINE index_t survey_octets(const Rows& rows, index_t begin, index_t end, double* columns,
                                      double* squares, double& longest) {
  const auto row_at = [&](index_t k) CUTPLANE_INLINED { return begin + k; };
  const auto survey = [&](const auto& now, const auto& next, index_t k, index_t length)
                          CUTPLANE_INLINED {
                            double found[kStreams];
                            rows.template survey_eight<N>(now, next, columns, found);
                            for (index_t s = 0; s < kStreams; ++s) {
                              longest = std::max(longest, found[s]);
                              if (squares) squares[begin + k + s * length] = found[s];
                            }
                          };
  return begin + by_octets(rows, end - begin, row_at, survey);
}

template <class Rows>
RowExtent extent_of_rows(const Rows& rows, index_t begin, index_t end, double* columns,
                         double* squares) {
  index_t rest = begin;
  double longest = 0;
  if constexpr (SurveyedOctets<Rows>) {
    with_lanes(rows.most_lanes, [&](auto lanes) CUTPLANE_INLINED {
      if (rows.d >= lanes())
        rest = survey_octets<lanes()>(rows, begin, end, columns, squares, longest);
    });
  }
  RowExtent found = extent_of_single_rows(rows, rest, end, columns, squares);
  found.squared_norm = std::max(found.squared_norm, longest);
  if (rest > begin) found.entries = rows.d;
  return found;
}

template <class Rows>
CUTPLANE_MULTIVERSION void square_rows(const Rows& rows, index_t begin, index_t end, double* out) {
  for (index_t i = begin; i < end; ++i) out[i] = rows.squared_norm(rows.at(i));
}

template <class Rows>
CUTPLANE_MULTIVERSION index_t first_unusable(const Rows& rows, index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i)
    if (!rows.usable(rows.at(i))) return i;
  return -1;
}

template <class Rows>
class RowMatrix : public Matrix {
 public:
  explicit RowMatrix(Rows rows) : rows_(rows) {}

  index_t rows() const override { return rows_.n; }
  index_t cols() const override { return rows_.d; }
  index_t entries() const override { return rows_.entries(); }

  void scores(const double* w, index_t k, double* out, int n_threads) const override {
    const int threads = useful_threads(n_threads, entries() * k);
    if (k == 1) {
      for_blocks(row_blocks(), threads, [&](index_t, index_t begin, index_t end) {
        score_rows(rows_, begin, end, w, out);
      });
      return;
    }
    // Columns that do not fit into registers are summed up in memory, and need no whole vectors.
    const index_t columns = k > kRegisterColumns ? k : padded_columns(k);
    LargeArray copy(columns == k ? 0 : static_cast<std::size_t>(rows_.d * columns));
    if (columns != k) {
      for (index_t j = 0; j < rows_.d; ++j) std::copy_n(w + j * k, k, copy.data() + j * columns);
    }
    const double* padded = columns == k ? w : copy.data();
    for_blocks(row_blocks(), threads, [&](index_t, index_t begin, index_t end) {
      score_rows_many(rows_, begin, end, padded, columns, k, out);
    });
  }

  void combine(const double* coef, index_t k, double* out, int n_threads) const override {
    // Of several columns mostly few have coefficients: work and blocks are counted by those.
    const index_t there = k == 1 ? rows_.n : count_nonzero(coef, rows_.n * k, n_threads);
    const index_t work = k == 1 ? entries() : entries_per_row() * there;
    if (k > 1 && k <= kColumnsInTurn && entries() == rows_.n * rows_.d && 2 * there > rows_.n * k)
      return combine_in_turn(coef, k, work, out, n_threads);
    sum_blocks(rows_.n, work, rows_.d * k, out, n_threads,
               [&](index_t begin, index_t end, double* sum) {
                 k == 1 ? add_rows(rows_, begin, end, coef, sum)
                        : add_rows_many(rows_, begin, end, coef, k, sum);
               });
  }

  void add_few(const double* coef, double* out) const override {
    add_rows(rows_, 0, rows_.n, coef, out);
  }

  PassSums read_scores(const double* w, const ReadScores& read, int n_threads) const override {
    const Blocks blocks = row_blocks();
    std::vector<PassSums> partial(blocks.count, PassSums{});
    const int threads = useful_threads(n_threads, entries());
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      double scores[kRowsTogether];
      for (index_t start = begin; start < end; start += kRowsTogether) {
        const index_t stop = std::min(start + kRowsTogether, end);
        score_part(start, stop, w, scores - start);
        add_sums(read(start, stop, scores), partial[b].data());
      }
    });
    PassSums total{};
    for (const PassSums& part : partial) add_sums(part, total.data());
    return total;
  }

  PassSums combine_made(const MakeCoefficients& make, double* out, int n_threads) const override {
    return combine_parts(kRowsTogether, make, out, n_threads);
  }

  PassSums combine_scored(const double* w, const WeighScores& weigh, double* out,
                          int n_threads) const override {
    const auto make = [&](index_t begin, index_t end, double* coef) {
      double scores[kRowsTogether];
      score_part(begin, end, w, scores - begin);
      return weigh(begin, end, scores, coef);
    };
    return combine_parts(rows_together(entries_per_row()), make, out, n_threads);
  }

  void curvature(std::span<const std::int64_t> subset, const double* weights, const double* v,
                 double* out, int n_threads) const override {
    sum_blocks(std::ssize(subset), entries_of(subset), rows_.d, out, n_threads,
               [&](index_t begin, index_t end, double* sum) {
                 add_curvature(rows_, subset, begin, end, weights, v, sum);
               });
  }

  void gram(std::span<const std::int64_t> subset, const double* weights, double* out,
            int n_threads) const override {
    const index_t per_row = entries_of(subset) / std::max<index_t>(std::ssize(subset), 1) + 1;
    const index_t size = rows_.d * rows_.d, n = std::ssize(subset);
    const index_t work = n * per_row * per_row / 2;
    if (size <= kShortTriangle) {
      sum_blocks(n, work, size, out, n_threads, [&](index_t begin, index_t end, double* sum) {
        add_outer_products(rows_, subset, begin, end, weights, 0, rows_.d, sum);
      });
      return;
    }
    // By parts of the triangle, about equal in size: no partial sums, and a part stays in cache.
    const Blocks parts = make_blocks(per_row * per_row, kWorkPerPart, kMostParts);
    const auto start = [&](index_t part) {
      return std::lround(std::sqrt(static_cast<double>(part) / parts.count) * rows_.d);
    };
    for_blocks(parts, useful_threads(n_threads, work), [&](index_t part, index_t, index_t) {
      const index_t first = start(part), last = start(part + 1);
      std::fill(out + first * rows_.d, out + last * rows_.d, 0.0);
      add_outer_products(rows_, subset, 0, n, weights, first, last, out);
    });
  }

  void gather(std::span<const std::int64_t> subset, const double* scale, float* out,
              int n_threads) const override {
    const int threads = useful_threads(n_threads, std::ssize(subset) * rows_.d);
    for_blocks(make_blocks(std::ssize(subset), 64, kMostBlocks), threads,
               [&](index_t, index_t begin, index_t end) {
                 for (index_t s = begin; s < end; ++s) {
                   float* row = out + s * rows_.d;
                   std::fill(row, row + rows_.d, 0.0f);
                   rows_.axpy(rows_.at(subset[s]), scale[s], row);
                 }
               });
  }

  void squared_norms(double* out, int n_threads) const override {
    const int threads = useful_threads(n_threads, entries());
    for_blocks(row_blocks(), threads,
               [&](index_t, index_t begin, index_t end) { square_rows(rows_, begin, end, out); });
  }

  RowExtent extent(double* columns, double* squares, int n_threads) const override {
    return extent_by_blocks(columns, n_threads, [&](index_t begin, index_t end, double* sizes) {
      return extent_of_rows(rows_, begin, end, sizes, squares);
    });
  }

  index_t sum_depth() const override {
    const Blocks blocks = sum_blocks_of(rows_.n, entries(), rows_.d);
    return (rows_.n + blocks.count - 1) / blocks.count + blocks.count;
  }

  AnyRows any_rows() const override { return {rows_.as_any()}; }

  index_t first_unusable_row(int n_threads) const override {
    const Blocks blocks = row_blocks();
    std::vector<index_t> found(blocks.count, -1);
    const int threads = useful_threads(n_threads, entries());
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      found[b] = first_unusable(rows_, begin, end);
    });
    for (index_t row : found)
      if (row >= 0) return row;
    return -1;
  }

 protected:
  // Maxima do not depend on how rows are shared out: a block a thread.
  template <class Survey>
  RowExtent extent_by_blocks(double* columns, int n_threads, Survey&& survey) const {
    const Blocks blocks{rows_.n, std::clamp<index_t>(useful_threads(n_threads, entries()), 1,
                                                     std::max<index_t>(rows_.n, 1))};
    std::vector<RowExtent> largest(blocks.count);
    PartialSums sizes(blocks.count, rows_.d);
    for_blocks(blocks, static_cast<int>(blocks.count), [&](index_t b, index_t begin, index_t end) {
      largest[b] = survey(begin, end, sizes.cleared(b));
    });
    RowExtent all{0.0, 0};
    std::fill_n(columns, rows_.d, 0.0);
    for (index_t b = 0; b < blocks.count; ++b) {
      all.squared_norm = std::max(all.squared_norm, largest[b].squared_norm);
      all.entries = std::max(all.entries, largest[b].entries);
      const double* part = sizes.of(b);
      for (index_t j = 0; j < rows_.d; ++j) columns[j] = std::max(columns[j], part[j]);
    }
    return all;
  }

  // out and coef: of all rows.
  virtual void score_part(index_t begin, index_t end, const double* w, double* out) const {
    score_rows(rows_, begin, end, w, out);
  }
  virtual void add_part(index_t begin, index_t end, const double* coef, double* sum) const {
    add_rows(rows_, begin, end, coef, sum);
  }

 private:
  Blocks row_blocks() const {
    const index_t per_row = std::max<index_t>(1, entries() / std::max<index_t>(rows_.n, 1));
    return make_blocks(rows_.n, std::max<index_t>(1, kEntriesPerBlock / per_row), 4 * kMostBlocks);
  }

  index_t entries_of(std::span<const std::int64_t> subset) const {
    return entries_per_row() * std::ssize(subset);
  }

  // X^T coef, a few rows at a time, and of these one column after the other.
  void combine_in_turn(const double* coef, index_t k, index_t work, double* out,
                       int n_threads) const {
    const index_t d = rows_.d;
    const index_t together = rows_together(d);
    std::vector<double> sums(d * k);  // column after column
    sum_blocks(rows_.n, work, d * k, sums.data(), n_threads,
               [&](index_t begin, index_t end, double* sum) {
                 double column[kRowsTogether];
                 for (index_t start = begin; start < end; start += together) {
                   const index_t stop = std::min(start + together, end);
                   for (index_t c = 0; c < k; ++c) {
                     for (index_t i = start; i < stop; ++i) column[i - start] = coef[i * k + c];
                     add_part(start, stop, column - start, sum + c * d);
                   }
                 }
               });
    for (index_t j = 0; j < d; ++j)
      for (index_t c = 0; c < k; ++c) out[j * k + c] = sums[c * d + j];
  }

  // `together` rows at a time.
  template <class Make>
  PassSums combine_parts(index_t together, const Make& make, double* out, int n_threads) const {
    const index_t d = rows_.d;
    PassSums total;
    std::vector<double> sums(d + total.size());  // of rows, and behind them what goes along
    sum_blocks(rows_.n, entries(), std::ssize(sums), sums.data(), n_threads,
               [&](index_t begin, index_t end, double* sum) {
                 double coef[kRowsTogether];
                 for (index_t start = begin; start < end; start += together) {
                   const index_t stop = std::min(start + together, end);
                   add_sums(make(start, stop, coef), sum + d);
                   add_part(start, stop, coef - start, sum);
                 }
               });
    std::copy_n(sums.data(), d, out);
    std::copy_n(sums.data() + d, total.size(), total.data());
    return total;
  }

  static void add_sums(const PassSums& some, double* sums) {
    for (std::size_t k = 0; k < some.size(); ++k) sums[k] += some[k];
  }

  Rows rows_;
};

}  // namespace cutplane
