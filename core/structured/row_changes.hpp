// Changes of a table's rows that lie apart from it.
//
// A table of weights has many rows, and a batch of sequences changes some thousand: these are in
// the cache, where the table is not, and others may read the table while they are made. What is met
// at random is read and written without branches, which would be guessed wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

class RowChanges {
 public:
  RowChanges(index_t rows, index_t columns)
      : columns_(columns), slots_(rows, 0), changed_(1), changes_(columns, 0.0) {}

  bool empty() const { return count_ == 0; }

  double at(index_t row, index_t column) const {
    return changes_[slot_of(row) * columns_ + column];
  }
  // What is at one place of a row, less what is at another.
  double difference(index_t row, index_t column, index_t other) const {
    const double* changes = changes_.data() + slot_of(row) * columns_;
    return changes[column] - changes[other];
  }

  // So many calls of `add` and `move` may follow.
  void reserve(index_t calls) {
    const index_t needed = count_ + calls + 1;
    if (needed <= clean_) return;
    if (std::ssize(changed_) < needed) {
      changed_.resize(2 * needed);
      changes_.resize(2 * needed * columns_);
    }
    std::fill(changes_.begin() + clean_ * columns_, changes_.begin() + needed * columns_, 0.0);
    clean_ = needed;
  }
  void add(index_t row, index_t column, double change) { of(row)[column] += change; }
  // Moves so much from one place of a row to another.
  void move(index_t row, index_t from, index_t to, double change) {
    double* changes = of(row);
    changes[from] -= change;
    changes[to] += change;
  }

  // Adds one of so many parts of the changes to the table: distinct rows.
  void add_part(index_t part, index_t parts, double* table) const {
    const Blocks blocks{count_, parts};
    const index_t end = blocks.end(part);
    for (index_t j = blocks.begin(part); j < end; ++j) {
      if (j + kRowsAhead < end) fetch(table + changed_[j + kRowsAhead + 1] * columns_);
      double* row = table + changed_[j + 1] * columns_;
      const double* changes = changes_.data() + (j + 1) * columns_;
      for (index_t c = 0; c < columns_; ++c) row[c] += changes[c];
    }
  }

  void clear() {
    before_ += count_;
    count_ = 0;
    clean_ = 1;
    if (before_ < kMostBefore) return;
    std::fill(slots_.begin(), slots_.end(), 0);
    before_ = 0;
  }

 private:
  static constexpr index_t kRowsAhead = 8, kDoublesPerLine = 8;
  static constexpr index_t kMostBefore = 1 << 30;

  // 0 where a row does not change.
  index_t slot_of(index_t row) const { return std::max<index_t>(slots_[row] - before_, 0); }

  double* of(index_t row) {
    const index_t slot = slot_of(row);
    const bool fresh = slot == 0;
    changed_[count_ + 1] = row;
    count_ += fresh;
    const index_t found = fresh ? count_ : slot;
    slots_[row] = static_cast<std::int32_t>(found + before_);
    return changes_.data() + found * columns_;
  }

  void fetch(const double* row) const {
    for (index_t c = 0; c < columns_; c += kDoublesPerLine) __builtin_prefetch(row + c, 1);
  }

  index_t columns_, count_ = 0;
  index_t clean_ = 1;   // slots that are zero or in use
  index_t before_ = 0;  // slots in use before the last time that all was cleared
  // Of each row, among those that change, and so many more as were in use before: those that are no
  // more than that do not change, and are read as the first one, of zeros.
  std::vector<std::int32_t> slots_;
  std::vector<index_t> changed_;  // by slot
  std::vector<double> changes_;   // slots x columns
};

}  // namespace cutplane
