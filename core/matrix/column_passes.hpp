// Passes over a dense matrix whose columns are contiguous (Fortran order, a transposed array, a
// DataFrame's block).
//
// Its `Rows` offer, besides what row_passes.hpp asks for, a part of a column: where it lies, or as
// floats in the room that is given.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/matrix/block_sums.hpp"
#include "core/matrix/matrix.hpp"
#include "core/matrix/row_passes.hpp"

namespace cutplane {

// A tile of scores stays in cache while the columns go by.
inline constexpr index_t kTile = 2048;
// A block of whole tiles, and what is left of one.
using TileOfFloats = float[2 * kTile];

template <class Rows>
CUTPLANE_MULTIVERSION void score_tile(const Rows& rows, index_t begin, index_t end, const double* w,
                                      double* out) {
  TileOfFloats floats;
  const index_t size = end - begin;
  out += begin;
  for (index_t i = 0; i < size; ++i) out[i] = 0.0;
  for (index_t j = 0; j < rows.d; ++j) {
    const double weight = w[j];
    if (weight == 0.0) continue;
    const auto* column = rows.column(j, begin, end, floats);
#pragma omp simd
    for (index_t i = 0; i < size; ++i) out[i] += static_cast<double>(column[i]) * weight;
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void combine_tile(const Rows& rows, index_t begin, index_t end,
                                        const double* coef, double* sum) {
  TileOfFloats floats;
  const index_t size = end - begin;
  coef += begin;
  for (index_t j = 0; j < rows.d; ++j) {
    const auto* column = rows.column(j, begin, end, floats);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (index_t i = 0; i < size; ++i) total += static_cast<double>(column[i]) * coef[i];
    sum[j] += total;
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION RowExtent extent_of_tile(const Rows& rows, index_t begin, index_t end,
                                               double* columns, double* squares) {
  TileOfFloats floats;
  double own[kTile];
  squares = squares ? squares + begin : own;
  std::fill_n(squares, end - begin, 0.0);
  for (index_t j = 0; j < rows.d; ++j) {
    const auto* column = rows.column(j, begin, end, floats);
    double largest = columns[j];
#pragma omp simd reduction(max : largest)
    for (index_t i = 0; i < end - begin; ++i) {
      const double size = std::abs(static_cast<double>(column[i]));
      squares[i] += size * size;
      largest = largest > size ? largest : size;
    }
    columns[j] = largest;
  }
  return {*std::max_element(squares, squares + (end - begin)), rows.d};
}

template <class Rows>
class ColumnMatrix final : public RowMatrix<Rows> {
  using Base = RowMatrix<Rows>;

 public:
  explicit ColumnMatrix(Rows rows) : Base(rows), rows_(rows) {}

  void scores(const double* w, index_t k, double* out, int n_threads) const override {
    if (k != 1 || rows_.chosen) return Base::scores(w, k, out, n_threads);
    const int threads = useful_threads(n_threads, rows_.entries());
    for_blocks(Blocks{rows_.n, std::max<index_t>(1, rows_.n / kTile)}, threads,
               [&](index_t, index_t begin, index_t end) { score_tile(rows_, begin, end, w, out); });
  }

  void combine(const double* coef, index_t k, double* out, int n_threads) const override {
    if (k != 1 || rows_.chosen) return Base::combine(coef, k, out, n_threads);
    const Blocks blocks = tiles();
    PartialSums partial(blocks.count, rows_.d);
    const int threads = useful_threads(n_threads, rows_.entries());
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      double* sum = partial.cleared(b);
      for (index_t tile = begin; tile < end; tile += kTile)
        combine_tile(rows_, tile, std::min(tile + kTile, end), coef, sum);
    });
    std::fill(out, out + rows_.d, 0.0);
    partial.add_to(out, blocks.count, n_threads);
  }

  RowExtent extent(double* columns, double* squares, int n_threads) const override {
    if (rows_.chosen) return Base::extent(columns, squares, n_threads);
    return Base::extent_by_blocks(
        columns, n_threads, [&](index_t begin, index_t end, double* sizes) {
          RowExtent largest{0.0, rows_.d};
          for (index_t tile = begin; tile < end; tile += kTile) {
            const index_t stop = std::min(tile + kTile, end);
            const RowExtent part = extent_of_tile(rows_, tile, stop, sizes, squares);
            largest.squared_norm = std::max(largest.squared_norm, part.squared_norm);
          }
          return largest;
        });
  }

  index_t sum_depth() const override {
    const Blocks blocks = tiles();
    return std::max(Base::sum_depth(), (rows_.n + blocks.count - 1) / blocks.count + blocks.count);
  }

 protected:
  void score_part(index_t begin, index_t end, const double* w, double* out) const override {
    if (rows_.chosen) return Base::score_part(begin, end, w, out);
    score_tile(rows_, begin, end, w, out);
  }
  void add_part(index_t begin, index_t end, const double* coef, double* sum) const override {
    if (rows_.chosen) return Base::add_part(begin, end, coef, sum);
    combine_tile(rows_, begin, end, coef, sum);
  }

 private:
  Blocks tiles() const { return make_blocks(rows_.n, kTile, kMostBlocks); }

  Rows rows_;
};

}  // namespace cutplane
