#include "core/smo/row_cache.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "core/smo/finite.hpp"

namespace cutplane::smo {

namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kPiece = std::size_t{1} << 24;

// A NaN would make every gradient one, and leave nothing to select.
void require_finite(const float* values, index_t n, std::int64_t row) {
  const index_t at = first_not_finite(values, n);
  if (at < 0) return;
  throw std::domain_error("The kernel of the examples " + std::to_string(row) + " and " +
                          std::to_string(at) + " of those trained on is " +
                          std::to_string(values[at]) +
                          " in single precision; every kernel value must be finite: scale the "
                          "data, or lower gamma or degree.");
}

}  // namespace

void RowMemory::Free::operator()(float* memory) const { ::operator delete(memory, kAlignment); }

float* RowMemory::next() {
  const std::size_t row_bytes = row_floats_ * sizeof(float);
  const std::size_t per_piece = std::max<std::size_t>(kPiece / row_bytes, 1);
  if (left_ == 0) {
    auto* memory =
        static_cast<float*>(::operator new(per_piece * row_bytes, kAlignment, std::nothrow));
    if (memory == nullptr) return nullptr;
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

// A row of a lease that another solver is computing, and the slot it is to come to.
struct RowCache::Awaited {
  std::size_t place;
  std::int32_t slot;
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
  known_.assign(rows.size(), false);
}

std::int64_t RowCache::computed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return computed_;
}

std::int64_t RowCache::different() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return different_;
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

// A slot that nobody uses, or -1.
std::int32_t RowCache::free_slot() {
  if (static_cast<index_t>(slots_.size()) < capacity_) {
    if (float* values = memory_.next(); values != nullptr) {
      slots_.emplace_back();
      slots_.back().values = values;
      return static_cast<std::int32_t>(slots_.size()) - 1;
    }
    // The system has no more memory: what there is has to do.
    if (slots_.size() < 2) throw std::bad_alloc();
    capacity_ = static_cast<index_t>(slots_.size());
  }
  const std::int32_t at = oldest_;
  if (at < 0) return -1;
  unlink(at);
  if (slots_[at].row >= 0) slot_of_[slots_[at].row] = -1;
  return at;
}

// Pins what is there or under way, and finds room for what is not.
void RowCache::claim(std::span<const std::int64_t> which, Lease& lease, Claims& claims,
                     std::vector<Awaited>& awaited) {
  lease.cache_ = this;
  for (std::size_t r = 0; r < which.size(); ++r) {
    if ((lease.rows_[r] = rows_.resident(which[r])) != nullptr) continue;
    std::int32_t at = slot_of_[which[r]];
    if (at >= 0) {
      if (slots_[at].pins == 0) unlink(at);
      if (!slots_[at].ready) awaited.push_back({r, at});
    } else {
      at = free_slot();
      if (at < 0)
        lease.own_.push_back(std::make_unique_for_overwrite<float[]>(padded(rows_.size())));
      float* values = at < 0 ? lease.own_.back().get() : slots_[at].values;
      claims.which.push_back(which[r]);
      claims.slots.push_back(at);
      claims.out.push_back(values);
      lease.rows_[r] = values;
      if (at < 0) continue;
      slots_[at].row = which[r];
      slots_[at].ready = false;
      slot_of_[which[r]] = at;
    }
    ++slots_[at].pins;
    lease.pinned_.push_back(at);
    lease.rows_[r] = slots_[at].values;
  }
}

// Rows that were claimed and will not come. Their slots stay pinned by those who wait for them.
void RowCache::abandon(const Claims& claims) {
  for (std::size_t c = 0; c < claims.slots.size(); ++c) {
    if (claims.slots[c] < 0) continue;
    slot_of_[claims.which[c]] = -1;
    slots_[claims.slots[c]].row = -1;
  }
  arrived_.notify_all();
}

void RowCache::acquire(std::span<const std::int64_t> which, Lease& lease, int n_threads) {
  lease.release();
  lease.rows_.assign(which.size(), nullptr);
  Claims claims;
  std::vector<Awaited> awaited;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    try {
      claim(which, lease, claims, awaited);
    } catch (...) {
      abandon(claims);
      throw;
    }
  }
  compute(claims, n_threads);
  if (awaited.empty()) return;
  // What another solver failed to compute is ours to do.
  Claims left;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const auto [place, slot] : awaited) {
      arrived_.wait(lock, [&, row = which[place], at = slot] {
        return slots_[at].row != row || slots_[at].ready;
      });
      if (slots_[slot].row == which[place]) continue;
      lease.own_.push_back(std::make_unique_for_overwrite<float[]>(padded(rows_.size())));
      lease.rows_[place] = lease.own_.back().get();
      left.which.push_back(which[place]);
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
    for (std::size_t r = 0; r < claims.which.size(); ++r)
      require_finite(claims.out[r], rows_.size(), claims.which[r]);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    abandon(claims);
    throw;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  computed_ += static_cast<std::int64_t>(claims.which.size());
  for (const std::int64_t row : claims.which) {
    different_ += !known_[row];
    known_[row] = true;
  }
  for (const std::int32_t slot : claims.slots)
    if (slot >= 0) slots_[slot].ready = true;
  arrived_.notify_all();
}

}  // namespace cutplane::smo
