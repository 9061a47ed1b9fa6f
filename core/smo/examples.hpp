// Examples as kernels read them: single precision, dense in panels (core/smo/tiles.hpp) or CSR.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/smo/frame.hpp"
#include "core/smo/kernel_function.hpp"
#include "core/smo/row_parts.hpp"

namespace cutplane::smo {

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
