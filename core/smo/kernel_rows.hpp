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
class StoredRows : public KernelRows {
 public:
  // scale: a power of two that every value is multiplied by. in_place: the values, where they are
  // in single precision and stored by rows; or null.
  StoredRows(const View& values, const float* in_place, double scale)
      : values_(values), in_place_(scale == 1.0 ? in_place : nullptr), scale_(scale) {}
  index_t size() const override { return values_.rows; }
  void rows(std::span<const std::int64_t> which, std::span<const PanelRun>, float* const* out,
            int) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      values_.each(which[r], which[r] + 1,
                   [&](index_t, index_t j, double value) { out[r][j] = single(value); });
  }
  std::vector<float> diagonal(int) const override {
    std::vector<float> result(size());
    values_.each(0, size(), [&](index_t i, index_t j, double value) {
      if (i == j) result[i] = single(value);
    });
    return result;
  }
  const float* resident(index_t i) const override {
    return in_place_ != nullptr ? in_place_ + i * values_.row_stride : nullptr;
  }

 private:
  float single(double value) const { return static_cast<float>(value * scale_); }

  View values_;
  const float* in_place_;
  double scale_;
};

}  // namespace cutplane::smo
