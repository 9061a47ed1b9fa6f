#include "core/strings/features.hpp"

#include <algorithm>

#include "core/base/large_memory.hpp"

namespace cutplane::strings {

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
    offsets_.push_back(dimension_);
    std::vector<index_t> places;
    if (part.positional) {
      for (index_t p = part.begin; p < part.end; ++p) {
        places.push_back(dimension_);
        dimension_ += below_[part.depth(p) + 1];
      }
    } else {
      dimension_ += below_[part.order() + 1];
    }
    positions_.push_back(std::move(places));
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
  for (index_t slot = 0; slot < group.slots(); ++slot) {
    const index_t p = group.begin + slot;
    const bool last = slot + 1 == group.slots();
    bool any = last, shared = !last;
    for (index_t j : group.parts) {
      any |= parts_[j].depth(p) > 0;
      shared &= !(parts_[j].positional && parts_[j].depth(p) > 0);
    }
    index_t found = -1;
    for (index_t t = 0; shared && any && found < 0 && t < std::ssize(group.owner); ++t)
      if (alike(group, group.begin + group.owner[t], p)) found = t;
    if (any && found < 0) {
      found = std::ssize(group.owner);
      group.owner.push_back(slot);
    }
    group.table.push_back(any ? found : -1);
  }
  return group;
}

// Whether two positions have the same weights: spectra of the same depths and nothing else.
bool Features::alike(const Group& group, index_t p, index_t q) const {
  return std::all_of(group.parts.begin(), group.parts.end(), [&](index_t j) {
    const Part& part = parts_[j];
    return part.depth(p) == part.depth(q) && !(part.positional && part.depth(p) > 0);
  });
}

index_t Features::place(index_t part, index_t position, index_t k) const {
  const Part& of = parts_[part];
  const index_t start = of.positional ? positions_[part][position - of.begin] : offsets_[part];
  return start + below_[k];
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
    all[g].values = unset_table<double>(tables * size);
    for_blocks({tables, tables}, useful_threads(n_threads, tables * size),
               [&](index_t t, index_t, index_t) {
                 collapse_table(group, group.owner[t], w, all[g].values.get() + t * size);
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
    const index_t start = offsets_[j], size = below_[part.order() + 1];
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

}  // namespace cutplane::strings
