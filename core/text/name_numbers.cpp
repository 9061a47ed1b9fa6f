#include "core/text/name_numbers.hpp"

#include <bit>
#include <functional>

namespace cutplane {
namespace {

constexpr index_t kNamesPerBlock = 1 << 14, kMostNameBlocks = 256;
// What a name costs, in the units that threads are counted by: its string lies anywhere in memory.
constexpr index_t kWorkPerName = 64;

// Where names were first met, by their hashes.
class FirstPlaces {
 public:
  FirstPlaces(std::span<const std::string_view> names, std::span<const std::size_t> hashes)
      : names_(names), hashes_(hashes), slots_(1 << 12, kEmpty) {}

  index_t first_of(index_t place) {
    if (2 * used_ >= slots_.size()) grow();
    std::size_t slot = slot_of(hashes_[place]);
    for (; slots_[slot] != kEmpty; slot = next(slot)) {
      const index_t met = slots_[slot];
      if (hashes_[met] == hashes_[place] && names_[met] == names_[place]) return met;
    }
    slots_[slot] = place;
    ++used_;
    return place;
  }

 private:
  static constexpr index_t kEmpty = -1;

  std::size_t slot_of(std::size_t hash) const { return hash & (slots_.size() - 1); }
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<index_t> before(2 * slots_.size(), kEmpty);
    before.swap(slots_);
    for (const index_t met : before) {
      if (met == kEmpty) continue;
      std::size_t slot = slot_of(hashes_[met]);
      while (slots_[slot] != kEmpty) slot = next(slot);
      slots_[slot] = met;
    }
  }

  std::span<const std::string_view> names_;
  std::span<const std::size_t> hashes_;
  std::vector<index_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace

NameNumbers number_names(std::span<const std::string_view> names, int n_threads) {
  const index_t count = std::ssize(names);
  const int threads = useful_threads(n_threads, kWorkPerName * count);
  const Blocks blocks = make_blocks(count, kNamesPerBlock, kMostNameBlocks);
  std::vector<std::size_t> hashes(count);
  for_blocks(blocks, threads, [&](index_t, index_t begin, index_t end) {
    for (index_t j = begin; j < end; ++j) hashes[j] = std::hash<std::string_view>()(names[j]);
  });
  // A thread has the names of some hashes, by their highest bits: the lowest ones choose slots.
  const auto parts = static_cast<index_t>(std::bit_floor(static_cast<unsigned>(threads)));
  const int shift = 64 - std::countr_zero(static_cast<std::uint64_t>(parts));
  std::vector<index_t> first(count);
  for_blocks({parts, parts}, threads, [&](index_t part, index_t, index_t) {
    FirstPlaces places(names, hashes);
    for (index_t j = 0; j < count; ++j)
      if (parts == 1 || static_cast<index_t>(hashes[j] >> shift) == part)
        first[j] = places.first_of(j);
  });
  NameNumbers found{std::vector<std::int32_t>(count), {}};
  for (index_t j = 0; j < count; ++j) {
    if (first[j] != j) continue;
    found.numbers[j] = static_cast<std::int32_t>(found.firsts.size());
    found.firsts.push_back(j);
  }
  // Those that come first keep their numbers: others read them.
  for_blocks(blocks, threads, [&](index_t, index_t begin, index_t end) {
    for (index_t j = begin; j < end; ++j)
      if (first[j] != j) found.numbers[j] = found.numbers[first[j]];
  });
  return found;
}

}  // namespace cutplane
