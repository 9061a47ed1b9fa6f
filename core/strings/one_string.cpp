#include <algorithm>

#include "core/base/multiversion.hpp"
#include "core/strings/features.hpp"

// String by string, from the definition: for strings with unknown letters, and for lengths.
namespace cutplane::strings {
namespace {

// visit(position, order, k-mer) for every k-mer of a part that has no unknown letter.
template <class Visit>
void for_kmers(const Part& part, index_t alphabet, const std::uint8_t* letters, Visit&& visit) {
  for (index_t p = part.begin; p < part.end; ++p) {
    index_t kmer = 0;
    for (index_t k = 1; k <= part.depth(p) && letters[p + k - 1] != kUnknown; ++k) {
      kmer = kmer * alphabet + letters[p + k - 1];
      visit(p, k, kmer);
    }
  }
}

// Counts of k-mers up to about this many are kept while a string is measured.
constexpr index_t kShallow = 1024;

// A k-mer's (c + 1)-th occurrence raises the square of its count by 2c + 1.
CUTPLANE_INLINE index_t again(std::uint16_t& count) { return 2 * index_t{count++} + 1; }

CUTPLANE_MULTIVERSION void add_counts(const std::uint16_t* counts, index_t n, std::uint16_t* sums) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + counts[i]);
}

// Strings have less than 2^16 letters: the square of the sum of all counts is below 2^32.
CUTPLANE_MULTIVERSION std::uint32_t sum_of_squares(const std::uint16_t* counts, index_t n) {
  std::uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += std::uint32_t{counts[i]} * counts[i];
  return sum;
}

double weighed(const Part& part, const std::vector<index_t>& squares) {
  double sum = 0.0;
  for (std::size_t k = 0; k < squares.size(); ++k)
    sum += part.values[k] * part.values[k] * static_cast<double>(squares[k]);
  return sum;
}

}  // namespace

double Features::score_one(const std::uint8_t* letters, index_t group, const double* w) const {
  double sum = 0.0;
  for (index_t j : groups_[group].parts) {
    for_kmers(parts_[j], alphabet_, letters, [&](index_t p, index_t k, index_t kmer) {
      sum += parts_[j].values[k - 1] * w[place(j, p, k) + kmer];
    });
  }
  return sum;
}

void Features::add_one(const std::uint8_t* letters, index_t group, double coef, double* out) const {
  for (index_t j : groups_[group].parts) {
    for_kmers(parts_[j], alphabet_, letters, [&](index_t p, index_t k, index_t kmer) {
      out[place(j, p, k) + kmer] += coef * parts_[j].values[k - 1];
    });
  }
}

// out[i] += the squared length of a part of window i. From one window to the next, k-mers that
// begin at its first letter leave and those that end behind its last letter enter.
void Features::slide(const Part& part, const std::uint8_t* codes, index_t begin, index_t end,
                     std::vector<std::uint16_t>& counts, double* out) const {
  counts.assign(part.positional ? 0 : below_[part.order() + 1], 0);
  std::vector<index_t> squares(part.values.size(), 0);
  for_kmers(part, alphabet_, codes + begin, [&](index_t, index_t k, index_t kmer) {
    squares[k - 1] += part.positional ? 1 : again(counts[below_[k] + kmer]);
  });
  for (index_t i = begin; i < end; ++i) {
    out[i] += weighed(part, squares);
    const std::uint8_t* first = codes + i + part.begin;
    const std::uint8_t* behind = codes + i + part.end;
    if (i + 1 == end) break;
    index_t kmer = 0;
    for (index_t k = 1; k <= part.order() && first[k - 1] != kUnknown; ++k) {
      kmer = kmer * alphabet_ + first[k - 1];
      squares[k - 1] -= part.positional ? 1 : 2 * --counts[below_[k] + kmer] + 1;
    }
    kmer = 0;
    for (index_t k = 1; k <= part.order() && behind[1 - k] != kUnknown; ++k) {
      kmer += behind[1 - k] * power(k - 1);
      squares[k - 1] += part.positional ? 1 : again(counts[below_[k] + kmer]);
    }
  }
}

// Counts and lists the k-mers of order k: each is the one before without its first letter, and with
// one more.
void Features::list_kmers(const Part& part, const std::uint8_t* letters, index_t k,
                          SpectrumScratch& scratch) const {
  std::uint16_t* counts = scratch.counts.data() + below_[k];
  const index_t places = part.end - part.begin - k + 1;
  scratch.kmers.resize(places);
  const std::uint8_t *leaves = letters + part.begin, *enters = leaves + k;
  index_t kmer = 0;
  for (index_t i = 0; i < k; ++i) kmer = kmer * alphabet_ + leaves[i];
  for (index_t p = 0; p < places; ++p) {
    ++counts[kmer];
    scratch.kmers[p] = kmer;
    if (p + 1 < places) kmer = (kmer - leaves[p] * power(k - 1)) * alphabet_ + enters[p];
  }
}

// The squared length of a spectrum of a string without unknown letters. k-mers longer than
// `shallow` occur once but for the few whose beginning occurs again: these are compared with each
// other, and their counts, which fill no cache, not kept.
double Features::known_spectrum(const Part& part, const std::uint8_t* letters,
                                SpectrumScratch& scratch) const {
  index_t shallow = 1;
  while (shallow < part.order() && power(shallow + 1) <= kShallow) ++shallow;
  scratch.counts.assign(below_[shallow + 1], 0);
  scratch.squares.assign(part.values.size(), 0);
  list_kmers(part, letters, shallow, scratch);
  for (index_t k = shallow; k > 0; --k) {
    std::uint16_t* counts = scratch.counts.data() + below_[k];
    scratch.squares[k - 1] = sum_of_squares(counts, power(k));
    if (k == 1) break;
    // Shorter k-mers end where longer ones do, all but the first.
    std::uint16_t* shorter = scratch.counts.data() + below_[k - 1];
    for (index_t first = 0; first < alphabet_; ++first)
      add_counts(counts + first * power(k - 1), power(k - 1), shorter);
    index_t kmer = 0;
    for (index_t i = 0; i < k - 1; ++i) kmer = kmer * alphabet_ + letters[part.begin + i];
    ++shorter[kmer];
  }
  for (index_t k = shallow + 1; k <= part.order(); ++k)
    scratch.squares[k - 1] = part.end - part.begin - k + 1;
  if (shallow < part.order()) {
    const std::uint16_t* counts = scratch.counts.data() + below_[shallow];
    scratch.repeated.clear();
    for (index_t p = 0; p < std::ssize(scratch.kmers); ++p)
      if (counts[scratch.kmers[p]] > 1) scratch.repeated.push_back(p);
    for (std::size_t a = 0; a < scratch.repeated.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const index_t p = scratch.repeated[b], q = scratch.repeated[a];
        if (scratch.kmers[p] != scratch.kmers[q]) continue;
        const index_t depth = part.depth(part.begin + q);
        for (index_t k = shallow; k < depth; ++k) {
          if (letters[part.begin + p + k] != letters[part.begin + q + k]) break;
          scratch.squares[k] += 2;
        }
      }
    }
  }
  return weighed(part, scratch.squares);
}

void Features::squared_lengths(const Strings& strings, index_t group, double* out,
                               int n_threads) const {
  // Parts at fixed positions have the same length for all strings but those with unknown letters.
  double fixed = 0.0;
  std::vector<index_t> spectra;
  const std::vector<std::uint8_t> known(length_, 0);
  std::vector<std::uint16_t> none;
  for (index_t j : groups_[group].parts) {
    if (parts_[j].positional)
      slide(parts_[j], known.data(), 0, 1, none, &fixed);
    else
      spectra.push_back(j);
  }
  const std::span<const std::int64_t> odd = strings.with_unknown();
  for_blocks(make_blocks(strings.count(), 4096, 1024), n_threads,
             [&](index_t, index_t begin, index_t end) {
               std::vector<std::uint8_t> letters(length_);
               SpectrumScratch scratch;
               for (index_t i = begin; i < end; ++i) {
                 const bool as_all = !std::binary_search(odd.begin(), odd.end(), i);
                 out[i] = as_all ? fixed : 0.0;
                 if (as_all && spectra.empty()) continue;
                 strings.letters(i, letters.data());
                 for (index_t j : as_all ? spectra : groups_[group].parts) {
                   if (as_all)
                     out[i] += known_spectrum(parts_[j], letters.data(), scratch);
                   else
                     slide(parts_[j], letters.data(), 0, 1, scratch.counts, out + i);
                 }
               }
             });
}

void Features::squared_lengths(const Windows& windows, index_t group, double* out,
                               int n_threads) const {
  const index_t n = windows.count();
  for_blocks(make_blocks(n, 16384, 1024), n_threads, [&](index_t, index_t begin, index_t end) {
    std::fill(out + begin, out + end, 0.0);
    if (begin == end) return;
    std::vector<std::uint16_t> counts;
    for (index_t j : groups_[group].parts)
      slide(parts_[j], windows.codes(), begin, end, counts, out);
  });
}

}  // namespace cutplane::strings
