#include <algorithm>

#include "core/base/large_memory.hpp"
#include "core/base/multiversion.hpp"
#include "core/strings/features.hpp"

namespace cutplane::strings {
namespace {

// k-mers read at a time: their numbers stay in the first-level cache.
constexpr index_t kRun = 2048;
// Strings that share the loading of a table into the second-level cache, at most: their sums have
// to stay there, too. Measured with tables of 512 KB on 16 cores with 2 MB each: 6.1 lookups a
// nanosecond with 32 K strings, 7.1 with 64 K, 6.4 with 128 K, 4.0 with 256 K.
constexpr index_t kStringsPerBlock = 1 << 16;
constexpr index_t kLeastStringsPerBlock = 1 << 14;
// Positions are cut into at most this many chunks, and these into fewer where their sums would fill
// the memory.
constexpr index_t kMostChunks = 32;
constexpr index_t kMostSums = 1 << 25;

Blocks string_blocks(index_t count) {
  const index_t grain = std::clamp(count / 16, kLeastStringsPerBlock, kStringsPerBlock);
  return {count, std::max<index_t>(1, (count + grain - 1) / grain)};
}

CUTPLANE_MULTIVERSION void look_up(const double* table, const std::uint32_t* kmers, index_t n,
                                   double* sums) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) sums[i] += table[static_cast<std::int32_t>(kmers[i])];
}

CUTPLANE_MULTIVERSION void add_scaled(const double* sums, const double* scale, index_t n,
                                      double* out) {
  if (scale) {
#pragma omp simd
    for (index_t i = 0; i < n; ++i) out[i] += scale[i] * sums[i];
  } else {
#pragma omp simd
    for (index_t i = 0; i < n; ++i) out[i] += sums[i];
  }
}

void count_kmers(const std::uint32_t* kmers, const double* coef, index_t n, double* counts) {
  for (index_t i = 0; i < n; ++i) counts[kmers[i]] += coef[i];
}

}  // namespace

void Features::scores(const Strings& strings, const std::vector<Tables>& tables,
                      std::span<const double* const> scales, double* out, int n_threads) const {
  const index_t n = strings.count();
  const int threads = useful_threads(n_threads, n * lookups());
  for_blocks(string_blocks(n), threads, [&](index_t, index_t begin, index_t end) {
    std::fill(out + begin, out + end, 0.0);
    std::vector<double> sums(end - begin);
    std::vector<std::uint32_t> kmers(kRun);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      std::fill(sums.begin(), sums.end(), 0.0);
      for (index_t slot = 0; slot < group.slots(); ++slot) {
        if (group.table[slot] < 0) continue;
        const double* table = tables[g].values.get() + group.table[slot] * power(group.order);
        for (index_t i = begin; i < end; i += kRun) {
          const index_t stop = std::min(end, i + kRun);
          strings.read(group.begin + slot, group.order, i, stop, kmers.data());
          look_up(table, kmers.data(), stop - i, sums.data() + (i - begin));
        }
      }
      add_scaled(sums.data(), scales[g] ? scales[g] + begin : nullptr, end - begin, out + begin);
    }
  });
}

void Features::combine(const Strings& strings, const double* coef,
                       std::span<const double* const> scales, double* out, int n_threads) const {
  std::unique_ptr<double[]> scaled;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const double* weights = coef;
    if (scales[g]) {
      scaled = unset_array<double>(strings.count());
      for_blocks(make_blocks(strings.count(), 1 << 14, 256),
                 useful_threads(n_threads, strings.count()),
                 [&](index_t, index_t begin, index_t end) {
                   for (index_t i = begin; i < end; ++i) scaled[i] = coef[i] * scales[g][i];
                 });
      weights = scaled.get();
    }
    combine_group(groups_[g], strings, weights, out, n_threads);
  }
}

void Features::combine_group(const Group& group, const Strings& strings, const double* coef,
                             double* out, int n_threads) const {
  const index_t n = strings.count(), slots = group.slots();
  const index_t most =
      group.spectra ? std::clamp<index_t>(kMostSums / group.spectra, 1, kMostChunks) : slots;
  const Blocks chunks{slots, std::min(slots, most)};
  std::vector<std::vector<double>> sums(chunks.count);
  for_blocks(chunks, useful_threads(n_threads, slots * (n + power(group.order))),
             [&](index_t chunk, index_t begin, index_t end) {
               sums[chunk].assign(group.spectra, 0.0);
               std::vector<double> counts(power(group.order));
               std::vector<std::uint32_t> kmers(kRun);
               for (index_t slot = begin; slot < end; ++slot) {
                 if (group.table[slot] < 0) continue;
                 std::fill(counts.begin(), counts.end(), 0.0);
                 for (index_t i = 0; i < n; i += kRun) {
                   const index_t stop = std::min(n, i + kRun);
                   strings.read(group.begin + slot, group.order, i, stop, kmers.data());
                   count_kmers(kmers.data(), coef + i, stop - i, counts.data());
                 }
                 expand_slot(group, slot, counts, out, sums[chunk].data());
               }
             });
  finish_spectra(group, sums, out, n_threads);
}

}  // namespace cutplane::strings
