#include "core/smo/row_cache.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/base/large_memory.hpp"

namespace cutplane::smo {

namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kPiece = std::size_t{1} << 24;

// Pages of this size for the second piece and those that follow: few problems need them.
constexpr std::align_val_t kLargeAlignment{1 << 21};

// Where the values of rows in some columns are, and the first row, by its place, that has one which
// is no number.
struct Computed {
  std::span<const std::int64_t> which;
  std::span<float* const> values;
  std::span<const PanelRun> columns;
  index_t size;  // of a row

  index_t count() const {
    index_t sum = 0;
    for (const PanelRun& run : columns)
      sum += std::min(run.end * kPanel, size) - run.begin * kPanel;
    return sum;
  }

  // The first column, or -1.
  index_t not_finite(std::size_t place) const {
    for (const PanelRun& run : columns) {
      const index_t begin = run.begin * kPanel, end = std::min(run.end * kPanel, size);
      const index_t at = first_not_finite(values[place] + begin, end - begin);
      if (at >= 0) return begin + at;
    }
    return -1;
  }
};

// A NaN would make every gradient one, and leave nothing to select.
void require_finite(const Computed& rows, int n_threads) {
  const auto n = static_cast<index_t>(rows.which.size());
  std::vector<char> wrong(n, 0);
  for_blocks({n, n}, useful_threads(n_threads, n * rows.count() / 8),
             [&](index_t r, index_t, index_t) { wrong[r] = rows.not_finite(r) >= 0; });
  const auto found = std::find(wrong.begin(), wrong.end(), 1);
  if (found == wrong.end()) return;
  const std::size_t r = found - wrong.begin();
  const index_t at = rows.not_finite(r);
  throw std::domain_error("The kernel of the examples " + std::to_string(rows.which[r]) + " and " +
                          std::to_string(at) + " of those trained on is " +
                          std::to_string(rows.values[r][at]) +
                          " in single precision; every kernel value must be finite: scale the "
                          "data, or lower gamma or degree.");
}

}  // namespace

void RowMemory::Free::operator()(float* memory) const {
  ::operator delete(memory, large ? kLargeAlignment : kAlignment);
}

float* RowMemory::next() {
  const std::size_t row_bytes = row_floats_ * sizeof(float);
  const std::size_t per_piece = std::max<std::size_t>(kPiece / row_bytes, 1);
  if (left_ == 0) {
    const bool large = !pieces_.empty();
    auto* memory = static_cast<float*>(
        ::operator new(per_piece * row_bytes, large ? kLargeAlignment : kAlignment, std::nothrow));
    if (memory == nullptr) return nullptr;
    if (large) prefer_large_pages(memory, per_piece * row_floats_);
    pieces_.emplace_back(memory, Free{large});
    left_ = per_piece;
  }
  --left_;
  return pieces_.back().get() + (per_piece - 1 - left_) * row_floats_;
}

// What is to be computed: parts of rows.
struct RowCache::Claims {
  std::vector<std::int64_t> which;
  std::vector<float*> out;
  std::vector<std::int32_t> slots;  // -1: the lease's own memory
  std::vector<PartSet> parts;
  std::int64_t begun = 0;  // rows of which there was no part

  // add() does not throw for so many.
  void reserve(std::size_t count) {
    which.reserve(count);
    out.reserve(count);
    slots.reserve(count);
    parts.reserve(count);
  }
  void add(std::int64_t row, float* values, std::int32_t slot, const PartSet& missing) {
    which.push_back(row);
    out.push_back(values);
    slots.push_back(slot);
    parts.push_back(missing);
  }
  // Those that lack the same parts lie together.
  void sort() {
    std::vector<std::size_t> order(which.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t z) { return parts[a] < parts[z]; });
    Claims sorted;
    for (const std::size_t c : order) sorted.add(which[c], out[c], slots[c], parts[c]);
    sorted.begun = begun;
    *this = std::move(sorted);
  }
  std::size_t end_of_alike(std::size_t begin) const {
    std::size_t end = begin + 1;
    while (end < parts.size() && parts[end] == parts[begin]) ++end;
    return end;
  }
};

// A row of a lease of which another solver is computing parts, and the slot they are to come to.
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
    : rows_(rows),
      parts_(rows.size(), rows.divisible()),
      memory_(std::max<index_t>(padded(rows.size()), kPanel)) {
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

std::int64_t RowCache::computed_values() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return values_;
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
void RowCache::claim(std::span<const std::int64_t> which, const PartSet& needed, Lease& lease,
                     Claims& claims, std::vector<Awaited>& awaited) {
  lease.cache_ = this;
  lease.pinned_.reserve(which.size());
  claims.reserve(which.size());
  awaited.reserve(which.size());
  for (std::size_t r = 0; r < which.size(); ++r) {
    if ((lease.rows_[r] = rows_.resident(which[r])) != nullptr) continue;
    std::int32_t at = slot_of_[which[r]];
    if (at < 0) {
      ++claims.begun;
      at = free_slot();
      if (at < 0) {
        claim_own(r, which[r], needed, lease, claims);
        continue;
      }
      slots_[at].row = which[r];
      slots_[at].claimed = slots_[at].ready = PartSet{};
      slot_of_[which[r]] = at;
    } else if (slots_[at].pins == 0) {
      unlink(at);
    }
    Slot& slot = slots_[at];
    ++slot.pins;
    lease.pinned_.push_back(at);
    lease.rows_[r] = slot.values;
    const PartSet missing = needed - slot.claimed;
    if (!(needed - missing - slot.ready).empty()) awaited.push_back({r, at});
    if (missing.empty()) continue;
    slot.claimed |= missing;
    claims.add(which[r], slot.values, at, missing);
  }
}

void RowCache::claim_own(std::size_t place, std::int64_t row, const PartSet& needed, Lease& lease,
                         Claims& claims) {
  lease.own_.push_back(std::make_unique_for_overwrite<float[]>(padded(rows_.size())));
  lease.rows_[place] = lease.own_.back().get();
  claims.add(row, lease.own_.back().get(), -1, needed);
}

// Parts that were claimed and will not come, as those see who wait for them.
void RowCache::abandon(const Claims& claims) {
  for (std::size_t c = 0; c < claims.slots.size(); ++c) {
    if (claims.slots[c] < 0) continue;
    Slot& slot = slots_[claims.slots[c]];
    slot.claimed = slot.claimed - (claims.parts[c] - slot.ready);
  }
  arrived_.notify_all();
}

void RowCache::acquire(std::span<const std::int64_t> which, const PartSet& needed, Lease& lease,
                       int n_threads) {
  lease.release();
  lease.rows_.assign(which.size(), nullptr);
  Claims claims;
  std::vector<Awaited> awaited;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    try {
      claim(which, needed, lease, claims, awaited);
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
    for (const auto [place, at] : awaited) {
      arrived_.wait(lock, [&, at = at] {
        return (needed - slots_[at].ready).empty() || !(needed - slots_[at].claimed).empty();
      });
      if (!(needed - slots_[at].ready).empty()) claim_own(place, which[place], needed, lease, left);
    }
  }
  compute(left, n_threads);
}

void RowCache::compute(Claims& claims, int n_threads) {
  if (claims.which.empty()) return;
  claims.sort();
  std::int64_t values = 0;
  try {
    for (std::size_t begin = 0; begin < claims.which.size();) {
      const std::size_t end = claims.end_of_alike(begin), n = end - begin;
      const std::vector<PanelRun> columns = parts_.runs(claims.parts[begin]);
      const Computed rows{
          {claims.which.data() + begin, n}, {claims.out.data() + begin, n}, columns, rows_.size()};
      rows_.rows(rows.which, columns, claims.out.data() + begin, n_threads);
      require_finite(rows, n_threads);
      values += static_cast<std::int64_t>(n) * rows.count();
      begin = end;
    }
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    abandon(claims);
    throw;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  computed_ += claims.begun;
  values_ += values;
  for (const std::int64_t row : claims.which) {
    different_ += !known_[row];
    known_[row] = true;
  }
  for (std::size_t c = 0; c < claims.slots.size(); ++c)
    if (claims.slots[c] >= 0) slots_[claims.slots[c]].ready |= claims.parts[c];
  arrived_.notify_all();
}

}  // namespace cutplane::smo
