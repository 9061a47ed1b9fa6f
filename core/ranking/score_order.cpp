#include "core/ranking/score_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

CUTPLANE_MULTIVERSION double largest_of(const double* s, index_t begin, index_t end) {
  double most = 0.0;
  int wrong = 0;
#pragma omp simd reduction(max : most) reduction(| : wrong)
  for (index_t k = begin; k < end; ++k) {
    const double size = std::abs(s[k]);
    most = size > most ? size : most;
    wrong |= !(size <= std::numeric_limits<double>::max());
  }
  return wrong ? std::numeric_limits<double>::infinity() : most;
}

constexpr index_t kFewForInsertion = 24;
constexpr index_t kMovesForInsertion = 16;  // for each score: to sort from the start takes as long
constexpr index_t kKeysPerBlock = 1 << 15;
constexpr index_t kMostBlocks = 16;
constexpr int kDigitBits = 11;
constexpr index_t kDigits = index_t{1} << kDigitBits;

// Bits that compare as the single-precision numbers do: negative ones reversed, then positive ones.
// Both zeros are one.
std::uint32_t ordered_bits(double score) {
  constexpr std::uint32_t kSign = 0x80000000u;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(score));
  if (bits == kSign) return kSign;
  return bits & kSign ? ~bits : bits | kSign;
}

// Places from the order they are in, which may be nearly the right one. An insertion sort where few
// have to move, or few are to be sorted at all; else from the start.
void sort_places(const TiedScores& scores, place_t* place, double* key, index_t n) {
  for (index_t k = 0; k < n; ++k) key[k] = scores.score[place[k]];
  index_t left = n <= kFewForInsertion ? n * n : kMovesForInsertion * n;
  for (index_t k = 1; k < n; ++k) {
    const double score = key[k];
    const place_t moving = place[k];
    index_t hole = k;
    for (; hole > 0 && (score < key[hole - 1] ||
                        (score == key[hole - 1] && scores.less(moving, place[hole - 1])));
         --hole) {
      key[hole] = key[hole - 1];
      place[hole] = place[hole - 1];
    }
    key[hole] = score;
    place[hole] = moving;
    left -= k - hole;
    if (left < 0) {
      std::sort(place, place + n, [&](place_t a, place_t b) { return scores.less(a, b); });
      for (index_t j = 0; j < n; ++j) key[j] = scores.score[place[j]];
      return;
    }
  }
}

using Word = std::uint64_t;  // the key above, the place below

std::uint32_t key_of(Word word) { return static_cast<std::uint32_t>(word >> 32); }
place_t place_of(Word word) { return static_cast<place_t>(word); }

// One pass of the radix sort, stable: per-block counts say where each block's words of a digit go.
void scatter_by_digit(const Word* from, Word* to, const Blocks& blocks, int shift, int n_threads) {
  const auto digit = [shift](Word word) {
    return static_cast<index_t>((word >> shift) & (kDigits - 1));
  };
  std::vector<std::array<index_t, kDigits>> next(blocks.count);
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    next[b].fill(0);
    for (index_t k = begin; k < end; ++k) ++next[b][digit(from[k])];
  });
  index_t total = 0;
  for (index_t d = 0; d < kDigits; ++d) {
    for (auto& counts : next) {
      const index_t count = counts[d];
      counts[d] = total;
      total += count;
    }
  }
  for_blocks(blocks, n_threads, [&](index_t b, index_t begin, index_t end) {
    auto& place = next[b];
    for (index_t k = begin; k < end; ++k) to[place[digit(from[k])]++] = from[k];
  });
}

}  // namespace

F1Labelling f1_worst(const double* positive, index_t positives, const double* negative,
                     index_t negatives, double shift) {
  const double per_n = 1.0 / static_cast<double>(positives + negatives);
  const auto loss = [&](index_t a, index_t c) {
    return 1.0 -
           2.0 * static_cast<double>(positives - a) / static_cast<double>(2 * positives - a + c);
  };
  // What the c-th negative adds to the bound where a positives are missed.
  const auto gain = [&](index_t a, index_t c) {
    const double all = static_cast<double>(2 * positives - a + c);
    return 2.0 * static_cast<double>(positives - a) / (all * (all - 1.0)) +
           (negative[c - 1] + shift) * per_n;
  };
  index_t c = 0;
  double added = 0.0, missed = 0.0;
  while (c < negatives && gain(0, c + 1) > 0.0) added += negative[c++] + shift;
  F1Labelling best{0, 0, 0.0};
  double highest = -std::numeric_limits<double>::infinity();
  for (index_t a = 0;; ++a) {
    while (c > 0 && gain(a, c) <= 0.0) added -= negative[--c] + shift;
    const double bound = loss(a, c) + (added - missed) * per_n;
    if (bound > highest) {
      highest = bound;
      best = {a, c, loss(a, c)};
    }
    if (a == positives) break;
    missed += positive[a] + shift;
  }
  return best;
}

double largest_size(const double* s, index_t n, int n_threads) {
  const Blocks blocks = make_blocks(n, 1 << 14, 64);
  std::vector<double> largest(std::max<index_t>(blocks.count, 1));
  for_blocks(blocks, useful_threads(n_threads, n), [&](index_t b, index_t begin, index_t end) {
    largest[b] = largest_of(s, begin, end);
  });
  return *std::ranges::max_element(largest);
}

void sort_scores(const TiedScores& scores, index_t begin, index_t end, place_t* place, double* key,
                 std::uint64_t* spare, int n_threads) {
  const index_t n = end - begin;
  if (n < kFewForRadix) return sort_places(scores, place + begin, key + begin, n);
  const Blocks blocks = make_blocks(n, kKeysPerBlock, kMostBlocks);
  const int threads = useful_threads(n_threads, 8 * n);
  Word *words = spare, *others = spare + n;
  for_blocks(blocks, threads, [&](index_t, index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      const index_t p = begin + k;
      words[k] = static_cast<Word>(ordered_bits(scores.score[p])) << 32 | static_cast<Word>(p);
    }
  });
  for (const int shift : {32, 32 + kDigitBits, 32 + 2 * kDigitBits}) {
    scatter_by_digit(words, others, blocks, shift, threads);
    std::swap(words, others);
  }
  for_blocks(blocks, threads, [&](index_t, index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      place[begin + k] = place_of(words[k]);
      key[begin + k] = scores.score[place_of(words[k])];
    }
  });
  // Runs of equal keys; a block mends those that begin in it.
  for_blocks(blocks, threads, [&](index_t, index_t first, index_t last) {
    index_t k = first;
    while (k < last && k > 0 && key_of(words[k]) == key_of(words[k - 1])) ++k;
    while (k < last) {
      index_t stop = k + 1;
      while (stop < n && key_of(words[stop]) == key_of(words[k])) ++stop;
      if (stop - k > 1) sort_places(scores, place + begin + k, key + begin + k, stop - k);
      k = stop;
    }
  });
}

}  // namespace cutplane
