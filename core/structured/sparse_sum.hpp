// A sparse vector being summed up, in a hash table that is small enough to stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cutplane {

class SparseSum {
 public:
  void clear();
  void add(std::int64_t key, double value);
  double square() const;
  template <class Body>
  void each(Body&& body) const {
    for (const std::uint32_t slot : used_) body(keys_[slot], values_[slot]);
  }

 private:
  void grow();
  std::size_t slot_of(std::int64_t key) const;

  std::vector<std::int64_t> keys_;  // -1: empty
  std::vector<double> values_;
  std::vector<std::uint32_t> used_;
};

}  // namespace cutplane
