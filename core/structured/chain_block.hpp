// The labellings of one sequence that searches have found, with their dual variables.
//
// A search needs the weights of the time when it is made and nothing else, so that those of several
// sequences run side by side. Steps among the labellings that are known then need few of the
// weights, and of these only what has changed since: the tokens at which labellings differ from the
// truth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/structured/chain.hpp"

namespace cutplane {

// Changes of a table's rows that lie apart from it.
//
// A table of weights has many rows, and a batch of sequences changes some thousand: these are in
// the cache, where the table is not, and others may read the table while they are made. What is met
// at random is read and written without branches, which would be guessed wrong.
class RowChanges {
 public:
  RowChanges(index_t rows, index_t columns)
      : columns_(columns), slots_(rows, 0), changed_(1), changes_(columns, 0.0) {}

  bool empty() const { return count_ == 0; }

  double at(index_t row, index_t column) const {
    return changes_[slot_of(row) * columns_ + column];
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

// A sparse table that is summed up in a hash table small enough to stay in the cache.
class SparseSum {
 public:
  explicit SparseSum(index_t columns) : columns_(columns), keys_(256, kEmpty), values_(256) {}

  void clear() {
    for (const std::size_t slot : used_) keys_[slot] = kEmpty;
    used_.clear();
  }

  double at(index_t row, index_t column) const {
    const std::size_t slot = slot_of(row * columns_ + column);
    return keys_[slot] == kEmpty ? 0.0 : values_[slot];
  }
  double square() const {
    double sum = 0;
    for (const std::size_t slot : used_) sum += values_[slot] * values_[slot];
    return sum;
  }

  // As of RowChanges.
  void reserve(index_t calls) {
    while (2 * (std::ssize(used_) + 2 * calls) > std::ssize(keys_)) grow();
  }
  void add(index_t row, index_t column, double change) {
    const std::int64_t key = row * columns_ + column;
    const std::size_t slot = slot_of(key);
    if (keys_[slot] == kEmpty) {
      keys_[slot] = key;
      values_[slot] = 0.0;
      used_.push_back(slot);
    }
    values_[slot] += change;
  }
  void move(index_t row, index_t from, index_t to, double change) {
    add(row, to, change);
    add(row, from, -change);
  }

 private:
  static constexpr std::int64_t kEmpty = -1;

  void grow() {
    const auto keys = keys_;
    const auto values = values_;
    keys_.assign(2 * keys.size(), kEmpty);
    values_.resize(keys_.size());
    for (std::size_t& slot : used_) {
      const std::size_t before = slot;
      slot = slot_of(keys[before]);
      keys_[slot] = keys[before];
      values_[slot] = values[before];
    }
  }
  // Where a key is, or would be.
  std::size_t slot_of(std::int64_t key) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 20) & mask;
    while (keys_[slot] != kEmpty && keys_[slot] != key) slot = (slot + 1) & mask;
    return slot;
  }

  index_t columns_;
  std::vector<std::int64_t> keys_;
  std::vector<double> values_;
  std::vector<std::size_t> used_;
};

// Lists, one after the other.
template <class T>
struct Lists {
  std::vector<T> items;
  std::vector<std::int64_t> ends{0};  // of each list, after that of none

  void clear() {
    items.clear();
    ends.assign(1, 0);
  }
  void end_list() { ends.push_back(std::ssize(items)); }
  std::span<const T> operator[](index_t list) const {
    return std::span(items).subspan(ends[list], ends[list + 1] - ends[list]);
  }
};

// Where the labellings of a sequence differ from the truth.
//
// Labellings share most of the labels that differ: what costs a pass over the features of a token
// is done once for each such flip.
struct Differences {
  struct Flip {
    index_t token;
    label_t label, right;  // the labelling's, and the true one
    double value;
  };
  // A transition that only the labelling has (1) or only the truth (-1), by its place among the
  // weights. It may come more than once.
  struct Move {
    index_t row;
    label_t label;
    double value;
  };

  std::vector<Flip> flips;
  Lists<Move> moves;  // of each labelling

  // For a sequence whose tokens begin here, with these true labels.
  void start(const Chains& chains, index_t first_token, std::span<const label_t> truth) {
    first_ = first_token;
    truth_ = truth;
    labels_ = chains.labels;
    features_ = chains.features;
    place_.assign(truth.size() * labels_, kNone);
    flips.clear();
    moves.clear();
    places_.clear();
  }
  // Lists the next labelling's.
  void add(std::span<const label_t> labels);

  index_t labellings() const { return std::ssize(moves.ends) - 1; }
  // The sum of the values of a labelling's flips.
  double sum(index_t labelling) const {
    double sum = 0;
    for (const std::int32_t place : places_[labelling]) sum += flips[place].value;
    return sum;
  }
  // Values become the sums over labellings of coef(labelling).
  template <class Coef>
  void set_sums(Coef&& coef) {
    for (Flip& flip : flips) flip.value = 0.0;
    for (index_t j = 0; j < labellings(); ++j)
      if (const double value = coef(j); value != 0.0)
        for (const std::int32_t place : places_[j]) flips[place].value += value;
  }

 private:
  static constexpr std::int32_t kNone = -1;

  index_t first_ = 0, labels_ = 0, features_ = 0;
  std::span<const label_t> truth_;
  std::vector<std::int32_t> place_;  // length x labels: the place among the flips, or none
  Lists<std::int32_t> places_;       // of each labelling's flips
};

struct Labelling {
  std::vector<label_t> labels;
  double weight;
  double loss;
  double before;  // the weight after the epoch before
  double aim;     // a change of the weight that is being tried
};

// The labellings of a sequence, and the inner products of their differences from the truth.
class Labellings : public std::vector<Labelling> {
 public:
  double product(std::size_t i, std::size_t j) const {
    return i < j ? products_[place(j, i)] : products_[place(i, j)];
  }
  // Of the difference of two labellings.
  double square(std::size_t i, std::size_t j) const {
    return product(i, i) + product(j, j) - 2.0 * product(i, j);
  }

  // products: with those that are there, and the square at last.
  void add(Labelling labelling, const std::vector<double>& products) {
    push_back(std::move(labelling));
    products_.insert(products_.end(), products.begin(), products.end());
  }
  // Forgets those that have no weight.
  void prune();

 private:
  // Of the product of labelling i with j, which is none of those after it.
  static std::size_t place(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }

  std::vector<double> products_;
};

class ChainBlock {
 public:
  ChainBlock(const Chains& chains, const label_t* truth, const double* cost)
      : chains_(chains),
        truth_(truth),
        cost_(cost),
        scratch_(chains.labels),
        difference_(chains.labels) {}

  // Adds the best labelling of a sequence to those that are known, and sets `gap`.
  void search(index_t sequence, const double* w, Labellings& known);
  // Brings the heights of the labellings up to date with changes of the weights.
  void catch_up(const RowChanges& changes);
  // Moves weight from low labellings to high ones until little is to be gained; C is that of the
  // sequence. The mixed loss that this adds. `changes`: what has become of the weights since the
  // search, but for what has been caught up with; they follow. Requires: a search of the sequence,
  // since when nothing has changed what is known of it. Ensures: C sum_j weight_j loss_j - ½|w|²
  // does not fall.
  double step(double C, RowChanges& changes, Labellings& known);

  // How far the best labelling was above the mixed one.
  double gap() const { return gap_; }

 private:
  void take(double height, std::span<const label_t> right, Labellings& known);
  // Copies the features of all flips into one place: another thread will step.
  void copy_features();
  void balance(double C, Labellings& known);
  // sums[j] += <table, difference of labelling j from the truth>
  template <class Table>
  void add_products(const Table& table, std::span<double> sums);
  // table += factor * sum over j of coef(j) * difference of labelling j from the truth
  template <class Coef, class Table>
  void add_differences(double factor, Coef&& coef, Table& table);
  // body(row, value): the features of a flip's token, as copied.
  template <class Body>
  void each_row(index_t flip, Body&& body) const {
    each_feature(rows_.ends, rows_.items, chains_.values ? values_.data() : nullptr, flip, body);
  }

  const Chains chains_;
  const label_t* truth_;
  const double* cost_;
  double gap_ = 0;
  ChainScratch scratch_;
  std::vector<label_t> found_;
  std::vector<double> heights_;  // of the labellings, above that of the truth
  Differences differences_;      // of the labellings, and of the one found if it is new
  Lists<std::int32_t> rows_;     // features of each flip's token
  std::vector<double> values_;   // of these; none where all are 1
  SparseSum difference_;         // of the labelling found
};

}  // namespace cutplane
