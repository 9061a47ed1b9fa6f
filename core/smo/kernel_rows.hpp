// Where the rows of a kernel matrix come from: computed from examples, stored, or asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/smo/examples.hpp"
#include "core/smo/row_parts.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {

class KernelRows {
 public:
  virtual ~KernelRows() = default;
  virtual index_t size() const = 0;
  // Whether some columns of a row cost less than all.
  virtual bool divisible() const { return false; }
  // out[r][j] = K(which[r], j) for j in these columns, all of them unless rows are divisible; out
  // has room for padded(size()). May throw.
  virtual void rows(std::span<const std::int64_t> which, std::span<const PanelRun> columns,
                    float* const* out, int n_threads) const = 0;
  virtual std::vector<float> diagonal(int n_threads) const = 0;
  // A row that lies in memory already, or null.
  virtual const float* resident(index_t) const { return nullptr; }
};

class ComputedRows : public KernelRows {
 public:
  explicit ComputedRows(const Examples& examples) : examples_(examples) {}
  index_t size() const override { return examples_.size(); }
  bool divisible() const override { return true; }
  void rows(std::span<const std::int64_t> which, std::span<const PanelRun> columns,
            float* const* out, int n_threads) const override {
    examples_.block(examples_, which, columns, out, n_threads);
  }
  std::vector<float> diagonal(int n_threads) const override {
    return examples_.diagonal(n_threads);
  }

 private:
  const Examples& examples_;
};

// A kernel matrix the caller has computed.
template <class T>
class StoredRows : public KernelRows {
 public:
  // scale: a power of two that every value is multiplied by.
  StoredRows(const T* values, index_t n, index_t row_stride, double scale)
      : values_(values), n_(n), row_stride_(row_stride), scale_(scale) {}
  index_t size() const override { return n_; }
  void rows(std::span<const std::int64_t> which, std::span<const PanelRun>, float* const* out,
            int) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      for (index_t j = 0; j < n_; ++j) out[r][j] = single(values_[which[r] * row_stride_ + j]);
  }
  std::vector<float> diagonal(int) const override {
    std::vector<float> result(n_);
    for (index_t i = 0; i < n_; ++i) result[i] = single(values_[i * row_stride_ + i]);
    return result;
  }
  const float* resident(index_t i) const override {
    if constexpr (std::is_same_v<T, float>)
      if (scale_ == 1.0) return values_ + i * row_stride_;
    return nullptr;
  }

 private:
  float single(T value) const { return static_cast<float>(static_cast<double>(value) * scale_); }

  const T* values_;
  index_t n_, row_stride_;
  double scale_;
};

}  // namespace cutplane::smo
