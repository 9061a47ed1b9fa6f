#include "core/ranking/few_pairs.hpp"

#include "core/base/multiversion.hpp"
#include "core/ranking/pair_sweep.hpp"

namespace cutplane {
namespace {

// A pair takes half a nanosecond to two, by the machine; sorting and sweeping takes some 25 for
// each example.
constexpr index_t kPairsPerExample = 24;

// Sums over the pairs of groups [group, group_end): each(i, lowest, end, own) gives those over the
// pairs of example i, which weighs `own`, with the others it leads, at the places [lowest, end).
// after(weight, begin, end) comes once those of a group are through.
template <bool kWeighted, class Each, class After>
CUTPLANE_INLINE PairSums sum_groups(const PairSample& sample, index_t group, index_t group_end,
                                    const Each& each, const After& after) {
  PairSums total{};
  for (index_t g = group; g < group_end; ++g) {
    const index_t lowest = sample.leaf[sample.group[g]], highest = sample.leaf[sample.group[g + 1]];
    PairSums sums{};
    for (index_t k = sample.group[g] + 1; k < sample.group[g + 1]; ++k) {
      for (index_t i = sample.leaf[k]; i < sample.leaf[k + 1]; ++i) {
        const double own = kWeighted ? sample.weight[i] : 1.0;
        const PairSums led = each(i, lowest, sample.leaf[k], own);
        for (std::size_t s = 0; s < led.size(); ++s) sums[s] += own * led[s];
      }
    }
    for (std::size_t s = 0; s < sums.size(); ++s) total[s] += sample.group_weight[g] * sums[s];
    after(sample.group_weight[g], lowest, highest);
  }
  return total;
}

template <bool kWeighted>
CUTPLANE_INLINE PairSums cut_groups(const PairSample& sample, index_t group, index_t group_end,
                                    const double* score, double* coef) {
  const double* weight = sample.weight.data();
  return sum_groups<kWeighted>(
      sample, group, group_end,
      [&](index_t i, index_t lowest, index_t end, double own) CUTPLANE_INLINED {
        double led = 0.0, value = 0.0;
#pragma omp simd reduction(+ : led, value)
        for (index_t j = lowest; j < end; ++j) {
          const double z = violation(score[i], score[j]);
          const double counted = z >= 0.0 ? (kWeighted ? weight[j] : 1.0) : 0.0;
          led += counted;
          value += counted * z;
          coef[j] += own * counted;
        }
        coef[i] -= own * led;
        return PairSums{value, led};
      },
      [&](double group_weight, index_t begin, index_t end) CUTPLANE_INLINED {
        for (index_t p = begin; p < end; ++p) coef[p] *= group_weight;  // they are counts till here
      });
}

template <bool kWeighted>
CUTPLANE_INLINE PairSums slopes_of_groups(const PairSample& sample, index_t group,
                                          index_t group_end, const double* score,
                                          const double* direction) {
  const double* weight = sample.weight.data();
  return sum_groups<kWeighted>(
      sample, group, group_end,
      [&](index_t i, index_t lowest, index_t end, double) CUTPLANE_INLINED {
        double value = 0.0, slope = 0.0;
#pragma omp simd reduction(+ : value, slope)
        for (index_t j = lowest; j < end; ++j) {
          const double z = violation(score[i], score[j]), rise = direction[j] - direction[i];
          const double each = kWeighted ? weight[j] : 1.0;
          // On its kink, a pair counts if it moves beyond.
          const bool counts = (z > 0.0) | ((z == 0.0) & (rise > 0.0));
          value += each * (z > 0.0 ? z : 0.0);
          slope += counts ? each * rise : 0.0;
        }
        return PairSums{value, slope};
      },
      [](double, index_t, index_t) CUTPLANE_INLINED {});
}

CUTPLANE_MULTIVERSION PairSums cut_of(const PairSample& sample, index_t begin, index_t end,
                                      const double* score, double* coef) {
  return sample.weight.empty() ? cut_groups<false>(sample, begin, end, score, coef)
                               : cut_groups<true>(sample, begin, end, score, coef);
}

CUTPLANE_MULTIVERSION PairSums slopes_of(const PairSample& sample, index_t begin, index_t end,
                                         const double* score, const double* direction) {
  return sample.weight.empty() ? slopes_of_groups<false>(sample, begin, end, score, direction)
                               : slopes_of_groups<true>(sample, begin, end, score, direction);
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
    return cut_of(sample, begin, end, scores.data(), by_place.data());
  });
  scatter(sample, by_place, 1, coef, n_threads);
  return {sums[0], sums[1]};
}

PairSlope few_pairs_slope(const PairSample& sample, const std::vector<double>& scores,
                          const std::vector<double>& direction, int n_threads) {
  const PairSums sums = over_groups(sample, n_threads, [&](index_t begin, index_t end) {
    return slopes_of(sample, begin, end, scores.data(), direction.data());
  });
  return {sums[0], sums[1], true};
}

}  // namespace cutplane
