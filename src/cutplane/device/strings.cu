// Passes over strings of one length on a GPU: scores by lookups, sums by counts in whole numbers.
//
// Counts are of coefficients in fixed point: sums of whole numbers are exact, so that no order of
// additions matters, and threads may add them up as they come. In front of this text stands that of
// kernels.cu, for its types.

// How letters are read: four a byte or one a byte, in pieces of kPiece strings, column by column
// (core/strings/packed.hpp); or windows of one long text, one a byte.
enum { kQuarters = 0, kBytes = 1, kWindows = 2 };
constexpr int kPieceBits = 16;
constexpr unsigned char kUnknown = 254;
constexpr int kLengthThreads = 64;

template <int KIND>
struct Letters {
  const unsigned char* first;  // of the string in its first column
  index_t stride;              // from one column to the next

  CUTPLANE_INLINE Letters(const unsigned char* data, index_t n, int columns, index_t i) {
    if constexpr (KIND == kWindows) {
      first = data + i;
      stride = 1;
    } else {
      const index_t begin = (i >> kPieceBits) << kPieceBits;
      stride = n - begin < (index_t{1} << kPieceBits) ? n - begin : (index_t{1} << kPieceBits);
      first = data + begin * columns + (i - begin);
    }
  }
  CUTPLANE_INLINE unsigned operator[](int p) const {
    if constexpr (KIND == kQuarters)
      return (first[(p >> 2) * stride] >> (6 - 2 * (p & 3))) & 3u;
    else
      return first[p * stride];
  }
};

// The last letters of what was read, as a number below `modulus`: a power of the alphabet's size.
template <int KIND>
struct Kmer {
  Letters<KIND> letters;
  unsigned alphabet, modulus, value = 0;
  int at;  // the letter that is read next

  // Reads on up to a letter.
  CUTPLANE_INLINE unsigned upto(int end) {
    if (alphabet == 4) {
      for (; at < end; ++at) value = (value << 2 | letters[at]) & (modulus - 1);
    } else {
      for (; at < end; ++at) {
        const unsigned letter = letters[at];
        value = (value % (modulus / alphabet)) * alphabet + (letter < alphabet ? letter : 0);
      }
    }
    return value;
  }
};

#define CUTPLANE_STRINGS \
  const unsigned char *__restrict__ data, index_t n, int columns, unsigned alphabet

// The parts of the features: of each, orders at every position (0: none), where the weights of its
// k-mers there begin, and the values of its features by order.
#define CUTPLANE_PARTS                                                                    \
  int parts, int length, int order, unsigned alphabet, const int *__restrict__ depths,    \
      const index_t *__restrict__ starts, const double *__restrict__ values,              \
      const index_t *__restrict__ below, const index_t *__restrict__ powers

// ---- scores ------------------------------------------------------------------------------------

// What k-mers of `letters` letters at a position weigh, all orders together.
CUTPLANE_INLINE double collapsed(CUTPLANE_PARTS, const double* __restrict__ w, int position,
                                 unsigned kmer, int letters) {
  double sum = 0;
  for (int j = 0; j < parts; ++j) {
    const int depth = depths[j * length + position];
    const double* weights = w + starts[j * length + position];
    for (int k = 1; k <= depth; ++k)
      sum += values[j * order + k - 1] *
             weights[below[k] + kmer / static_cast<unsigned>(powers[letters - k])];
  }
  return sum;
}

// Tables of weights by position and longest k-mer; the last has the k-mers that end early, too.
extern "C" __global__ void string_collapse(CUTPLANE_PARTS, const double* __restrict__ w,
                                           const int* __restrict__ owners, int tables, int end,
                                           double* __restrict__ out) {
  const unsigned size = static_cast<unsigned>(powers[order]);
  const index_t total = static_cast<index_t>(tables) * size;
  for (index_t e = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; e < total;
       e += static_cast<index_t>(gridDim.x) * kThreads) {
    const int position = owners[e / size];
    unsigned kmer = static_cast<unsigned>(e % size);
    double sum = collapsed(parts, length, order, alphabet, depths, starts, values, below, powers, w,
                           position, kmer, order);
    if (position == end - order) {
      for (int q = position + 1; q < end; ++q) {
        kmer %= static_cast<unsigned>(powers[end - q]);
        sum += collapsed(parts, length, order, alphabet, depths, starts, values, below, powers, w,
                         q, kmer, end - q);
      }
    }
    out[e] = sum;
  }
}

// Tables of neighbouring positions as one, indexed by the letters of all of them.
extern "C" __global__ void string_join(const double* __restrict__ tables, unsigned size,
                                       unsigned alphabet, const int* __restrict__ joined,
                                       int numbers, int width, index_t wide,
                                       double* __restrict__ out) {
  const index_t total = numbers * wide;
  for (index_t e = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; e < total;
       e += static_cast<index_t>(gridDim.x) * kThreads) {
    const int* of = joined + (e / wide) * width;
    unsigned letters = static_cast<unsigned>(e % wide);
    double sum = 0;
    for (int i = width - 1; i >= 0; --i) {
      if (of[i] >= 0) sum += tables[static_cast<index_t>(of[i]) * size + letters % size];
      letters /= alphabet;
    }
    out[e] = sum;
  }
}

// Adds up what strings look up: places[g] .. places[g] + span in table number[g]. Of windows, those
// that begin at the letters `which` says; null: at all.
template <int KIND>
__global__ void string_look_up(CUTPLANE_STRINGS, const index_t* __restrict__ which,
                               const double* __restrict__ tables, unsigned size, int span,
                               const int* __restrict__ places, const int* __restrict__ number,
                               int lookups, double* __restrict__ sums) {
  CUTPLANE_EACH_EXAMPLE {
    Kmer<KIND> kmer{{data, n, columns, which ? which[i] : i}, alphabet, size, 0, places[0]};
    double sum = 0;
    for (int g = 0; g < lookups; ++g)
      sum += tables[static_cast<index_t>(number[g]) * size + kmer.upto(places[g] + span)];
    sums[i] += sum;
  }
}

// visit(feature, part, order) for the k-mers of a string that have no unknown letter.
template <class Visit>
CUTPLANE_INLINE void for_kmers(CUTPLANE_PARTS, const unsigned char* letters, Visit&& visit) {
  for (int j = 0; j < parts; ++j) {
    for (int p = 0; p < length; ++p) {
      const int depth = depths[j * length + p];
      index_t kmer = 0;
      for (int k = 1; k <= depth && letters[p + k - 1] != kUnknown; ++k) {
        kmer = kmer * alphabet + letters[p + k - 1];
        visit(starts[j * length + p] + below[k] + kmer, j, k);
      }
    }
  }
}

// Scores from the definition: the letters of string which[k] begin at begins[k].
extern "C" __global__ void string_odd_scores(CUTPLANE_PARTS, const double* __restrict__ w,
                                             const unsigned char* __restrict__ rows,
                                             const index_t* __restrict__ begins,
                                             const index_t* __restrict__ which, index_t n,
                                             double* __restrict__ sums) {
  CUTPLANE_EACH_EXAMPLE {
    const unsigned char* letters = rows + begins[i];
    double sum = 0;
    for_kmers(parts, length, order, alphabet, depths, starts, values, below, powers, letters,
              [&](index_t feature, int j, int k) {
                sum += values[j * order + k - 1] * w[feature];
              });
    sums[which[i]] = sum;
  }
}

// ---- sums --------------------------------------------------------------------------------------

// Coefficients times scales in fixed point: so many binary places.
extern "C" __global__ void string_fixed(const double* __restrict__ coef,
                                        const double* __restrict__ scale, index_t n, int places,
                                        long long* __restrict__ out) {
  CUTPLANE_EACH_EXAMPLE {
    out[i] = __double2ll_rn(scalbn(scale ? coef[i] * scale[i] : coef[i], places));
  }
}

CUTPLANE_INLINE void add_whole(long long* to, long long what) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(what));
}

// Counts longest k-mers: places[g] .. places[g] + order in the counts of table number[g].
template <int KIND>
__global__ void string_count(CUTPLANE_STRINGS, const long long* __restrict__ fixed, unsigned size,
                             int order, const int* __restrict__ places,
                             const int* __restrict__ number, int lookups, index_t stride,
                             long long* __restrict__ counts) {
  CUTPLANE_EACH_EXAMPLE {
    const long long weight = fixed[i];
    if (weight) {
      Kmer<KIND> kmer{{data, n, columns, i}, alphabet, size, 0, places[0]};
      for (int g = 0; g < lookups; ++g)
        add_whole(counts + number[g] * stride + kmer.upto(places[g] + order), weight);
    }
  }
}

// Counts every k-mer of strings with unknown letters where its feature is.
extern "C" __global__ void string_odd_count(CUTPLANE_PARTS, const long long* __restrict__ fixed,
                                            const unsigned char* __restrict__ rows,
                                            const index_t* __restrict__ which, index_t n,
                                            long long* __restrict__ counts) {
  CUTPLANE_EACH_EXAMPLE {
    const long long weight = fixed[which[i]];
    if (weight)
      for_kmers(parts, length, order, alphabet, depths, starts, values, below, powers,
                rows + i * length,
                [&](index_t feature, int, int) { add_whole(counts + feature, weight); });
  }
}

// Counts of the k-mers that end early: those of a position without the first letter.
extern "C" __global__ void string_suffix(long long* __restrict__ counts, index_t longer,
                                         index_t shorter, unsigned alphabet, unsigned size) {
  const unsigned y = blockIdx.x * kThreads + threadIdx.x;
  if (y >= size) return;
  long long sum = 0;
  for (unsigned a = 0; a < alphabet; ++a)
    sum += counts[longer + static_cast<index_t>(a) * size + y];
  counts[shorter + y] = sum;
}

// Counts of order k from those of order k + 1, for the tables whose k-mers are longer than k.
extern "C" __global__ void string_fold(long long* __restrict__ counts, index_t stride,
                                       index_t longer, index_t shorter, unsigned alphabet,
                                       unsigned size, int tables) {
  const index_t total = static_cast<index_t>(tables) * size;
  for (index_t e = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; e < total;
       e += static_cast<index_t>(gridDim.x) * kThreads) {
    long long* of = counts + (e / size) * stride;
    const index_t y = e % size;
    long long sum = 0;
    for (unsigned a = 0; a < alphabet; ++a) sum += of[longer + y * alphabet + a];
    of[shorter + y] = sum;
  }
}

CUTPLANE_INLINE int order_of(index_t e, const index_t* below) {
  int k = 1;
  while (e >= below[k + 1]) ++k;
  return k;
}

// A number of whole units times a value; SQUARED: about what squares add up to, where a feature is
// as often in a string as by chance (variance and mean of a count are then the same).
CUTPLANE_INLINE double in_place(long long whole, int places, double value, int squared,
                                double total) {
  const double sum = scalbn(static_cast<double>(whole), -places);
  if (!squared) return value * sum;
  return value * value * (total > 0.0 ? sum + sum * sum / total : sum);
}

// The features of a part at fixed positions: a table each.
extern "C" __global__ void string_spread(const long long* __restrict__ counts, index_t stride,
                                         const int* __restrict__ owners, int tables,
                                         const int* __restrict__ depths,
                                         const index_t* __restrict__ starts,
                                         const double* __restrict__ values,
                                         const index_t* __restrict__ below,
                                         const long long* __restrict__ more, int places,
                                         int squared, double* __restrict__ out) {
  const index_t total = static_cast<index_t>(tables) * stride;
  for (index_t e = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; e < total;
       e += static_cast<index_t>(gridDim.x) * kThreads) {
    const int position = owners[e / stride];
    const index_t kmer = e % stride;
    if (kmer >= below[depths[position] + 1]) continue;
    const index_t feature = starts[position] + kmer;
    out[feature] = in_place(counts[e] + (more ? more[feature] : 0), places,
                            values[order_of(kmer, below) - 1], squared, 0.0);
  }
}

// The features of a spectrum: the counts of all tables in its window.
extern "C" __global__ void string_gather(const long long* __restrict__ counts, index_t stride,
                                         const int* __restrict__ owners, int tables,
                                         const int* __restrict__ depths, index_t start,
                                         index_t size, const double* __restrict__ values,
                                         const index_t* __restrict__ below,
                                         const long long* __restrict__ more, int places,
                                         int squared, double total, double* __restrict__ out) {
  const index_t kmer = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (kmer >= size) return;
  const int k = order_of(kmer, below);
  long long sum = more ? more[start + kmer] : 0;
  for (int t = 0; t < tables; ++t)
    if (depths[owners[t]] >= k) sum += counts[t * stride + kmer];
  out[start + kmer] = in_place(sum, places, values[k - 1], squared, total);
}

// ---- strings one by one ------------------------------------------------------------------------

// Squares of the lengths of feature vectors. Of a spectrum's k-mers of order k, squares of counts
// add up to the pairs of places with the same k-mer: for every distance between two places, runs of
// equal letters are followed, and a run of r letters ends a pair of k-mers of each order up to r.
template <int KIND>
__global__ void string_lengths(CUTPLANE_STRINGS, int parts, int length, int order,
                               const int* __restrict__ windows, const double* __restrict__ values,
                               const unsigned char* __restrict__ rows,
                               const index_t* __restrict__ which, index_t chosen,
                               double* __restrict__ out) {
  extern __shared__ unsigned pairs[];  // by length of run, then by thread
  unsigned char* letters = reinterpret_cast<unsigned char*>(pairs + (order + 1) * kLengthThreads) +
                           threadIdx.x;
  unsigned* mine = pairs + threadIdx.x;
  for (index_t c = static_cast<index_t>(blockIdx.x) * kLengthThreads + threadIdx.x; c < chosen;
       c += static_cast<index_t>(gridDim.x) * kLengthThreads) {
    const index_t i = which ? which[c] : c;
    const Letters<KIND> packed(data, n, columns, i);
    for (int p = 0; p < length; ++p)
      letters[p * kLengthThreads] =
          static_cast<unsigned char>(rows ? rows[c * length + p] : packed[p]);
    double sum = 0;
    for (int j = 0; j < parts; ++j) {
      const int positional = windows[4 * j], begin = windows[4 * j + 1], end = windows[4 * j + 2];
      const int deepest = windows[4 * j + 3], furthest = positional ? 1 : end - begin;
      for (int r = 0; r <= order; ++r) mine[r * kLengthThreads] = 0;
      for (int apart = 0; apart < furthest; ++apart) {
        int run = 0;
        for (int p = begin; p + apart < end; ++p) {
          const unsigned char a = letters[p * kLengthThreads];
          run = a == letters[(p + apart) * kLengthThreads] && a != kUnknown ? run + 1 : 0;
          if (run) mine[(run < deepest ? run : deepest) * kLengthThreads] += apart ? 2 : 1;
        }
      }
      for (int k = deepest - 1; k > 0; --k)
        mine[k * kLengthThreads] += mine[(k + 1) * kLengthThreads];
      for (int k = 1; k <= deepest; ++k) {
        const double value = values[j * order + k - 1];
        sum += value * value * static_cast<double>(mine[k * kLengthThreads]);
      }
    }
    out[KIND == kWindows ? c : i] = sum;
  }
}

// Some strings, packed as all are.
extern "C" __global__ void string_take(const unsigned char* __restrict__ data, index_t from,
                                       int columns, const index_t* __restrict__ rows, index_t n,
                                       unsigned char* __restrict__ out) {
  CUTPLANE_EACH_EXAMPLE {
    const Letters<kBytes> source(data, from, columns, rows[i]);
    const Letters<kBytes> target(out, n, columns, i);
    unsigned char* to = out + (target.first - out);
    for (int c = 0; c < columns; ++c) to[c * target.stride] = source.first[c * source.stride];
  }
}

// The letters of some strings, one a byte; none of them unknown.
template <int KIND>
__global__ void string_letters(const unsigned char* __restrict__ data, index_t from, int columns,
                               int length, const index_t* __restrict__ rows, index_t n,
                               unsigned char* __restrict__ out) {
  CUTPLANE_EACH_EXAMPLE {
    const Letters<KIND> letters(data, from, columns, rows[i]);
    for (int p = 0; p < length; ++p)
      out[i * length + p] = static_cast<unsigned char>(letters[p]);
  }
}

// scale[k] times the features of strings whose letters are given, dense: out is zero before.
extern "C" __global__ void string_dense(CUTPLANE_PARTS, const unsigned char* __restrict__ rows,
                                        const double* __restrict__ scale, index_t n,
                                        index_t dimension, double* __restrict__ out) {
  CUTPLANE_EACH_EXAMPLE {
    double* to = out + i * dimension;
    for_kmers(parts, length, order, alphabet, depths, starts, values, below, powers,
              rows + i * length, [&](index_t feature, int j, int k) {
                to[feature] += scale[i] * values[j * order + k - 1];
              });
  }
}
