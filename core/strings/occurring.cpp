#include <cmath>

#include "core/base/large_memory.hpp"
#include "core/strings/features.hpp"

namespace cutplane::strings {
namespace {

struct Place {
  index_t position;
  std::int32_t string, kmer;
};

// Entries of k-mers at one position, or in one window: room for `width` of each string.
struct Entries {
  index_t width;
  std::unique_ptr<std::int32_t[]> columns;
  std::vector<std::int32_t> used;
};

// Strings whose entries are put together at a time: they stay in the second-level cache.
constexpr index_t kTogether = 64;

}  // namespace

// k-mers grow letter by letter, at all their places at once, as long as they occur twice or more.
Occurring Features::occurring(const Strings& strings) const {
  const index_t n = strings.count();
  std::vector<std::uint8_t> text(length_ * n), row(length_);
  for (index_t i = 0; i < n; ++i) {
    strings.letters(i, row.data());
    for (index_t p = 0; p < length_; ++p) text[p * n + i] = row[p];
  }
  Occurring found;
  std::vector<Entries> all;
  std::vector<index_t> kmers, longer;
  std::vector<double> own(n, 0.0);
  std::vector<std::int32_t> counts;
  std::vector<Place> places;
  const auto add = [&](index_t feature, index_t home, double factor) {
    found.features.push_back(feature);
    found.homes.push_back(static_cast<std::int32_t>(home));
    found.factors.push_back(factor);
  };
  for (index_t j = 0; j < std::ssize(parts_); ++j) {
    const Part& part = parts_[j];
    const auto letter = [&](const Place& at, index_t k) -> index_t {
      return k > part.depth(at.position) ? kUnknown : text[(at.position + k - 1) * n + at.string];
    };
    index_t width = 0;
    for (index_t p = part.begin; p < part.end; ++p) {
      width += part.depth(p);
      for (index_t i = 0; i < n; ++i) places.push_back({p, static_cast<std::int32_t>(i), 0});
      if (!part.positional && p + 1 < part.end) continue;  // all places of a spectrum are alike
      Entries entries{width, unset_array<std::int32_t>(n * width), std::vector<std::int32_t>(n, 0)};
      width = 0;
      kmers.assign(1, 0);
      for (index_t k = 1; !places.empty(); ++k) {
        counts.assign(kmers.size() * alphabet_, 0);
        std::size_t kept = 0;
        for (Place at : places) {
          const index_t next = letter(at, k);
          if (next == kUnknown) continue;
          at.kmer = static_cast<std::int32_t>(at.kmer * alphabet_ + next);
          ++counts[at.kmer];
          places[kept++] = at;
        }
        places.resize(kept);
        const auto code = [&](index_t x) {
          return kmers[x / alphabet_] * alphabet_ + x % alphabet_;
        };
        const index_t first = std::ssize(found.values);
        longer.clear();
        for (index_t x = 0; x < std::ssize(counts); ++x) {
          if (counts[x] <= 1) continue;
          counts[x] = static_cast<std::int32_t>(std::ssize(longer) + 2);
          longer.push_back(code(x));
          add(place(j, p, k) + longer.back(), std::ssize(found.values), 1.0);
          found.values.push_back(part.values[k - 1]);
        }
        kept = 0;
        for (Place at : places) {
          index_t number = counts[at.kmer] - 2;
          if (number >= 0) {
            entries.columns[at.string * entries.width + entries.used[at.string]++] =
                static_cast<std::int32_t>(first + number);
            at.kmer = static_cast<std::int32_t>(number);
            places[kept++] = at;
            continue;
          }
          // It occurs here alone, and so do those that begin with it: they share a column.
          number = code(at.kmer);
          for (index_t deep = k; number >= 0;) {
            const double value = part.values[deep - 1];
            own[at.string] += value * value;
            add(place(j, at.position, deep) + number, -1 - at.string, value);
            const index_t next = letter(at, ++deep);
            number = next == kUnknown ? -1 : number * alphabet_ + next;
          }
        }
        places.resize(kept);
        kmers.swap(longer);
      }
      all.push_back(std::move(entries));
    }
  }
  Entries last{1, unset_array<std::int32_t>(n), std::vector<std::int32_t>(n, 0)};
  for (index_t i = 0; i < n; ++i) {
    last.columns[i] = 0;
    if (own[i] == 0.0) continue;
    last.columns[i] = static_cast<std::int32_t>(std::ssize(found.values));
    last.used[i] = 1;
    found.values.push_back(std::sqrt(own[i]));
  }
  for (std::size_t f = 0; f < found.homes.size(); ++f) {
    if (found.homes[f] >= 0) continue;
    const index_t i = -1 - found.homes[f];
    found.homes[f] = last.columns[i];
    found.factors[f] = own[i] > 0.0 ? found.factors[f] / found.values[last.columns[i]] : 0.0;
  }
  if (found.values.empty()) found.values.push_back(0.0);  // no letter is known
  all.push_back(std::move(last));
  found.begin.assign(n + 1, 0);
  for (const Entries& part : all)
    for (index_t i = 0; i < n; ++i) found.begin[i + 1] += part.used[i];
  for (index_t i = 0; i < n; ++i) found.begin[i + 1] += found.begin[i];
  found.columns = unset_array<std::int32_t>(found.begin.back());
  std::vector<index_t> behind(found.begin);
  for (index_t start = 0; start < n; start += kTogether)
    for (const Entries& part : all)
      for (index_t i = start; i < std::min(n, start + kTogether); ++i) {
        std::copy_n(part.columns.get() + i * part.width, part.used[i],
                    found.columns.get() + behind[i]);
        behind[i] += part.used[i];
      }
  return found;
}

}  // namespace cutplane::strings
