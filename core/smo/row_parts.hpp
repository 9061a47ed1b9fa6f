// Kernel rows in parts: a problem on some of the examples needs no kernel values with the others.
//
// Examples are sorted by class, so that a machine for two of ten classes needs a fifth of every row
// it works with, and other machines ask for other fifths of the same row.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "core/smo/tiles.hpp"

namespace cutplane::smo {

inline constexpr index_t kMostParts = 256;
// A run of memory that is worth a task of its own.
inline constexpr index_t kLeastPanelsPerPart = 4;

// Panels of columns, from the first up to the last, which is not included.
struct PanelRun {
  index_t begin, end;
};

// Some of the parts of a row.
class PartSet {
 public:
  void insert(index_t part) { words_[part / 64] |= std::uint64_t{1} << (part % 64); }
  bool contains(index_t part) const { return (words_[part / 64] >> (part % 64)) & 1; }
  bool empty() const { return *this == PartSet{}; }
  PartSet& operator|=(const PartSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  // What is in a and not in z.
  friend PartSet operator-(PartSet a, const PartSet& z) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) a.words_[w] &= ~z.words_[w];
    return a;
  }
  // An order of sets, of no meaning.
  auto operator<=>(const PartSet&) const = default;

 private:
  std::array<std::uint64_t, kMostParts / 64> words_{};
};

// How rows of `size` values are cut into parts.
class RowParts {
 public:
  // divided: whether there is more than one part.
  RowParts(index_t size, bool divided)
      : panels_{panels_for(size),
                divided ? std::clamp<index_t>(panels_for(size) / kLeastPanelsPerPart, 1, kMostParts)
                        : 1} {}

  PartSet all() const {
    PartSet result;
    for (index_t part = 0; part < panels_.count; ++part) result.insert(part);
    return result;
  }

  // The parts with these columns, which ascend for the most part.
  PartSet with(std::span<const std::int64_t> columns) const {
    PartSet result;
    index_t part = 0;
    for (const std::int64_t column : columns) {
      const index_t panel = column / kPanel;
      if (panel < panels_.begin(part)) part = 0;
      while (panel >= panels_.end(part)) ++part;
      result.insert(part);
    }
    return result;
  }

  // Neighbouring parts in one.
  std::vector<PanelRun> runs(const PartSet& parts) const {
    std::vector<PanelRun> result;
    for (index_t part = 0; part < panels_.count; ++part) {
      if (!parts.contains(part)) continue;
      if (!result.empty() && result.back().end == panels_.begin(part))
        result.back().end = panels_.end(part);
      else
        result.push_back({panels_.begin(part), panels_.end(part)});
    }
    return result;
  }

 private:
  Blocks panels_;
};

}  // namespace cutplane::smo
