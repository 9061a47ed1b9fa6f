// Pairs of examples of different rank on a GPU, summed over without visiting them.
//
// As in core/ranking: the ranks of a group are the leaves of a binary tree, and pairs between the
// lower and the higher half of a node are met there. At a level of the tree, all examples lie by
// node and, within it, by score. What is before each of them in either half are prefix sums, and
// the pairs on a kink or beyond it are found by bisection of the node.
//
// Numbers of pairs and sums of scores on their grid are exact, in any order. Of weighted examples
// they are rounded, in an order that depends on the numbers of examples alone.

typedef long long index_t;
typedef unsigned long long word_t;
typedef unsigned int place_t;

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;
constexpr unsigned kAll = 0xffffffffu;

#define CUTPLANE_INLINE __device__ __forceinline__
#define CUTPLANE_EACH(i, n)                                                          \
  for (index_t i = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; \
       i += static_cast<index_t>(gridDim.x) * kThreads)

// ---- orders ------------------------------------------------------------------------------------

// Scores on their grid above, examples below: both fit into a word, and no two words are the same.
extern "C" __global__ void rank_words(const double* __restrict__ s, index_t n, double per_step,
                                      index_t bias, int bits, word_t* __restrict__ words) {
  CUTPLANE_EACH(i, n)
  words[i] = static_cast<word_t>(static_cast<index_t>(rint(s[i] * per_step)) + bias) << bits |
             static_cast<word_t>(i);
}

extern "C" __global__ void rank_unpack(const word_t* __restrict__ words, index_t n, double step,
                                       index_t bias, int bits, double* __restrict__ key,
                                       place_t* __restrict__ example) {
  const word_t mask = (word_t{1} << bits) - 1;
  CUTPLANE_EACH(i, n) {
    key[i] = static_cast<double>(static_cast<index_t>(words[i] >> bits) - bias) * step;
    example[i] = static_cast<place_t>(words[i] & mask);
  }
}

// Nodes above, places in the order of scores below.
extern "C" __global__ void rank_node_words(const place_t* __restrict__ example,
                                           const int* __restrict__ leaf,
                                           const int* __restrict__ node_of_leaf, index_t n,
                                           int bits, word_t* __restrict__ words) {
  CUTPLANE_EACH(i, n)
  words[i] = static_cast<word_t>(node_of_leaf[leaf[example[i]]]) << bits | static_cast<word_t>(i);
}

extern "C" __global__ void rank_regroup(const word_t* __restrict__ words, index_t n, int bits,
                                        const double* __restrict__ key,
                                        const place_t* __restrict__ example,
                                        double* __restrict__ new_key,
                                        place_t* __restrict__ new_example) {
  const word_t mask = (word_t{1} << bits) - 1;
  CUTPLANE_EACH(i, n) {
    const word_t from = words[i] & mask;
    new_key[i] = key[from];
    new_example[i] = example[from];
  }
}

// ---- prefix sums within nodes ------------------------------------------------------------------

// Weights and weights times scores, of either half.
struct Sums {
  double low, low_scores, high, high_scores;
};

CUTPLANE_INLINE Sums operator+(const Sums& a, const Sums& b) {
  return {a.low + b.low, a.low_scores + b.low_scores, a.high + b.high,
          a.high_scores + b.high_scores};
}

// A negative mass is of the lower half.
CUTPLANE_INLINE Sums own(double mass, double key) {
  if (mass < 0.0) return {-mass, -mass * key, 0.0, 0.0};
  return {0.0, 0.0, mass, mass * key};
}

// Neighbouring places: the sums since the last node began among them, or over all of them.
struct Run {
  Sums sums;
  int began;
};

CUTPLANE_INLINE Run followed(const Run& a, const Run& b) {
  return b.began ? b : Run{a.sums + b.sums, a.began};
}

CUTPLANE_INLINE Run from_left(const Run& run, int by) {
  return {{__shfl_up_sync(kAll, run.sums.low, by), __shfl_up_sync(kAll, run.sums.low_scores, by),
           __shfl_up_sync(kAll, run.sums.high, by), __shfl_up_sync(kAll, run.sums.high_scores, by)},
          __shfl_up_sync(kAll, run.began, by)};
}

// The runs of the threads before this one, one after the other; `all` is that of the block.
CUTPLANE_INLINE Run before_this(const Run& mine, Run& all) {
  __shared__ Run of_warp[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Run upto = mine;
  for (int by = 1; by < 32; by *= 2) {
    const Run left = from_left(upto, by);
    if (lane >= by) upto = followed(left, upto);
  }
  if (lane == 31) of_warp[warp] = upto;
  const Run left = from_left(upto, 1);
  __syncthreads();
  Run before{};
  all = Run{};
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) before = all;
    all = followed(all, of_warp[w]);
  }
  return lane ? followed(before, left) : before;
}

// The first of `begins` that is not before a place.
CUTPLANE_INLINE index_t first_begin(const index_t* __restrict__ begins, index_t nodes, index_t at) {
  index_t from = 0, count = nodes;
  while (count > 0) {
    const index_t half = count / 2;
    if (begins[from + half] >= at) {
      count = half;
    } else {
      from += half + 1;
      count -= half + 1;
    }
  }
  return from;
}

// Goes through the places of a thread: body(place, run up to there, without it).
template <class Body>
CUTPLANE_INLINE Run each_place(const double* __restrict__ mass, const double* __restrict__ key,
                               index_t n, const index_t* __restrict__ begins, index_t nodes,
                               Run run, Body body) {
  const index_t begin = static_cast<index_t>(blockIdx.x) * kTile + threadIdx.x * kItems;
  index_t next = begin < n ? first_begin(begins, nodes, begin) : nodes;
  for (index_t i = begin; i < begin + kItems && i < n; ++i) {
    if (next < nodes && begins[next] == i) {
      run = Run{Sums{0.0, 0.0, 0.0, 0.0}, 1};
      ++next;
    }
    body(i, run.sums);
    run.sums = run.sums + own(mass[i], key[i]);
  }
  return run;
}

// The mass of each place: its example's weight (null: 1), below zero in the lower half.
extern "C" __global__ void rank_masses(const place_t* __restrict__ example,
                                       const int* __restrict__ rank, int shift,
                                       const double* __restrict__ weight, index_t n,
                                       double* __restrict__ mass) {
  CUTPLANE_EACH(i, n) {
    const place_t e = example[i];
    const double c = weight ? weight[e] : 1.0;
    mass[i] = (rank[e] >> shift) & 1 ? c : -c;
  }
}

extern "C" __global__ void rank_tiles(const double* __restrict__ mass,
                                      const double* __restrict__ key, index_t n,
                                      const index_t* __restrict__ begins, index_t nodes,
                                      Run* __restrict__ runs) {
  const Run mine = each_place(mass, key, n, begins, nodes, Run{}, [](index_t, const Sums&) {});
  Run all;
  before_this(mine, all);
  if (threadIdx.x == 0) runs[blockIdx.x] = all;
}

// The run before each tile, in place of its own: one block.
extern "C" __global__ void rank_carry(Run* __restrict__ runs, index_t tiles) {
  const index_t each = (tiles + kThreads - 1) / kThreads;
  const index_t begin = min(tiles, threadIdx.x * each), end = min(tiles, begin + each);
  Run mine{};
  for (index_t t = begin; t < end; ++t) mine = followed(mine, runs[t]);
  Run all, run = before_this(mine, all);
  for (index_t t = begin; t < end; ++t) {
    const Run tile = runs[t];
    runs[t] = run;
    run = followed(run, tile);
  }
}

extern "C" __global__ void rank_prefix(const double* __restrict__ mass,
                                       const double* __restrict__ key, index_t n,
                                       const index_t* __restrict__ begins, index_t nodes,
                                       const Run* __restrict__ carry, double2* __restrict__ low,
                                       double2* __restrict__ high) {
  const Run mine = each_place(mass, key, n, begins, nodes, Run{}, [](index_t, const Sums&) {});
  Run all;
  const Run start = followed(carry[blockIdx.x], before_this(mine, all));
  each_place(mass, key, n, begins, nodes, start, [=](index_t i, const Sums& before) {
    low[i] = make_double2(before.low, before.low_scores);
    high[i] = make_double2(before.high, before.high_scores);
  });
}

// ---- pairs -------------------------------------------------------------------------------------

// As in core/ranking/pair_sweep.hpp: monotone in both scores even after rounding.
CUTPLANE_INLINE double violation(double higher, double lower) { return (1.0 - higher) + lower; }

struct Node {
  index_t begin, end;
  double weight;
};

CUTPLANE_INLINE Node node_of(const index_t* __restrict__ begins, const double* __restrict__ weight,
                             index_t nodes, index_t at) {
  const index_t node = nodes == 1 ? 0 : first_begin(begins, nodes, at + 1) - 1;
  return {begins[node], begins[node + 1], weight[node]};
}

// One half of a node as the other meets it: what is before a place of both.
struct Half {
  const double2* __restrict__ before;
  double2 whole;
  index_t end;

  CUTPLANE_INLINE double2 upto(index_t at) const { return at < end ? before[at] : whole; }
};

CUTPLANE_INLINE Half half_of(const double2* __restrict__ before, const double* __restrict__ mass,
                             const double* __restrict__ key, const Node& node, bool higher) {
  const index_t last = node.end - 1;
  const Sums more = own(mass[last], key[last]);
  const double2 upto = before[last];
  const double2 whole = higher ? make_double2(upto.x + more.high, upto.y + more.high_scores)
                               : make_double2(upto.x + more.low, upto.y + more.low_scores);
  return {before, whole, node.end};
}

// Whether a pair has come as far: to its kink's first end, to the kink itself, to the other end.
// Pairs that cost something are on a kink or beyond it, however narrow that is.
CUTPLANE_INLINE bool is_past(double z, int stage, double reach) {
  if (stage == 0) return z > -reach || z >= 0.0;
  return z >= (stage == 1 ? 0.0 : reach);
}

// The first place from `from` on of which an example of the higher half is past a stage with all
// that follow; an example of the lower half has been past the stages the other way round, with all
// before. Either moves on with the score.
CUTPLANE_INLINE index_t place_of(const double* __restrict__ key, index_t from, index_t end,
                                 double s, bool higher, int stage, double reach) {
  index_t count = end - from;
  while (count > 0) {
    const index_t half = count / 2;
    const double k = key[from + half];
    const bool there = higher ? is_past(violation(s, k), stage, reach)
                              : !is_past(violation(k, s), 2 - stage, reach);
    if (there) {
      count = half;
    } else {
      from += half + 1;
      count -= half + 1;
    }
  }
  return from;
}

constexpr int kStages = 3;

// Where the places of a block's examples lie: between those of its first and its last, where these
// are of one node; else in the node of each.
struct Between {
  index_t first[2][kStages], last[2][kStages];
  int one_node;
};

// By the first threads of a block, for its examples [begin, end).
CUTPLANE_INLINE void look_between(Between& between, const double* __restrict__ key,
                                  const Node& node, index_t begin, index_t end, double reach) {
  const int side = threadIdx.x / (2 * kStages), stage = threadIdx.x % kStages;
  const bool is_last = threadIdx.x / kStages % 2;
  __syncthreads();  // what was found before is not needed any more
  if (threadIdx.x == 0) between.one_node = node.begin <= begin && node.end >= end;
  __syncthreads();
  if (between.one_node && threadIdx.x < 4 * kStages) {
    // The node of these threads is that of all.
    const double s = key[is_last ? end - 1 : begin];
    const index_t at = place_of(key, node.begin, node.end, s, side == 1, stage, reach);
    (is_last ? between.last : between.first)[side][stage] = at;
  }
  __syncthreads();
}

// What an example is compared with in the other half: pairs beyond their kinks, those on them, and
// those that cost something.
struct Met {
  double beyond, on, on_scores, costly;
};

CUTPLANE_INLINE Met met(const double* __restrict__ key, const Node& node, const Half& other,
                        const Between& between, double s, bool higher, double reach) {
  double2 upto[kStages];
  for (int stage = 0; stage < kStages; ++stage) {
    const bool one = between.one_node;
    const index_t first = one ? between.first[higher][stage] : node.begin;
    const index_t last = one ? between.last[higher][stage] : node.end;
    upto[stage] = other.upto(place_of(key, first, last, s, higher, stage, reach));
  }
  const double on = upto[2].x - upto[0].x, on_scores = upto[2].y - upto[0].y;
  if (higher) return {other.whole.x - upto[2].x, on, on_scores, other.whole.x - upto[1].x};
  return {upto[0].x, on, on_scores, upto[1].x};
}

// Adds up two numbers of the threads of a block, in a fixed order.
CUTPLANE_INLINE void add_up(double value, double offset, double* out) {
  __shared__ double shared[2][kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int by = 16; by; by /= 2) {
    value += __shfl_down_sync(kAll, value, by);
    offset += __shfl_down_sync(kAll, offset, by);
  }
  if (lane == 0) shared[0][warp] = value, shared[1][warp] = offset;
  __syncthreads();
  if (threadIdx.x < 2) {
    double sum = 0;
    for (int w = 0; w < kThreads / 32; ++w) sum += shared[threadIdx.x][w];
    out[static_cast<index_t>(blockIdx.x) * 2 + threadIdx.x] = sum;
  }
}

// Pairs with |z| < reach count z / h + 1/2, others nothing or whole (per_h = 0 and reach = 0: the
// plane that touches the risk). Adds to the coefficients; value and offset: 2 a block.
extern "C" __global__ void rank_sweep(
    const double* __restrict__ key, const double* __restrict__ mass,
    const place_t* __restrict__ example, const double2* __restrict__ low,
    const double2* __restrict__ high, index_t n, const index_t* __restrict__ begins,
    const double* __restrict__ weight, index_t nodes, double reach, double per_h,
    double* __restrict__ coef, double* __restrict__ out) {
  __shared__ Between between;
  double value = 0, offset = 0;
  const index_t stride = static_cast<index_t>(gridDim.x) * kThreads;
  for (index_t begin = static_cast<index_t>(blockIdx.x) * kThreads; begin < n; begin += stride) {
    const index_t end = min(n, begin + kThreads), i = min(begin + threadIdx.x, n - 1);
    const Node node = node_of(begins, weight, nodes, i);
    look_between(between, key, node, begin, end, reach);
    const double s = key[i], c = begin + threadIdx.x < n ? mass[i] : 0.0;
    if (c == 0.0) continue;
    const bool higher = c > 0.0;
    const Half other = half_of(higher ? low : high, mass, key, node, !higher);
    const Met found = met(key, node, other, between, s, higher, reach);
    const double sign = higher ? 1.0 : -1.0;
    // Of scores on a grid, what is multiplied by 1/h is exact, and no larger than h.
    const double each = fabs(c) * (found.beyond + 0.5 * found.on +
                                   (found.on * (1.0 - sign * s) + sign * found.on_scores) * per_h);
    value += node.weight * (fabs(c) * found.costly * (higher ? 1.0 - s : s));
    if (higher) offset += node.weight * each;
    coef[example[i]] -= sign * (node.weight * each);
  }
  add_up(value, offset, out);
}
