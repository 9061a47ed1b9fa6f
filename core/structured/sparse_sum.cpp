#include "core/structured/sparse_sum.hpp"

#include <algorithm>

namespace cutplane {

void SparseSum::clear() {
  for (const std::uint32_t slot : used_) keys_[slot] = -1;
  used_.clear();
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

double SparseSum::square() const {
  double sum = 0;
  each([&](std::int64_t, double value) { sum += value * value; });
  return sum;
}

}  // namespace cutplane
