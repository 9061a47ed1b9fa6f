#include "core/interior/wide_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/lanes.hpp"
#include "core/matrix/any_rows.hpp"

namespace cutplane {
namespace {

constexpr index_t kColumns = 8;    // of a tile of the Gram matrix, and of a cache line
constexpr index_t kStrip = 4;      // rows of such a tile: with its columns, it fills the registers
constexpr index_t kRowBlock = 32;  // examples at a time: they stay in the nearest cache

index_t rounded_up(index_t n, index_t multiple) { return (n + multiple - 1) / multiple * multiple; }

CUTPLANE_MULTIVERSION void multiply(const double* values, index_t rows, index_t stride,
                                    const double* v, double* out) {
  index_t i = 0;
  for (; i + 4 <= rows; i += 4) {  // four sums that do not wait for one another
    const double *a = values + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
#pragma omp simd reduction(+ : p, q, r, s)
    for (index_t j = 0; j < stride; ++j) {
      p += a[j] * v[j];
      q += b[j] * v[j];
      r += c[j] * v[j];
      s += d[j] * v[j];
    }
    out[i] = p;
    out[i + 1] = q;
    out[i + 2] = r;
    out[i + 3] = s;
  }
  for (; i < rows; ++i) {
    const double* x = values + i * stride;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (index_t j = 0; j < stride; ++j) sum += x[j] * v[j];
    out[i] = sum;
  }
}

CUTPLANE_MULTIVERSION void add_up(const double* values, index_t rows, index_t stride,
                                  const double* coef, double* out) {
  std::fill(out, out + stride, 0.0);
  index_t i = 0;
  for (; i + 4 <= rows; i += 4) {  // the sums are read and written once for four rows
    const double *a = values + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    const double p = coef[i], q = coef[i + 1], r = coef[i + 2], s = coef[i + 3];
#pragma omp simd
    for (index_t j = 0; j < stride; ++j) out[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j]);
  }
  for (; i < rows; ++i) {
    const double* x = values + i * stride;
#pragma omp simd
    for (index_t j = 0; j < stride; ++j) out[j] += coef[i] * x[j];
  }
}

// Rows of a Gram matrix, kStrip at a time, that a thread sums up, and room for its scaled examples.
struct GramStrips {
  index_t first, last;
  double* scaled;
};

// out (a tile: kStrip rows, kColumns columns) += scaled' values over some examples.
template <int N>
CUTPLANE_INLINE void add_tile(const double* scaled, const double* values, index_t rows,
                              index_t stride, double* out) {
  constexpr int kVectors = kColumns / N;
  Lanes<N> sums[kStrip][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) load<N>(out + r * stride + c * N, sums[r][c]);
  for (index_t i = 0; i < rows; ++i, scaled += stride, values += stride) {
    Lanes<N> x[kVectors];
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) load<N>(values + c * N, x[c]);
#pragma GCC unroll 16
    for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
      for (int c = 0; c < kVectors; ++c) sums[r][c] += scaled[r] * x[c];
  }
#pragma GCC unroll 16
  for (int r = 0; r < kStrip; ++r)
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) store<N>(sums[r][c], out + r * stride + c * N);
}

// out += sum over some examples of weights[i] x_i x_i', in the rows of the strips.
template <int N>
CUTPLANE_INLINE void add_block(const double* values, const double* weights, index_t rows,
                               index_t stride, const GramStrips& strips, double* out) {
  const index_t begin = strips.first * kStrip, end = strips.last * kStrip;
  for (index_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (index_t j = begin; j < end; ++j)
      strips.scaled[i * stride + j] = weights[i] * values[i * stride + j];
  }
  for (index_t row = begin; row < end; row += kStrip)
    for (index_t column = 0; column <= row; column += kColumns)
      add_tile<N>(strips.scaled + row, values + column, rows, stride, out + row * stride + column);
}

}  // namespace

WideRows::WideRows(const Matrix& matrix, const std::vector<double>& more)
    : rows_(matrix.rows()),
      width_(matrix.cols() + std::ssize(more)),
      stride_(rounded_up(width_, kColumns)),
      values_(rows_ * stride_) {
  visit_rows(matrix, [&](const auto& rows) {
    for (index_t i = 0; i < rows_; ++i) {
      double* row = values_.data() + i * stride_;
      rows.axpy(rows.at(i), 1.0, row);
      std::copy(more.begin(), more.end(), row + matrix.cols());
    }
  });
}

void WideRows::scores(const double* v, double* out) const {
  multiply(values_.data(), rows_, stride_, v, out);
}

void WideRows::combine(const double* coef, double* out) const {
  add_up(values_.data(), rows_, stride_, coef, out);
}

void WideRows::gram(const double* weights, double* out, int n_threads) const {
  std::fill(out, out + stride_ * stride_, 0.0);
  const index_t strips = rounded_up(width_, kStrip) / kStrip;
  // By strips of the triangle: every number is summed up by one thread, in the order of the rows.
  const Blocks parts{
      strips, std::min<index_t>(strips, useful_threads(n_threads, rows_ * stride_ * stride_ / 8))};
  std::vector<double> scaled(parts.count * kRowBlock * stride_);
  const auto strip_of = [&](index_t part) {  // parts of the triangle of about the same size
    return std::lround(std::sqrt(static_cast<double>(part) / parts.count) * strips);
  };
  for_blocks(parts, n_threads, [&](index_t part, index_t, index_t) {
    const GramStrips own{strip_of(part), strip_of(part + 1),
                         scaled.data() + part * kRowBlock * stride_};
    with_lanes(kMostLanes, [&](auto lanes) CUTPLANE_INLINED {
      for (index_t i = 0; i < rows_; i += kRowBlock)
        add_block<lanes()>(values_.data() + i * stride_, weights + i,
                           std::min(kRowBlock, rows_ - i), stride_, own, out);
    });
  });
}

}  // namespace cutplane
