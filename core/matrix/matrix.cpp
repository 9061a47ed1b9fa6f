#include "core/matrix/matrix.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/matrix/block_sums.hpp"
#include "core/matrix/columns.hpp"
#include "core/matrix/row_matrix.hpp"
#include "core/matrix/row_products.hpp"

namespace cutplane {
namespace {

// Of so many columns of coefficients, dense rows are added up one column after the other: a row
// that stays in the cache is read again faster than sums of all columns are.
constexpr index_t kColumnsInTurn = 6;

// Sums of outer products are cut into parts of their triangle where they are larger than this; a
// row is looked at once for each part, which so much work in it is worth.
constexpr index_t kShortTriangle = 1 << 17;
constexpr index_t kWorkPerPart = 512;
constexpr index_t kMostParts = 16;

void add_sums(const PassSums& some, double* sums) {
  for (std::size_t k = 0; k < some.size(); ++k) sums[k] += some[k];
}

}  // namespace

Blocks Matrix::row_blocks() const {
  const index_t per_row = std::max<index_t>(1, entries_ / std::max<index_t>(n_, 1));
  return make_blocks(n_, std::max<index_t>(1, kEntriesPerBlock / per_row), 4 * kMostBlocks);
}

Blocks Matrix::tiles() const { return make_blocks(n_, tile_, kMostBlocks); }

void Matrix::scores(const double* w, index_t k, double* out, int n_threads) const {
  const int threads = useful_threads(n_threads, entries_ * k);
  if (k == 1) {
    const Blocks blocks = tile_ > 0 ? Blocks{n_, std::max<index_t>(1, n_ / tile_)} : row_blocks();
    return for_blocks(blocks, threads,
                      [&](index_t, index_t begin, index_t end) { score_rows(begin, end, w, out); });
  }
  // Columns that do not fit into registers are summed up in memory, and need no whole vectors.
  const index_t columns = k > kRegisterColumns ? k : padded_columns(k);
  LargeArray copy(columns == k ? 0 : static_cast<std::size_t>(d_ * columns));
  if (columns != k) {
    for (index_t j = 0; j < d_; ++j) std::copy_n(w + j * k, k, copy.data() + j * columns);
  }
  const double* padded = columns == k ? w : copy.data();
  for_blocks(row_blocks(), threads, [&](index_t, index_t begin, index_t end) {
    score_rows_many(begin, end, padded, columns, k, out);
  });
}

void Matrix::combine(const double* coef, index_t k, double* out, int n_threads) const {
  if (k == 1 && tile_ > 0) {
    std::fill_n(out, d_, 0.0);
    return add_blocks(
        tiles(), entries_, d_, out, n_threads,
        [&](index_t begin, index_t end, double* sum) { add_rows(begin, end, coef, sum); });
  }
  // Of several columns mostly few have coefficients: work and blocks are counted by those.
  const index_t there = k == 1 ? n_ : count_nonzero(coef, n_ * k, n_threads);
  const index_t work = k == 1 ? entries_ : entries_per_row() * there;
  if (k > 1 && k <= kColumnsInTurn && entries_ == n_ * d_ && 2 * there > n_ * k)
    return combine_in_turn(coef, k, work, out, n_threads);
  sum_blocks(n_, work, d_ * k, out, n_threads, [&](index_t begin, index_t end, double* sum) {
    k == 1 ? add_rows(begin, end, coef, sum) : add_rows_many(begin, end, coef, k, sum);
  });
}

// X^T coef, a few rows at a time, and of these one column after the other.
void Matrix::combine_in_turn(const double* coef, index_t k, index_t work, double* out,
                             int n_threads) const {
  const index_t together = rows_together(d_);
  std::vector<double> sums(d_ * k);  // column after column
  sum_blocks(n_, work, d_ * k, sums.data(), n_threads,
             [&](index_t begin, index_t end, double* sum) {
               double column[kRowsTogether];
               for (index_t start = begin; start < end; start += together) {
                 const index_t stop = std::min(start + together, end);
                 for (index_t c = 0; c < k; ++c) {
                   for (index_t i = start; i < stop; ++i) column[i - start] = coef[i * k + c];
                   add_rows(start, stop, column - start, sum + c * d_);
                 }
               }
             });
  for (index_t j = 0; j < d_; ++j)
    for (index_t c = 0; c < k; ++c) out[j * k + c] = sums[c * d_ + j];
}

PassSums Matrix::read_scores(const double* w, const ReadScores& read, int n_threads) const {
  const Blocks blocks = row_blocks();
  std::vector<PassSums> partial(blocks.count, PassSums{});
  for_blocks(blocks, useful_threads(n_threads, entries_),
             [&](index_t b, index_t begin, index_t end) {
               double scores[kRowsTogether];
               for (index_t start = begin; start < end; start += kRowsTogether) {
                 const index_t stop = std::min(start + kRowsTogether, end);
                 score_rows(start, stop, w, scores - start);
                 add_sums(read(start, stop, scores), partial[b].data());
               }
             });
  PassSums total{};
  for (const PassSums& part : partial) add_sums(part, total.data());
  return total;
}

PassSums Matrix::combine_made(const MakeCoefficients& make, double* out, int n_threads) const {
  return combine_parts(kRowsTogether, make, out, n_threads);
}

PassSums Matrix::combine_scored(const double* w, const WeighScores& weigh, double* out,
                                int n_threads) const {
  const auto make = [&](index_t begin, index_t end, double* coef) {
    double scores[kRowsTogether];
    score_rows(begin, end, w, scores - begin);
    return weigh(begin, end, scores, coef);
  };
  return combine_parts(rows_together(entries_per_row()), make, out, n_threads);
}

// `together` rows at a time.
PassSums Matrix::combine_parts(index_t together, const MakeCoefficients& make, double* out,
                               int n_threads) const {
  PassSums total;
  std::vector<double> sums(d_ + total.size());  // of rows, and behind them what goes along
  sum_blocks(n_, entries_, std::ssize(sums), sums.data(), n_threads,
             [&](index_t begin, index_t end, double* sum) {
               double coef[kRowsTogether];
               for (index_t start = begin; start < end; start += together) {
                 const index_t stop = std::min(start + together, end);
                 add_sums(make(start, stop, coef), sum + d_);
                 add_rows(start, stop, coef - start, sum);
               }
             });
  std::copy_n(sums.data(), d_, out);
  std::copy_n(sums.data() + d_, total.size(), total.data());
  return total;
}

void Matrix::curvature(Subset subset, const double* weights, const double* v, double* out,
                       int n_threads) const {
  sum_blocks(std::ssize(subset), entries_per_row() * std::ssize(subset), d_, out, n_threads,
             [&](index_t begin, index_t end, double* sum) {
               add_curvature(subset.subspan(begin, end - begin), weights + begin, v, sum);
             });
}

void Matrix::add_curvature_together(const std::int64_t* chosen, RowPlaces& places, Subset subset,
                                    const double* weights, const double* v, double* sum) const {
  double coef[kRowsTogether];
  const index_t size = std::ssize(subset), together = rows_together(d_);
  for (index_t start = 0; start < size; start += together) {
    const index_t count = std::min(together, size - start);
    for (index_t k = 0; k < count; ++k) {
      const index_t row = subset[start + k];
      places[k] = chosen ? chosen[row] : row;
    }
    score_rows(0, count, v, coef);
    for (index_t k = 0; k < count; ++k) coef[k] *= weights[start + k];
    add_rows(0, count, coef, sum);
  }
}

void Matrix::gram(Subset subset, const double* weights, double* out, int n_threads) const {
  const index_t n = std::ssize(subset), size = d_ * d_;
  const index_t per_row = n > 0 ? entries_per_row() + 1 : 1;
  const index_t work = n * per_row * per_row / 2;
  if (size <= kShortTriangle) {
    sum_blocks(n, work, size, out, n_threads, [&](index_t begin, index_t end, double* sum) {
      add_outer_products(subset.subspan(begin, end - begin), weights + begin, 0, d_, sum);
    });
    return;
  }
  // By parts of the triangle, about equal in size: no partial sums, and a part stays in cache.
  const Blocks parts = make_blocks(per_row * per_row, kWorkPerPart, kMostParts);
  const auto start = [&](index_t part) {
    return std::lround(std::sqrt(static_cast<double>(part) / parts.count) * d_);
  };
  for_blocks(parts, useful_threads(n_threads, work), [&](index_t part, index_t, index_t) {
    const index_t first = start(part), last = start(part + 1);
    std::fill(out + first * d_, out + last * d_, 0.0);
    add_outer_products(subset, weights, first, last, out);
  });
}

void Matrix::gather(Subset subset, const double* scale, float* out, int n_threads) const {
  const index_t n = std::ssize(subset);
  for_blocks(make_blocks(n, 64, kMostBlocks), useful_threads(n_threads, n * d_),
             [&](index_t, index_t begin, index_t end) {
               gather_rows(subset.subspan(begin, end - begin), scale + begin, out + begin * d_);
             });
}

void Matrix::squared_norms(double* out, int n_threads) const {
  for_blocks(row_blocks(), useful_threads(n_threads, entries_),
             [&](index_t, index_t begin, index_t end) { square_rows(begin, end, out); });
}

RowExtent Matrix::extent(double* columns, double* squares, int n_threads) const {
  // Maxima do not depend on how rows are shared out: a block a thread.
  const Blocks blocks{
      n_, std::clamp<index_t>(useful_threads(n_threads, entries_), 1, std::max<index_t>(n_, 1))};
  std::vector<RowExtent> largest(blocks.count);
  PartialSums sizes(blocks.count, d_);
  for_blocks(blocks, static_cast<int>(blocks.count), [&](index_t b, index_t begin, index_t end) {
    largest[b] = survey_rows(begin, end, sizes.cleared(b), squares);
  });
  RowExtent all{0.0, 0};
  std::fill_n(columns, d_, 0.0);
  for (index_t b = 0; b < blocks.count; ++b) {
    all.squared_norm = std::max(all.squared_norm, largest[b].squared_norm);
    all.entries = std::max(all.entries, largest[b].entries);
    const double* part = sizes.of(b);
    for (index_t j = 0; j < d_; ++j) columns[j] = std::max(columns[j], part[j]);
  }
  return all;
}

index_t Matrix::sum_depth() const {
  const auto depth = [&](const Blocks& blocks) {
    return (n_ + blocks.count - 1) / blocks.count + blocks.count;
  };
  const index_t by_rows = depth(sum_blocks_of(n_, entries_, d_));
  return tile_ > 0 ? std::max(by_rows, depth(tiles())) : by_rows;
}

index_t Matrix::first_unusable_row(int n_threads) const {
  const Blocks blocks = row_blocks();
  std::vector<index_t> found(blocks.count, -1);
  for_blocks(blocks, useful_threads(n_threads, entries_),
             [&](index_t b, index_t begin, index_t end) { found[b] = find_unusable(begin, end); });
  for (index_t row : found)
    if (row >= 0) return row;
  return -1;
}

template <class T>
std::unique_ptr<Matrix> make_dense(const T* values, index_t n_rows, index_t n_cols,
                                   index_t row_stride, const std::int64_t* rows, int most_lanes) {
  const index_t stride = row_stride * static_cast<index_t>(sizeof(T));
  return std::make_unique<RowMatrix<DenseRows<T>>>(
      DenseRows<T>{values, stride, n_rows, n_cols, rows, most_lanes});
}

template std::unique_ptr<Matrix> make_dense(const float*, index_t, index_t, index_t,
                                            const std::int64_t*, int);
template std::unique_ptr<Matrix> make_dense(const double*, index_t, index_t, index_t,
                                            const std::int64_t*, int);

template <class T, class I>
std::unique_ptr<Matrix> make_csr(const T* values, const I* indices, const I* indptr, index_t n_rows,
                                 index_t n_cols, const std::int64_t* rows, index_t stored,
                                 bool sorted) {
  constexpr bool kWideFloats = sizeof(T) == sizeof(float) && sizeof(I) == sizeof(std::int64_t);
  using Rows = CsrRows<std::conditional_t<kWideFloats, double, T>, I>;
  Rows all{nullptr, indices, indptr, n_rows, n_cols, rows, stored, sorted};
  if constexpr (kWideFloats) {
    all.singles = values;
  } else {
    all.values = values;
  }
  if (all.entries() > kLong * n_rows) all.prefetched = kMore;
  return std::make_unique<RowMatrix<Rows>>(all);
}

template std::unique_ptr<Matrix> make_csr(const float*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const float*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int32_t*, const std::int32_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);
template std::unique_ptr<Matrix> make_csr(const double*, const std::int64_t*, const std::int64_t*,
                                          index_t, index_t, const std::int64_t*, index_t, bool);

}  // namespace cutplane
