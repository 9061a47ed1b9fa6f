#include "core/structured/sparse_sum.hpp"

#include <algorithm>

namespace cutplane {

void SparseSum::clear() {
  for (const std::uint32_t slot : used_) keys_[slot] = -1;
  used_.clear();
}

std::size_t SparseSum::slot_of(std::int64_t key) const {
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 20) & mask;
  while (keys_[slot] != -1 && keys_[slot] != key) slot = (slot + 1) & mask;
  return slot;
}

void SparseSum::grow() {
  std::vector<std::int64_t> keys;
  std::vector<double> values;
  each([&](std::int64_t key, double value) {
    keys.push_back(key);
    values.push_back(value);
  });
  keys_.assign(std::max<std::size_t>(256, 2 * keys_.size()), -1);
  values_.resize(keys_.size());
  used_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], values[i]);
}

void SparseSum::add(std::int64_t key, double value) {
  if (2 * used_.size() >= keys_.size()) grow();
  const std::size_t slot = slot_of(key);
  if (keys_[slot] == -1) {
    keys_[slot] = key;
    values_[slot] = 0.0;
    used_.push_back(static_cast<std::uint32_t>(slot));
  }
  values_[slot] += value;
}

double SparseSum::square() const {
  double sum = 0;
  each([&](std::int64_t, double value) { sum += value * value; });
  return sum;
}

}  // namespace cutplane
