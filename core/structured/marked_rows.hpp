// A table of which few rows are not zero, and marked: passes leave the others out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/large_memory.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

class MarkedRows {
 public:
  MarkedRows(index_t rows, index_t columns)
      : rows_(rows), columns_(columns), table_(rows * columns), marks_(rows) {}

  double* table() { return table_.data(); }
  // Whoever changes a row marks it: 1.
  std::uint8_t* marks() { return marks_.data(); }

  // With another table of this size: <other, this>, |this|². The same to the bit for any number of
  // threads.
  struct Products {
    double along, square;
  };
  Products products(const double* other, int n_threads) const;
  // other -= share * this, after which this is zero.
  void take_from(double* other, double share, int n_threads);

 private:
  Blocks blocks() const;

  index_t rows_, columns_;
  LargeArray table_;
  std::vector<std::uint8_t> marks_;
};

}  // namespace cutplane
