// A data matrix as a linear map: every pass over the examples that training needs.
//
// Requires: the arrays behind a matrix outlive it and do not change. Ensures: nothing is copied or
// upcast; sums are in double; results are the same to the bit for any number of threads
// (core/base/parallel.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/matrix/narrow.hpp"

namespace cutplane {

struct AnyRows;  // core/matrix/any_rows.hpp

// Sums that a pass may carry along, added up by blocks.
using PassSums = std::array<double, 4>;
// Given the scores of examples begin to end - 1.
using ReadScores = FunctionView<PassSums(index_t begin, index_t end, const double* scores)>;
// Makes the coefficients of examples begin to end - 1.
using MakeCoefficients = FunctionView<PassSums(index_t begin, index_t end, double* coef)>;
// The same, given their scores.
using WeighScores =
    FunctionView<PassSums(index_t begin, index_t end, const double* scores, double* coef)>;

struct RowExtent {
  double squared_norm;
  index_t entries;
};

// Rows by their positions.
using Subset = std::span<const std::int64_t>;

// Rows of a pass that are taken together: their scores stay in the first cache.
inline constexpr index_t kRowsTogether = 1024;
using RowPlaces = std::int64_t[kRowsTogether];

class Matrix {
 public:
  virtual ~Matrix() = default;

  index_t rows() const { return n_; }
  index_t cols() const { return d_; }
  // Stored entries in all: what one pass reads.
  index_t entries() const { return entries_; }
  // At least one, unless there is no row.
  index_t entries_per_row() const { return n_ == 0 ? 0 : std::max<index_t>(1, entries_ / n_); }

  // out (n x k) = X W (d x k), both row-major
  void scores(const double* w, index_t k, double* out, int n_threads) const;
  // out (d x k) = X' coef (n x k), both row-major; rows whose coefficients are all zero are not
  // read
  void combine(const double* coef, index_t k, double* out, int n_threads) const;
  // out (d) += X' coef where few coefficients are not zero, on the calling thread
  virtual void add_few(const double* coef, double* out) const { add_rows(0, n_, coef, out); }
  // X w, handed over some at a time: never in memory as a whole. On any thread, in any order.
  PassSums read_scores(const double* w, const ReadScores& read, int n_threads) const;
  // out (d) = X' coef of coefficients that are made some at a time.
  PassSums combine_made(const MakeCoefficients& make, double* out, int n_threads) const;
  // out (d) = X' coef of coefficients that are made of X w: both passes in one, which finds rows in
  // a near cache the second time.
  PassSums combine_scored(const double* w, const WeighScores& weigh, double* out,
                          int n_threads) const;
  // out = sum over subset of weights[i] x_i <x_i, v>: the product of a curvature with v
  void curvature(Subset subset, const double* weights, const double* v, double* out,
                 int n_threads) const;
  // out (d x d, lower triangle, row-major) = sum over subset of weights[i] x_i x_i'
  void gram(Subset subset, const double* weights, double* out, int n_threads) const;
  // out (|subset| x d, row-major) = scale[i] x_i in single precision: for products that a BLAS does
  // better
  void gather(Subset subset, const double* scale, float* out, int n_threads) const;
  // out[i] = |x_i|^2
  void squared_norms(double* out, int n_threads) const;
  // The largest |x_i|^2 and the most entries of a row, and into columns (d) the largest |x_ij|:
  // what rounding is charged by. On the way, squares (n, or null) become the |x_i|^2.
  RowExtent extent(double* columns, double* squares, int n_threads) const;
  // The longest chain of additions in a sum over the rows.
  index_t sum_depth() const;
  // The first row with a value that is not finite, or beyond 2^234 (2.8e70) in size; -1 if there is
  // none.
  index_t first_unusable_row(int n_threads) const;
  // The rows in their own layout, for algorithms that go from row to row (visit_rows).
  virtual AnyRows any_rows() const = 0;

 protected:
  Matrix(index_t n, index_t d, index_t entries) : n_(n), d_(d), entries_(entries) {}

  // The same passes over a block of rows, begin to end - 1 or a subset. w, scores and coefficients
  // are those of all rows, sums are added to, and nothing is thrown.
  virtual void score_rows(index_t begin, index_t end, const double* w, double* out) const = 0;
  virtual void add_rows(index_t begin, index_t end, const double* coef, double* sum) const = 0;
  // Of k columns, padded to `columns`: what padding adds to a row's scores, the next overwrites.
  virtual void score_rows_many(index_t begin, index_t end, const double* padded, index_t columns,
                               index_t k, double* out) const = 0;
  virtual void add_rows_many(index_t begin, index_t end, const double* coef, index_t k,
                             double* sum) const = 0;
  virtual void add_curvature(Subset subset, const double* weights, const double* v,
                             double* sum) const = 0;
  // Rows first to last - 1 of the triangle.
  virtual void add_outer_products(Subset subset, const double* weights, index_t first, index_t last,
                                  double* sum) const = 0;
  virtual void gather_rows(Subset subset, const double* scale, float* out) const = 0;
  virtual void square_rows(index_t begin, index_t end, double* out) const = 0;
  // Columns become the largest sizes so far.
  virtual RowExtent survey_rows(index_t begin, index_t end, double* columns,
                                double* squares) const = 0;
  virtual index_t find_unusable(index_t begin, index_t end) const = 0;

  // add_curvature where several rows are scored or added at a time. This matrix sees the rows
  // `places` of another, which sees those that are chosen.
  void add_curvature_together(const std::int64_t* chosen, RowPlaces& places, Subset subset,
                              const double* weights, const double* v, double* sum) const;

  // Where columns are contiguous: so many rows of them are read at a time. Else zero.
  index_t tile_ = 0;

 private:
  Blocks row_blocks() const;
  Blocks tiles() const;
  void combine_in_turn(const double* coef, index_t k, index_t work, double* out,
                       int n_threads) const;
  PassSums combine_parts(index_t together, const MakeCoefficients& make, double* out,
                         int n_threads) const;

  index_t n_, d_, entries_;
};

// Sums of products of four values, and of as many examples as there may be, stay finite up to
// there. Times this, a larger one is infinite; every float is smaller.
template <class T>
constexpr T kBeyondReach = sizeof(T) == sizeof(double) ? static_cast<T>(0x1p790) : T{1};

// Not finite, or beyond reach: zero for every other value, so that sums tell without a branch.
template <class T>
CUTPLANE_INLINE T unusable(T value) {
  const T scaled = value * kBeyondReach<T>;
  return scaled - scaled;
}

// rows: null for all rows in order, else the positions of the n_rows rows that are seen. Passes
// take at most `most_lanes` numbers as one vector: fewer than the machine has are for tests.
template <class T>
std::unique_ptr<Matrix> make_dense(const T* values, index_t n_rows, index_t n_cols,
                                   index_t row_stride, const std::int64_t* rows,
                                   int most_lanes = kMostLanes);
template <class T>
std::unique_ptr<Matrix> make_dense_by_columns(const T* values, index_t n_rows, index_t n_cols,
                                              index_t col_stride, const std::int64_t* rows);
// Values of one or two bytes.
std::unique_ptr<Matrix> make_narrow(const std::byte* values, NarrowType type, index_t n_rows,
                                    index_t n_cols, index_t row_stride, const std::int64_t* rows,
                                    int most_lanes = kMostLanes);
std::unique_ptr<Matrix> make_narrow_by_columns(const std::byte* values, NarrowType type,
                                               index_t n_rows, index_t n_cols, index_t col_stride,
                                               const std::int64_t* rows);
template <class T, class I>
std::unique_ptr<Matrix> make_csr(const T* values, const I* indices, const I* indptr, index_t n_rows,
                                 index_t n_cols, const std::int64_t* rows, index_t stored,
                                 bool sorted = true);

}  // namespace cutplane
