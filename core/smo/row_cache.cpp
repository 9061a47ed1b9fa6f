#include "core/smo/row_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace cutplane::smo {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPiece = std::size_t{1} << 24;

}  // namespace

void RowMemory::Free::operator()(float* memory) const { std::free(memory); }

float* RowMemory::next() {
  const std::size_t row_bytes = row_floats_ * sizeof(float);
  const std::size_t per_piece = std::max<std::size_t>(kPiece / row_bytes, 1);
  if (left_ == 0) {
    // Rows are whole panels of 64 bytes, so this is a multiple of the alignment.
    auto* memory = static_cast<float*>(std::aligned_alloc(kAlignment, per_piece * row_bytes));
    if (memory == nullptr) throw std::bad_alloc();
    pieces_.emplace_back(memory);
    left_ = per_piece;
  }
  --left_;
  return pieces_.back().get() + (per_piece - 1 - left_) * row_floats_;
}

struct RowCache::Claims {
  std::vector<std::int64_t> which;
  std::vector<float*> out;
  std::vector<std::int32_t> slots;  // -1: the lease's own memory
};

void Lease::release() {
  if (cache_ != nullptr) {
    std::lock_guard<std::mutex> lock(cache_->mutex_);
    for (const std::int32_t slot : pinned_) cache_->unpin(slot);
  }
  cache_ = nullptr;
  pinned_.clear();
  own_.clear();
  rows_.clear();
}

RowCache::RowCache(const KernelRows& rows, std::size_t bytes)
    : rows_(rows), memory_(std::max<index_t>(padded(rows.size()), kPanel)) {
  const std::size_t row_bytes = std::max<std::size_t>(padded(rows.size()) * sizeof(float), 1);
  const index_t most = std::min<index_t>(rows.size(), std::numeric_limits<std::int32_t>::max());
  capacity_ = std::clamp<index_t>(static_cast<index_t>(bytes / row_bytes),
                                  std::min<index_t>(2, most), std::max<index_t>(most, 1));
  slot_of_.assign(rows.size(), -1);
}

std::int64_t RowCache::computed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return computed_;
}

const std::vector<float>& RowCache::diagonal(int n_threads) {
  std::call_once(diagonal_known_, [&] { diagonal_ = rows_.diagonal(n_threads); });
  return diagonal_;
}

void RowCache::unlink(std::int32_t at) {
  Slot& slot = slots_[at];
  (slot.newer >= 0 ? slots_[slot.newer].older : newest_) = slot.older;
  (slot.older >= 0 ? slots_[slot.older].newer : oldest_) = slot.newer;
  slot.newer = slot.older = -1;
}

void RowCache::link_newest(std::int32_t at) {
  slots_[at].older = newest_;
  slots_[at].newer = -1;
  if (newest_ >= 0) slots_[newest_].newer = at;
  newest_ = at;
  if (oldest_ < 0) oldest_ = at;
}

// Only slots that nobody has pinned are linked.
void RowCache::unpin(std::int32_t at) {
  if (--slots_[at].pins == 0) link_newest(at);
}

std::int32_t RowCache::free_slot() {
  if (static_cast<index_t>(slots_.size()) < capacity_) {
    slots_.emplace_back();
    slots_.back().values = memory_.next();
    return static_cast<std::int32_t>(slots_.size()) - 1;
  }
  const std::int32_t at = oldest_;
  if (at < 0) return -1;
  unlink(at);
  if (slots_[at].row >= 0) slot_of_[slots_[at].row] = -1;
  return at;
}

void RowCache::acquire(std::span<const std::int64_t> which, Lease& lease, int n_threads) {
  lease.release();
  lease.rows_.assign(which.size(), nullptr);
  Claims claims;
  std::vector<std::size_t> awaited;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lease.cache_ = this;
    for (std::size_t r = 0; r < which.size(); ++r) {
      if ((lease.rows_[r] = rows_.resident(which[r])) != nullptr) continue;
      std::int32_t at = slot_of_[which[r]];
      const bool known = at >= 0;
      if (known) {
        if (slots_[at].pins == 0) unlink(at);
        if (!slots_[at].ready) awaited.push_back(r);
      } else {
        at = free_slot();
        claims.which.push_back(which[r]);
        claims.slots.push_back(at);
        if (at < 0) {
          lease.own_.emplace_back(new float[padded(rows_.size())]);
          claims.out.push_back(lease.own_.back().get());
          lease.rows_[r] = claims.out.back();
          continue;
        }
        slots_[at].row = which[r];
        slots_[at].ready = false;
        slot_of_[which[r]] = at;
        claims.out.push_back(slots_[at].values);
      }
      ++slots_[at].pins;
      lease.pinned_.push_back(at);
      lease.rows_[r] = slots_[at].values;
    }
  }
  compute(claims, n_threads);
  if (awaited.empty()) return;
  // Rows another solver is computing; one it failed to compute is ours to do.
  Claims left;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const std::size_t r : awaited) {
      std::int32_t at = slot_of_[which[r]];
      while (at >= 0 && !slots_[at].ready) {
        arrived_.wait(lock);
        at = slot_of_[which[r]];
      }
      if (at >= 0) continue;
      lease.own_.emplace_back(new float[padded(rows_.size())]);
      lease.rows_[r] = lease.own_.back().get();
      left.which.push_back(which[r]);
      left.out.push_back(lease.own_.back().get());
      left.slots.push_back(-1);
    }
  }
  compute(left, n_threads);
}

void RowCache::compute(Claims& claims, int n_threads) {
  if (claims.which.empty()) return;
  try {
    rows_.rows(claims.which, claims.out.data(), n_threads);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t c = 0; c < claims.slots.size(); ++c) {
      if (claims.slots[c] < 0) continue;
      slot_of_[claims.which[c]] = -1;
      slots_[claims.slots[c]].row = -1;
    }
    arrived_.notify_all();
    throw;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  computed_ += static_cast<std::int64_t>(claims.which.size());
  for (const std::int32_t slot : claims.slots)
    if (slot >= 0) slots_[slot].ready = true;
  arrived_.notify_all();
}

}  // namespace cutplane::smo
