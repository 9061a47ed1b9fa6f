#include "core/strings/features.hpp"

#include <algorithm>
#include <map>

#include "core/base/large_memory.hpp"
#include "core/base/multiversion.hpp"

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

Features::Features(index_t alphabet, index_t length, std::vector<Part> parts)
    : alphabet_(alphabet), length_(length), parts_(std::move(parts)) {
  index_t deepest = 0, groups = 0;
  for (const Part& part : parts_) {
    deepest = std::max(deepest, part.order());
    groups = std::max(groups, part.group + 1);
  }
  powers_.assign(1, 1);
  below_.assign(2, 0);
  for (index_t k = 1; k <= deepest; ++k) {
    powers_.push_back(powers_.back() * alphabet_);
    below_.push_back(below_.back() + powers_.back());
  }
  for (const Part& part : parts_) {
    std::vector<index_t>& starts = starts_.emplace_back();
    for (index_t p = part.begin; p < (part.positional ? part.end : part.begin + 1); ++p) {
      starts.push_back(dimension_);
      dimension_ += below_[part.depth(p) + 1];
    }
  }
  spectra_.resize(parts_.size());
  for (index_t g = 0; g < groups; ++g) groups_.push_back(make_group(g));
}

Features::Group Features::make_group(index_t number) {
  Group group{length_, 0, 0, {}, {}, {}, 0};
  for (index_t j = 0; j < std::ssize(parts_); ++j) {
    if (parts_[j].group != number) continue;
    group.parts.push_back(j);
    group.begin = std::min(group.begin, parts_[j].begin);
    group.end = std::max(group.end, parts_[j].end);
    group.order = std::max(group.order, parts_[j].order());
    spectra_[j] = group.spectra;
    if (!parts_[j].positional) group.spectra += below_[parts_[j].order() + 1];
  }
  // Positions with spectra of the same depths and nothing else share a table.
  std::map<std::vector<index_t>, index_t> of_depths;
  for (index_t slot = 0; slot < group.slots(); ++slot) {
    const bool last = slot + 1 == group.slots();
    std::vector<index_t> depths;
    bool any = last, shared = !last;
    for (index_t j : group.parts) {
      depths.push_back(parts_[j].depth(group.begin + slot));
      any |= depths.back() > 0;
      shared &= !(parts_[j].positional && depths.back() > 0);
    }
    index_t table = any ? std::ssize(group.owner) : -1;
    if (any && shared) table = of_depths.try_emplace(depths, table).first->second;
    if (table == std::ssize(group.owner)) group.owner.push_back(slot);
    group.table.push_back(table);
  }
  return group;
}

index_t Features::place(index_t part, index_t position, index_t k) const {
  const Part& of = parts_[part];
  return starts_[part][of.positional ? position - of.begin : 0] + below_[k];
}

index_t Features::lookups() const {
  index_t sum = 0;
  for (const Group& group : groups_)
    sum += std::count_if(group.table.begin(), group.table.end(), [](index_t t) { return t >= 0; });
  return sum;
}

// Order by order: a k-mer's weight is that of its prefix plus its own.
void Features::collapse_position(const Group& group, index_t position, const double* w,
                                 double* out) const {
  const index_t depth = group.depth(position);
  std::vector<double> prefix{0.0}, next;
  for (index_t k = 1; k <= depth; ++k) {
    double* target = out;
    if (k < depth) {
      next.resize(power(k));
      target = next.data();
    }
    for (index_t x = 0; x < power(k - 1); ++x)
      std::fill_n(target + x * alphabet_, alphabet_, prefix[x]);
    for (index_t j : group.parts) {
      if (k > parts_[j].depth(position)) continue;
      const double value = parts_[j].values[k - 1];
      const double* weights = w + place(j, position, k);
      for (index_t y = 0; y < power(k); ++y) target[y] += value * weights[y];
    }
    std::swap(prefix, next);
  }
}

void Features::collapse_table(const Group& group, index_t slot, const double* w,
                              double* out) const {
  const index_t p = group.begin + slot;
  collapse_position(group, p, w, out);
  if (slot + 1 < group.slots()) return;
  std::vector<double> suffix(power(group.order - 1));
  for (index_t q = p + 1; q < group.end; ++q) {
    collapse_position(group, q, w, suffix.data());
    const index_t size = power(group.depth(q));
    for (index_t x = 0; x < power(group.order); x += size)
      for (index_t y = 0; y < size; ++y) out[x + y] += suffix[y];
  }
}

std::vector<Tables> Features::collapse(const double* w, int n_threads) const {
  std::vector<Tables> all(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const index_t tables = std::ssize(group.owner), size = power(group.order);
    all[g] = unset_table<double>(tables * size);
    for_blocks({tables, tables}, useful_threads(n_threads, tables * size),
               [&](index_t t, index_t, index_t) {
                 collapse_table(group, group.owner[t], w, all[g].get() + t * size);
               });
  }
  return all;
}

void Features::expand_position(const Group& group, index_t position, std::vector<double>& counts,
                               double* out, double* sums) const {
  for (index_t k = group.depth(position); k > 0; --k) {
    for (index_t j : group.parts) {
      const Part& part = parts_[j];
      const index_t depth = part.depth(position);
      if (k > depth) continue;
      if (part.positional) {
        const double value = part.values[k - 1];
        double* target = out + place(j, position, k);
        for (index_t y = 0; y < power(k); ++y) target[y] = value * counts[y];
      } else if (k == depth) {  // lower orders follow from the sums: see finish_spectra
        double* target = sums + spectra_[j] + below_[k];
        for (index_t y = 0; y < power(k); ++y) target[y] += counts[y];
      }
    }
    for (index_t x = 0; x < power(k - 1); ++x) {
      double sum = 0.0;
      for (index_t a = 0; a < alphabet_; ++a) sum += counts[x * alphabet_ + a];
      counts[x] = sum;
    }
  }
}

void Features::expand_slot(const Group& group, index_t slot, std::vector<double>& counts,
                           double* out, double* sums) const {
  const index_t p = group.begin + slot;
  if (slot + 1 == group.slots()) {
    for (index_t q = p + 1; q < group.end; ++q) {
      const index_t size = power(group.depth(q));
      std::vector<double> suffix(size, 0.0);
      for (index_t x = 0; x < power(group.order); x += size)
        for (index_t y = 0; y < size; ++y) suffix[y] += counts[x + y];
      expand_position(group, q, suffix, out, sums);
    }
  }
  expand_position(group, p, counts, out, sums);
}

// Sums of chunks are added in their order; then every order's counts are those of the next one,
// less the last letter, plus those of k-mers that end with the window.
void Features::finish_spectra(const Group& group, std::vector<std::vector<double>>& sums,
                              double* out, int n_threads) const {
  for (index_t j : group.parts) {
    const Part& part = parts_[j];
    if (part.positional) continue;
    const index_t start = starts_[j][0], size = below_[part.order() + 1];
    for_blocks(make_blocks(size, 4096, 64), useful_threads(n_threads, size * std::ssize(sums)),
               [&](index_t, index_t begin, index_t end) {
                 for (index_t y = begin; y < end; ++y) {
                   double sum = 0.0;
                   for (const auto& chunk : sums) sum += chunk[spectra_[j] + y];
                   out[start + y] = sum;
                 }
               });
    for (index_t k = part.order() - 1; k > 0; --k) {
      const double* longer = out + start + below_[k + 1];
      double* target = out + start + below_[k];
      for (index_t x = 0; x < power(k); ++x)
        for (index_t a = 0; a < alphabet_; ++a) target[x] += longer[x * alphabet_ + a];
    }
    for (index_t k = 1; k <= part.order(); ++k)
      for (index_t y = 0; y < power(k); ++y) out[start + below_[k] + y] *= part.values[k - 1];
  }
}

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
        const double* table = tables[g].get() + group.table[slot] * power(group.order);
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
