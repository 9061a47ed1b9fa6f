// Examples as kernels read them: single precision, dense in panels (core/smo/tiles.hpp) or CSR.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/smo/kernel_function.hpp"
#include "core/smo/row_parts.hpp"

namespace cutplane::smo {

// Where examples lie in single precision: moved to their centre where the kernel does not change by
// it, and scaled by a power of two so that the largest value is about 1. Both are undone exactly in
// the parameters of the kernel (scaled_function), so kernel values do not depend on the units of X.

// The values of a row, and their columns, or null for all of them.
struct ViewedRow {
  index_t n;
  const double* values;
  const std::int32_t* columns;
};

// Where values lie before they are copied, whatever their type: dense with strides in elements, or
// CSR. Rows are handed out in double precision.
struct View {
  struct Buffer {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
  };

  index_t rows, cols, stored;
  const void* values;
  const void *indices = nullptr, *starts = nullptr;  // null unless CSR
  index_t row_stride = 0, col_stride = 0;            // unless CSR
  // Row i where it lies if it can be used there, else from the buffer.
  ViewedRow (*fetch)(const View& view, index_t i, Buffer& buffer) = nullptr;

  bool is_csr() const { return starts != nullptr; }

  // visit(i, row) for some rows.
  template <class Visit>
  void each_row(index_t begin, index_t end, const Visit& visit) const {
    Buffer buffer;
    for (index_t i = begin; i < end; ++i) visit(i, fetch(*this, i, buffer));
  }
  // visit(i, column, value) of each value of some rows.
  template <class Visit>
  void each(index_t begin, index_t end, const Visit& visit) const {
    each_row(begin, end, [&](index_t i, const ViewedRow& row) {
      if (row.columns != nullptr)
        for (index_t j = 0; j < row.n; ++j) visit(i, index_t{row.columns[j]}, row.values[j]);
      else
        for (index_t j = 0; j < row.n; ++j) visit(i, j, row.values[j]);
    });
  }
};

// to[k] = from[k], compiled for every CPU.
void widen(const float* from, index_t n, double* to);

// n values, `stride` apart, as type To: where they lie, or in the buffer.
template <class To, class From>
const To* converted(const From* from, index_t n, index_t stride, std::vector<To>& buffer) {
  if constexpr (std::is_same_v<To, From>)
    if (stride == 1) return from;
  if (std::ssize(buffer) < n) buffer.resize(n);
  To* to = buffer.data();
  if constexpr (std::is_same_v<From, float>)
    if (stride == 1) return widen(from, n, to), to;
  for (index_t k = 0; k < n; ++k) to[k] = static_cast<To>(from[k * stride]);
  return to;
}

template <class T>
View dense_view(const T* values, index_t rows, index_t cols, index_t row_stride,
                index_t col_stride) {
  View view{rows, cols, rows * cols, values};
  view.row_stride = row_stride;
  view.col_stride = col_stride;
  view.fetch = [](const View& v, index_t i, View::Buffer& buffer) {
    const T* row = static_cast<const T*>(v.values) + i * v.row_stride;
    return ViewedRow{v.cols, converted(row, v.cols, v.col_stride, buffer.values), nullptr};
  };
  return view;
}

template <class T, class I>
View csr_view(const T* values, const I* indices, const I* starts, index_t rows, index_t cols) {
  View view{rows, cols, static_cast<index_t>(starts[rows] - starts[0]), values, indices, starts};
  view.fetch = [](const View& v, index_t i, View::Buffer& buffer) {
    const I* ends = static_cast<const I*>(v.starts) + i;
    const index_t begin = ends[0], n = ends[1] - begin;
    return ViewedRow{n, converted(static_cast<const T*>(v.values) + begin, n, 1, buffer.values),
                     converted(static_cast<const I*>(v.indices) + begin, n, 1, buffer.columns)};
  };
  return view;
}

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

// Requires: features as many as those of the examples it is compared with. Ensures: kernel values
// are within a few units in the last place of single precision, and the same to the bit for any
// number of threads and any cut of the rows.
class Examples {
 public:
  // like: examples these will be compared with, whose frame and layout are taken over; or null.
  Examples(const KernelParameters& parameters, const View& view, const Examples* like,
           int n_threads);

  index_t size() const { return size_; }
  index_t features() const { return features_; }
  bool sparse() const { return sparse_; }
  const KernelFunction& function() const { return function_; }
  // The kernel is 2^exponent times what blocks and diagonals hold.
  int exponent() const { return function_.exponent; }

  // out[r][j] = K(rows of `left` at which[r], example j of this); out has room for padded(size()).
  void block(const Examples& left, std::span<const std::int64_t> which, float* const* out,
             int n_threads) const;
  // The same for some of the columns.
  void block(const Examples& left, std::span<const std::int64_t> which,
             std::span<const PanelRun> columns, float* const* out, int n_threads) const;
  // The same on one thread, out[r] having room for these columns alone.
  void part(const Examples& left, std::span<const std::int64_t> which, const PanelRun& columns,
            float* const* out) const;
  // out[i] = K(x_i, x_i), as a block would give it.
  std::vector<float> diagonal(int n_threads) const;
  // Kernel values cost about this many multiplications.
  index_t work_per_value() const;

 private:
  void settle(const KernelParameters& parameters, const Examples* like, int n_threads);
  double largest_square(int n_threads) const;
  // visit(begin, end) for all examples, in parallel, those of a panel by one thread.
  void each_panel(int n_threads, FunctionView<void(index_t begin, index_t end)> visit) const;
  void gather(index_t row, float* out) const;
  // Where a block goes: its rows, and the panel they begin with.
  struct Target {
    float* const* rows;
    index_t origin;
  };
  std::vector<PanelRun> tasks_of(std::span<const PanelRun> columns) const;
  void compute(const Examples& left, std::span<const std::int64_t> which,
               std::span<const PanelRun> tasks, const Target& target, int threads) const;
  void dense_block(const Examples& left, std::span<const std::int64_t> which,
                   std::span<const PanelRun> tasks, const Target& target, int threads) const;
  void sparse_block(const Examples& left, std::span<const std::int64_t> which,
                    std::span<const PanelRun> tasks, const Target& target, int threads) const;
  std::vector<float> self_products(const KernelFunction& function, int n_threads) const;
  void self_products(const KernelFunction& function, index_t begin, index_t end,
                     float* result) const;

  KernelFunction function_;
  // What is summed: products instead of squared differences where norms_ make up for it.
  Reduction reduction_ = Reduction::product;
  index_t size_ = 0, features_ = 0;
  bool sparse_ = false;
  Frame frame_;
  std::vector<float> panels_;
  std::vector<float> values_;
  std::vector<std::int32_t> indices_;
  std::vector<std::int64_t> starts_;
  std::vector<float> norms_;  // |x|², where products stand for distances
};

}  // namespace cutplane::smo
