// A sparse vector being summed up, in a hash table that is small enough to stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cutplane {

class SparseSum {
 public:
  void clear();
  void add(std::int64_t key, double value) {
    if (2 * used_.size() >= keys_.size()) grow();
    const std::size_t slot = slot_of(key);
    if (keys_[slot] == -1) {
      keys_[slot] = key;
      values_[slot] = 0.0;
      used_.push_back(static_cast<std::uint32_t>(slot));
    }
    values_[slot] += value;
  }
  double square() const;
  double operator[](std::int64_t key) const {
    if (keys_.empty()) return 0.0;
    const std::size_t slot = slot_of(key);
    return keys_[slot] == key ? values_[slot] : 0.0;
  }
  template <class Body>
  void each(Body&& body) const {
    for (const std::uint32_t slot : used_) body(keys_[slot], values_[slot]);
  }

 private:
  void grow();
  std::size_t slot_of(std::int64_t key) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 20) & mask;
    while (keys_[slot] != -1 && keys_[slot] != key) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<std::int64_t> keys_;  // -1: empty
  std::vector<double> values_;
  std::vector<std::uint32_t> used_;
};

}  // namespace cutplane
