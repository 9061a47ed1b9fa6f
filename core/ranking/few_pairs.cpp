#include "core/ranking/few_pairs.hpp"

#include <limits>

#include "core/base/lanes.hpp"
#include "core/base/multiversion.hpp"
#include "core/ranking/pair_tree.hpp"

namespace cutplane {
namespace {

// A pair takes half a nanosecond to two, by the machine; sorting and sweeping takes some 25 for
// each example.
constexpr index_t kPairsPerExample = 24;

constexpr int kLanes = kCommonLanes;
using Lane = Lanes<kLanes>;
using Mask = LanesOf<kLanes>::mask;

// What scores are beyond the last: no pair of theirs is close to its kink.
constexpr double kFarBelow = -std::numeric_limits<double>::infinity(), kFarAbove = -kFarBelow;

// `left` numbers or as many as there is room for; `rest` where there are fewer.
CUTPLANE_INLINE void load_some(const double* from, index_t left, double rest, Lane& out) {
  if (left >= kLanes) return load<kLanes>(from, out);
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l) out[l] = l < left ? from[l] : rest;
}

CUTPLANE_INLINE void add_some(const Lane& more, index_t left, double* to) {
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l)
    if (l < left) to[l] += more[l];
}

CUTPLANE_INLINE double sum_of(const Lane& values) {
  double sum = 0.0;
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; ++l) sum += values[l];
  return sum;
}

// As a bit pattern: what `where` does not say is 0.
#define CUTPLANE_WHERE(mask, values) ((Lane)((mask) & (Mask)(values)))

// The pairs of the ranks of groups [group, group_end) with those below, and their slopes by place.
template <bool kWeighted>
CUTPLANE_MULTIVERSION PairSums cut_of(const PairSample& sample, index_t group, index_t group_end,
                                      const double* score, double* coef) {
  const double* weight = sample.weight.data();
  PairSums total{};
  for (index_t g = group; g < group_end; ++g) {
    const index_t lowest = sample.leaf[sample.group[g]], highest = sample.leaf[sample.group[g + 1]];
    Lane value{}, counted{};
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k) {
      const index_t rank = sample.leaf[k], above = sample.leaf[k + 1];
      for (index_t j = lowest; j < rank; j += kLanes) {
        Lane low, each = Lane{} + 1.0, trails{}, lost{};
        load_some(score + j, rank - j, kFarBelow, low);
        if (kWeighted) load_some(weight + j, rank - j, 0.0, each);
        for (index_t i = rank; i < above; ++i) {
          const Lane z = (1.0 - score[i]) + low, own = Lane{} + (kWeighted ? weight[i] : 1.0);
          const Mask counts = z >= 0.0;
          trails += CUTPLANE_WHERE(counts, own);
          lost += own * CUTPLANE_WHERE(counts, z);
        }
        value += each * lost;
        add_some(each * trails, rank - j, coef + j);
      }
      for (index_t i = rank; i < above; i += kLanes) {
        Lane high, own = Lane{} + 1.0, leads{}, leads_others{};
        load_some(score + i, above - i, kFarAbove, high);
        if (kWeighted) load_some(weight + i, above - i, 0.0, own);
        const Lane start = 1.0 - high;
        // Two sums: one after the other they would wait for each other.
        const auto count = [&](index_t j, Lane& sum) CUTPLANE_INLINED {
          const Lane z = start + score[j], each = Lane{} + (kWeighted ? weight[j] : 1.0);
          const Mask counts = z >= 0.0;
          sum += CUTPLANE_WHERE(counts, each);
        };
        index_t j = lowest;
        for (; j + 1 < rank; j += 2) count(j, leads), count(j + 1, leads_others);
        if (j < rank) count(j, leads);
        const Lane led = own * (leads + leads_others);
        counted += led;
        add_some(-led, above - i, coef + i);
      }
    }
    for (index_t p = lowest; p < highest; ++p)
      coef[p] *= sample.group_weight[g];  // counts till here
    total[0] += sample.group_weight[g] * sum_of(value);
    total[1] += sample.group_weight[g] * sum_of(counted);
  }
  return total;
}

template <bool kWeighted>
CUTPLANE_MULTIVERSION PairSums slopes_of(const PairSample& sample, index_t group, index_t group_end,
                                         const double* score, const double* direction) {
  const double* weight = sample.weight.data();
  PairSums total{};
  for (index_t g = group; g < group_end; ++g) {
    const index_t lowest = sample.leaf[sample.group[g]];
    Lane value{}, slope{};
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k) {
      const index_t rank = sample.leaf[k], above = sample.leaf[k + 1];
      for (index_t j = lowest; j < rank; j += kLanes) {
        Lane low, along, each = Lane{} + 1.0, lost{}, rises{};
        load_some(score + j, rank - j, kFarBelow, low);
        load_some(direction + j, rank - j, 0.0, along);
        if (kWeighted) load_some(weight + j, rank - j, 0.0, each);
        for (index_t i = rank; i < above; ++i) {
          const Lane z = (1.0 - score[i]) + low, rise = along - direction[i];
          const Lane own = Lane{} + (kWeighted ? weight[i] : 1.0);
          // On its kink, a pair counts if it moves beyond.
          const Mask beyond = z > 0.0, counts = beyond | ((z == 0.0) & (rise > 0.0));
          lost += own * CUTPLANE_WHERE(beyond, z);
          rises += own * CUTPLANE_WHERE(counts, rise);
        }
        value += each * lost;
        slope += each * rises;
      }
    }
    total[0] += sample.group_weight[g] * sum_of(value);
    total[1] += sample.group_weight[g] * sum_of(slope);
  }
  return total;
}

// sums(begin, end) of parts of the groups, added up in their order.
template <class Sums>
PairSums over_groups(const PairSample& sample, int n_threads, const Sums& sums) {
  const Blocks blocks = make_blocks(static_cast<index_t>(sample.group.size()) - 1, 64, 64);
  std::vector<PairSums> partial(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, 8 * sample.places()),
             [&](index_t b, index_t begin, index_t end) { partial[b] = sums(begin, end); });
  PairSums total{};
  for (const PairSums& each : partial) add(total, each);
  return total;
}

}  // namespace

bool has_few_pairs(const PairSample& sample) {
  index_t pairs = 0;
  for (std::size_t g = 0; g + 1 < sample.group.size(); ++g) {
    const index_t lowest = sample.leaf[sample.group[g]];
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k)
      pairs += (sample.leaf[k] - lowest) * (sample.leaf[k + 1] - sample.leaf[k]);
  }
  return pairs <= kPairsPerExample * sample.places();
}

PairCut few_pairs_cut(const PairSample& sample, const std::vector<double>& scores, double* coef,
                      int n_threads) {
  std::vector<double> by_place(scores.size());
  const PairSums sums = over_groups(sample, n_threads, [&](index_t begin, index_t end) {
    return sample.weight.empty() ? cut_of<false>(sample, begin, end, scores.data(), by_place.data())
                                 : cut_of<true>(sample, begin, end, scores.data(), by_place.data());
  });
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

PairSlope few_pairs_slope(const PairSample& sample, const std::vector<double>& scores,
                          const std::vector<double>& direction, int n_threads) {
  const PairSums sums = over_groups(sample, n_threads, [&](index_t begin, index_t end) {
    return sample.weight.empty()
               ? slopes_of<false>(sample, begin, end, scores.data(), direction.data())
               : slopes_of<true>(sample, begin, end, scores.data(), direction.data());
  });
  return {sums[0], sums[1], true};
}

}  // namespace cutplane
