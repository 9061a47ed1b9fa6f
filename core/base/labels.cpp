#include "core/base/labels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

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

Blocks label_blocks(index_t n) { return make_blocks(n, 1 << 16, 1024); }

// Loops that store bytes have all that they read in arguments: a byte may lie in anything else.
template <class T>
void mark_block(const T* y, index_t n, std::int64_t low, std::uint8_t* seen) {
  for (index_t i = 0; i < n; ++i) seen[static_cast<std::int64_t>(y[i]) - low] = 1;
}

template <class T, class Code>
void code_block(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes) {
  for (index_t i = 0; i < n; ++i) codes[i] = table[static_cast<std::int64_t>(y[i]) - low];
}

template <class Code>
void sign_block(const Code* codes, index_t n, Code positive, std::int8_t* signs) {
  for (index_t i = 0; i < n; ++i)
    signs[i] = codes[i] == positive ? std::int8_t{1} : std::int8_t{-1};
}

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

template <class T>
LabelRange label_range(const T* y, index_t n, int n_threads) {
  const Blocks blocks = label_blocks(n);
  std::vector<LabelRange> found(static_cast<std::size_t>(blocks.count));
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    T low = y[begin], high = low;
    bool whole = true;
    for (index_t i = begin; i < end; ++i) {
      low = std::min(low, y[i]);
      high = std::max(high, y[i]);
      if constexpr (std::is_floating_point_v<T>) whole &= std::floor(y[i]) == y[i];
    }
    found[static_cast<std::size_t>(b)] = {static_cast<double>(low), static_cast<double>(high),
                                          whole};
  });
  LabelRange all;
  for (const LabelRange& each : found) {
    all.low = std::min(all.low, each.low);
    all.high = std::max(all.high, each.high);
    all.whole &= each.whole;
  }
  return all;
}

template <class T>
void mark_labels(const T* y, index_t n, std::int64_t low, std::uint8_t* seen, index_t range,
                 int n_threads) {
  const Blocks blocks = label_blocks(n);
  // A table for each of a few parts: no two threads write to one.
  const index_t parts = std::min<index_t>(blocks.count, resolve_threads(n_threads));
  std::vector<std::uint8_t> tables(static_cast<std::size_t>(parts * range), 0);
  for_blocks({n, parts}, n_threads, [&](index_t part, index_t begin, index_t end) {
    mark_block(y + begin, end - begin, low, tables.data() + part * range);
  });
  for (index_t part = 0; part < parts; ++part)
    for (index_t k = 0; k < range; ++k)
      seen[k] |= tables[static_cast<std::size_t>(part * range + k)];
}

template <class T, class Code>
void code_labels(const T* y, index_t n, std::int64_t low, const Code* table, Code* codes,
                 int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    code_block(y + begin, end - begin, low, table, codes + begin);
  });
}

template <class Code>
void sign_codes(const Code* codes, index_t n, Code positive, std::int8_t* signs, int n_threads) {
  for_blocks(label_blocks(n), n_threads, [&](index_t, index_t begin, index_t end) {
    sign_block(codes + begin, end - begin, positive, signs + begin);
  });
}

template void sign_codes(const std::int8_t*, index_t, std::int8_t, std::int8_t*, int);
template void sign_codes(const std::int16_t*, index_t, std::int16_t, std::int8_t*, int);
template void sign_codes(const std::int32_t*, index_t, std::int32_t, std::int8_t*, int);

#define CUTPLANE_LABELS(T)                                                                       \
  template LabelRange label_range(const T*, index_t, int);                                       \
  template void mark_labels(const T*, index_t, std::int64_t, std::uint8_t*, index_t, int);       \
  template void code_labels(const T*, index_t, std::int64_t, const std::int8_t*, std::int8_t*,   \
                            int);                                                                \
  template void code_labels(const T*, index_t, std::int64_t, const std::int16_t*, std::int16_t*, \
                            int);                                                                \
  template void code_labels(const T*, index_t, std::int64_t, const std::int32_t*, std::int32_t*, \
                            int)

CUTPLANE_LABELS(std::int8_t);
CUTPLANE_LABELS(std::uint8_t);
CUTPLANE_LABELS(std::int32_t);
CUTPLANE_LABELS(std::int64_t);
CUTPLANE_LABELS(float);
CUTPLANE_LABELS(double);

}  // namespace cutplane
