// Kernel rows kept in memory, up to a number of bytes, the least recently used giving way.
//
// Several solvers may share one: rows are pinned while in use, and two who want the same part of a
// row at the same time have it computed once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/smo/kernel_rows.hpp"

namespace cutplane::smo {

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

}  // namespace cutplane::smo
