// Kernel rows kept in memory, up to a number of bytes, the least recently used giving way.
//
// Several solvers may share one: rows are pinned while in use, and two who want the same part of a
// row at the same time have it computed once.
#pragma once

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/smo/examples.hpp"
#include "core/smo/row_parts.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {

// Where the rows of a kernel matrix come from: computed from examples, stored, or asked for.
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

class RowCache;

// Memory for rows, taken in large pieces.
class RowMemory {
 public:
  explicit RowMemory(std::size_t row_floats) : row_floats_(row_floats) {}
  // Null where the system has no more.
  float* next();

 private:
  struct Free {
    bool large = false;
    void operator()(float* memory) const;
  };
  std::size_t row_floats_, left_ = 0;
  std::vector<std::unique_ptr<float[], Free>> pieces_;
};

// Rows in use. They stay where they are until this is released or destroyed.
class Lease {
 public:
  Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { release(); }
  void release();
  const float* operator[](std::size_t r) const { return rows_[r]; }

 private:
  friend class RowCache;
  RowCache* cache_ = nullptr;
  std::vector<const float*> rows_;
  std::vector<std::int32_t> pinned_;
  std::vector<std::unique_ptr<float[]>> own_;  // rows there was no room for
};

class RowCache {
 public:
  // Requires: rows outlive the cache. At least two rows are kept, however few bytes are allowed.
  RowCache(const KernelRows& rows, std::size_t bytes);

  index_t size() const { return rows_.size(); }
  // Rows there is room for; fewer than at first once the system has given all the memory it has.
  index_t capacity() const { return capacity_; }
  // How often a row was computed, or the first part of it; how many different ones; and how many
  // values.
  std::int64_t computed() const;
  std::int64_t different() const;
  std::int64_t computed_values() const;
  // K(x, x) of every example, computed once.
  const std::vector<float>& diagonal(int n_threads);

  // What has to be asked for where only some columns of the rows are looked at.
  PartSet parts_with(std::span<const std::int64_t> columns) const { return parts_.with(columns); }
  PartSet all_parts() const { return parts_.all(); }
  // Other parts of the rows are not to be looked at.
  void acquire(std::span<const std::int64_t> which, const PartSet& needed, Lease& lease,
               int n_threads);

 private:
  friend class Lease;
  struct Slot {
    float* values = nullptr;
    std::int64_t row = -1;
    std::int32_t pins = 0;
    std::int32_t newer = -1, older = -1;
    PartSet claimed, ready;  // parts that someone computes or has computed
  };
  struct Claims;
  struct Awaited;

  void claim(std::span<const std::int64_t> which, const PartSet& needed, Lease& lease,
             Claims& claims, std::vector<Awaited>& awaited);
  void claim_own(std::size_t place, std::int64_t row, const PartSet& needed, Lease& lease,
                 Claims& claims);
  void abandon(const Claims& claims);
  std::int32_t free_slot();
  void unlink(std::int32_t slot);
  void link_newest(std::int32_t slot);
  void unpin(std::int32_t slot);
  void compute(Claims& claims, int n_threads);

  const KernelRows& rows_;
  RowParts parts_;
  std::atomic<index_t> capacity_;
  std::once_flag diagonal_known_;
  std::vector<float> diagonal_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  RowMemory memory_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> slot_of_;  // of each row, or -1
  std::int32_t newest_ = -1, oldest_ = -1;
  std::vector<bool> known_;  // rows that were computed at some time
  std::int64_t computed_ = 0, different_ = 0, values_ = 0;
};

// Whether kernel values are numbers.

// The first position of a value that is infinite or not a number, or -1.
inline index_t first_not_finite(const float* values, index_t n) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};  // 0 times a finite value is 0, times any other is not a number
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
    for (int l = 0; l < kLanes; ++l) sums[l] += 0.0f * values[t + l];
  for (; t < n; ++t) sums[0] += 0.0f * values[t];
  bool finite = true;
  for (const float sum : sums) finite &= sum == 0.0f;
  if (finite) return -1;
  for (index_t at = 0; at < n; ++at)
    if (!std::isfinite(values[at])) return at;
  return -1;
}

}  // namespace cutplane::smo
