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
#include <functional>
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
using ReadScores = std::function<PassSums(index_t begin, index_t end, const double* scores)>;
// Makes the coefficients of examples begin to end - 1.
using MakeCoefficients = std::function<PassSums(index_t begin, index_t end, double* coef)>;
// The same, given their scores.
using WeighScores =
    std::function<PassSums(index_t begin, index_t end, const double* scores, double* coef)>;

struct RowExtent {
  double squared_norm;
  index_t entries;
};

class Matrix {
 public:
  virtual ~Matrix() = default;

  virtual index_t rows() const = 0;
  virtual index_t cols() const = 0;
  // Stored entries in all: what one pass reads.
  virtual index_t entries() const = 0;
  // At least one, unless there is no row.
  index_t entries_per_row() const {
    return rows() == 0 ? 0 : std::max<index_t>(1, entries() / rows());
  }

  // out (n x k) = X W (d x k), both row-major
  virtual void scores(const double* w, index_t k, double* out, int n_threads) const = 0;
  // out (d x k) = X' coef (n x k), both row-major; rows whose coefficients are all zero are not
  // read
  virtual void combine(const double* coef, index_t k, double* out, int n_threads) const = 0;
  // out (d) += X' coef where few coefficients are not zero, on the calling thread
  virtual void add_few(const double* coef, double* out) const = 0;
  // X w, handed over some at a time: never in memory as a whole. On any thread, in any order.
  virtual PassSums read_scores(const double* w, const ReadScores& read, int n_threads) const = 0;
  // out (d) = X' coef of coefficients that are made some at a time.
  virtual PassSums combine_made(const MakeCoefficients& make, double* out, int n_threads) const = 0;
  // out (d) = X' coef of coefficients that are made of X w: both passes in one, which finds rows in
  // a near cache the second time.
  virtual PassSums combine_scored(const double* w, const WeighScores& weigh, double* out,
                                  int n_threads) const = 0;
  // out = sum over subset of weights[i] x_i <x_i, v>: the product of a curvature with v
  virtual void curvature(std::span<const std::int64_t> subset, const double* weights,
                         const double* v, double* out, int n_threads) const = 0;
  // out (d x d, lower triangle, row-major) = sum over subset of weights[i] x_i x_i'
  virtual void gram(std::span<const std::int64_t> subset, const double* weights, double* out,
                    int n_threads) const = 0;
  // out (|subset| x d, row-major) = scale[i] x_i in single precision: for products that a BLAS does
  // better
  virtual void gather(std::span<const std::int64_t> subset, const double* scale, float* out,
                      int n_threads) const = 0;
  // out[i] = |x_i|^2
  virtual void squared_norms(double* out, int n_threads) const = 0;
  // The largest |x_i|^2 and the most entries of a row, and into columns (d) the largest |x_ij|:
  // what rounding is charged by. On the way, squares (n, or null) become the |x_i|^2.
  virtual RowExtent extent(double* columns, double* squares, int n_threads) const = 0;
  // The longest chain of additions in a sum over the rows.
  virtual index_t sum_depth() const = 0;
  // The rows in their own layout, for algorithms that go from row to row (visit_rows).
  virtual AnyRows any_rows() const = 0;
  // The first row with a value that is not finite, or beyond 2^234 (2.8e70) in size; -1 if there is
  // none.
  virtual index_t first_unusable_row(int n_threads) const = 0;
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
// Values of one or two bytes, by rows (column_stride 1) or by columns (row_stride 1).
std::unique_ptr<Matrix> make_narrow(const std::byte* values, NarrowType type, index_t n_rows,
                                    index_t n_cols, index_t row_stride, index_t column_stride,
                                    const std::int64_t* rows, int most_lanes = kMostLanes);
template <class T, class I>
std::unique_ptr<Matrix> make_csr(const T* values, const I* indices, const I* indptr, index_t n_rows,
                                 index_t n_cols, const std::int64_t* rows, index_t stored,
                                 bool sorted = true);

}  // namespace cutplane
