#include <algorithm>

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

double Features::squared_length(const Part& part, const std::uint8_t* letters,
                                std::vector<std::uint16_t>& counts) const {
  double sum = 0.0;
  if (part.positional) {
    for_kmers(part, alphabet_, letters,
              [&](index_t, index_t k, index_t) { sum += part.values[k - 1] * part.values[k - 1]; });
    return sum;
  }
  // A k-mer's (c + 1)-th occurrence raises the square of its count by 2c + 1.
  std::vector<index_t> squares(part.values.size(), 0);
  for_kmers(part, alphabet_, letters, [&](index_t, index_t k, index_t kmer) {
    squares[k - 1] += 2 * counts[below_[k] + kmer]++ + 1;
  });
  for_kmers(part, alphabet_, letters,
            [&](index_t, index_t k, index_t kmer) { counts[below_[k] + kmer] = 0; });
  for (std::size_t k = 0; k < squares.size(); ++k)
    sum += part.values[k] * part.values[k] * static_cast<double>(squares[k]);
  return sum;
}

void Features::squared_lengths(const Strings& strings, index_t group, double* out,
                               int n_threads) const {
  const index_t n = strings.count();
  for_blocks(make_blocks(n, 4096, 1024), n_threads, [&](index_t, index_t begin, index_t end) {
    std::vector<std::uint8_t> letters(length_);
    std::vector<std::uint16_t> counts(below_.back());
    for (index_t i = begin; i < end; ++i) {
      strings.letters(i, letters.data());
      out[i] = 0.0;
      for (index_t j : groups_[group].parts)
        out[i] += squared_length(parts_[j], letters.data(), counts);
    }
  });
}

// out[i] += the squared length of a part of window i. From one window to the next, k-mers that
// begin at its first letter leave and those that end behind its last letter enter.
void Features::slide(const Part& part, const std::uint8_t* codes, index_t begin, index_t end,
                     std::vector<std::uint16_t>& counts, double* out) const {
  std::fill(counts.begin(), counts.end(), std::uint16_t{0});
  double sum = squared_length(part, codes + begin, counts);  // leaves the counts at zero
  // Whole numbers as long as they can be: sums that rise and fall would gather rounding.
  std::vector<index_t> squares(part.values.size(), 0);
  for_kmers(part, alphabet_, codes + begin, [&](index_t, index_t k, index_t kmer) {
    squares[k - 1] += part.positional ? 1 : 2 * counts[below_[k] + kmer]++ + 1;
  });
  for (index_t i = begin; i < end; ++i) {
    out[i] += sum;
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
      squares[k - 1] += part.positional ? 1 : 2 * counts[below_[k] + kmer]++ + 1;
    }
    sum = 0.0;
    for (std::size_t k = 0; k < squares.size(); ++k)
      sum += part.values[k] * part.values[k] * static_cast<double>(squares[k]);
  }
}

void Features::squared_lengths(const Windows& windows, index_t group, double* out,
                               int n_threads) const {
  const index_t n = windows.count();
  for_blocks(make_blocks(n, 16384, 1024), n_threads, [&](index_t, index_t begin, index_t end) {
    std::fill(out + begin, out + end, 0.0);
    if (begin == end) return;
    std::vector<std::uint16_t> counts(below_.back());
    for (index_t j : groups_[group].parts)
      slide(parts_[j], windows.codes(), begin, end, counts, out);
  });
}

}  // namespace cutplane::strings
