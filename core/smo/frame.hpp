// Where examples lie in single precision: moved to their centre where the kernel does not change by
// it, and scaled by a power of two so that the largest value is about 1. Both are undone exactly in
// the parameters of the kernel (scaled_function), so kernel values do not depend on the units of X.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane::smo {

// Where values lie before they are copied: strides in elements.
template <class T>
struct DenseView {
  const T* values;
  index_t rows, cols, row_stride, col_stride;

  double at(index_t i, index_t k) const {
    return static_cast<double>(values[i * row_stride + k * col_stride]);
  }
  // The values of some rows.
  template <class Visit>
  void each(index_t begin, index_t end, Visit&& visit) const {
    for (index_t i = begin; i < end; ++i)
      for (index_t k = 0; k < cols; ++k) visit(k, at(i, k));
  }
};

template <class T, class I>
struct CsrView {
  const T* values;
  const I* indices;
  const I* starts;
  index_t rows, cols;

  template <class Visit>
  void each(index_t begin, index_t end, Visit&& visit) const {
    for (I at = starts[begin]; at < starts[end]; ++at)
      visit(static_cast<index_t>(indices[at]), static_cast<double>(values[at]));
  }
};

// The exponent e with |value| < 2^e, or 0 for 0; within what a power of two can undo.
inline int exponent_of(double value) {
  if (value == 0.0) return 0;
  return std::max(std::ilogb(value) + 1, -1022);
}

// Rows that are looked through at a time.
inline constexpr index_t kRowsPerFrameBlock = 256, kMostFrameBlocks = 64;

struct Frame {
  int exponent = 0;  // an example x is stored as (x - centre) 2^-exponent
  double outer = 1.0, inner = 1.0;
  std::vector<double> center;  // in units of 1 / outer; empty for zero
  double limit = std::numeric_limits<float>::max();

  float place(double x, index_t k) const {
    const double moved = (x * outer - (center.empty() ? 0.0 : center[k])) * inner;
    return static_cast<float>(std::clamp(moved, -limit, limit));
  }
};

// The largest of what `size` makes of every column and value.
template <class View, class Size>
double largest_of(const View& view, const Blocks& blocks, int threads, Size&& size) {
  std::vector<double> found(blocks.count, 0.0);
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    double largest = 0.0;
    view.each(begin, end, [&](index_t k, double x) { largest = std::max(largest, size(k, x)); });
    found[block] = largest;
  });
  return *std::max_element(found.begin(), found.end());
}

// The sums of the columns, each value multiplied by `factor`.
template <class View>
std::vector<double> column_sums(const View& view, const Blocks& blocks, int threads,
                                double factor) {
  std::vector<std::vector<double>> parts(blocks.count);
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    std::vector<double> sums(view.cols, 0.0);
    view.each(begin, end, [&](index_t k, double x) { sums[k] += x * factor; });
    parts[block] = std::move(sums);
  });
  std::vector<double> total(view.cols, 0.0);
  for (const std::vector<double>& part : parts)
    for (index_t k = 0; k < view.cols; ++k) total[k] += part[k];
  return total;
}

// bounded: kernels that are 0 at large distances, where a new example may be as far away as it
// likes: it is taken for one so far away that squares of distances are still finite.
template <class View>
Frame make_frame(const View& view, bool centered, bool bounded, int n_threads) {
  constexpr double kFar = 1125899906842624.0;  // 2^50
  Frame frame;
  if (bounded) frame.limit = kFar;
  const Blocks blocks = make_blocks(view.rows, kRowsPerFrameBlock, kMostFrameBlocks);
  const int threads = useful_threads(n_threads, view.rows * view.cols / 4);
  frame.exponent =
      exponent_of(largest_of(view, blocks, threads, [](index_t, double x) { return std::abs(x); }));
  frame.outer = std::ldexp(1.0, -frame.exponent);
  if (!centered) return frame;
  frame.center = column_sums(view, blocks, threads, frame.outer);
  double spread = 0.0;
  for (double& mean : frame.center) {
    mean /= static_cast<double>(std::max<index_t>(view.rows, 1));
    spread = std::max(spread, std::abs(mean));  // of entries that are not stored
  }
  if constexpr (requires { view.row_stride; }) spread = 0.0;
  spread = std::max(spread, largest_of(view, blocks, threads, [&](index_t k, double x) {
                      return std::abs(x * frame.outer - frame.center[k]);
                    }));
  const int exponent = exponent_of(spread);
  frame.inner = std::ldexp(1.0, -exponent);
  frame.exponent += exponent;
  return frame;
}

}  // namespace cutplane::smo
