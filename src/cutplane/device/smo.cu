// Pair steps of kernel machines: a block of threads works on one machine's set of variables.

namespace {

constexpr float kFlat = 1e-12f;
constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 2;  // variables of a thread; the choice between them is written out
constexpr int kMost = kThreads * kEach;
constexpr unsigned kNobody = 0xffffffffu;

// Whole numbers in the order of numbers; that of none is below all.
__device__ __forceinline__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int offset = 16; offset > 0; offset /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
#endif
}

__device__ __forceinline__ unsigned warp_min(unsigned value) { return ~warp_max(~value); }

// The largest of each warp: its rank, where it is, and two numbers that it brings along.
struct Winners {
  unsigned rank[kWarps], at[kWarps];
  double first[kWarps], second[kWarps];
};

// Of a warp, into its place among the winners.
__device__ __forceinline__ void enter(Winners& winners, unsigned rank, unsigned at, double first,
                                      double second) {
  const unsigned best = warp_max(rank);
  const unsigned place = warp_min(rank == best ? at : kNobody);
  const int warp = threadIdx.x / 32;
  if (at == place && rank == best)
    winners.at[warp] = at, winners.first[warp] = first, winners.second[warp] = second;
  if (threadIdx.x % 32 == 0) winners.rank[warp] = best;
}

// The warp that has won: the one of the first place, where several have the same rank.
__device__ __forceinline__ int winner(const Winners& winners) {
  const int lane = threadIdx.x % 32;
  const unsigned rank = winners.rank[lane], best = warp_max(rank);
  const unsigned place = warp_min(rank == best ? winners.at[lane] : kNobody);
  return __ffs(__ballot_sync(0xffffffffu, rank == best && winners.at[lane] == place)) - 1;
}

}  // namespace

// exp(min(0, product - left_i - right_j)): the values of a Gaussian kernel from products of
// examples.
extern "C" __global__ void falling(float* products, const float* left, const float* right,
                                   long long rows, long long n) {
  for (long long i = blockIdx.y; i < rows; i += gridDim.y) {
    float* row = products + i * n;
    for (long long j = blockIdx.x * blockDim.x + threadIdx.x; j < n;
         j += (long long)gridDim.x * blockDim.x) {
      row[j] = expf(fminf(0.0f, row[j] - left[i] - right[j]));
    }
  }
}

// The square of kernel values that a machine's set has with itself: K[at[a]][column[b]].
extern "C" __global__ void set_square(const float* K, long long stride, const int* at,
                                      const int* column, int q, float* square) {
  const long long machine = blockIdx.y;
  const int* rows = at + machine * q;
  const int* columns = column + machine * q;
  float* out = square + machine * q * q;
  for (long long k = blockIdx.x; k < q; k += gridDim.x) {
    const float* row = K + rows[k] * stride;
    for (int j = threadIdx.x; j < q; j += blockDim.x) out[k * q + j] = row[columns[j]];
  }
}

// Pair steps among the variables of a set until none violates more than eps. A step moves weight
// from the variable j to the variable i: i violates most, and with it j gains most (second order).
// `pull` is -y times the gradient. Ranks are in single precision, steps in double. Two barriers a
// step: owners write what others read after the next barrier. `grouped`: i and j have one label,
// the two labels by turns.
extern "C" __global__ void __launch_bounds__(kThreads)
    pair_steps(const float* square, const signed char* y, const double* upper, double* alpha,
               double* pull, const int* sizes, const double* eps, int q, int most, int grouped,
               int* steps) {
  __shared__ Winners ups, gains;
  __shared__ unsigned lows[kWarps];
  __shared__ double held[kMost],
      most_of[kMost];  // multipliers and their upper bounds, for all to read
  __shared__ signed char signs[kMost];
  const long long machine = blockIdx.x;
  const float* Q = square + machine * q * q;
  y += machine * q, upper += machine * q, alpha += machine * q, pull += machine * q;
  const int size = sizes[machine], lane = threadIdx.x % 32;
  const double enough = eps[machine];
  double own[kEach], top[kEach], force[kEach];
  float diagonal[kEach];
  signed char sign[kEach];
  for (int e = 0; e < kEach; ++e) {
    const int t = threadIdx.x + e * kThreads;
    const bool there = t < size;
    own[e] = there ? alpha[t] : 0.0, top[e] = there ? upper[t] : 0.0,
    force[e] = there ? pull[t] : 0.0;
    sign[e] = there ? y[t] : 1;
    diagonal[e] = there ? Q[(long long)t * q + t] : 0.0f;
    held[t] = own[e], most_of[t] = top[e], signs[t] = sign[e];
  }
  int pending = 0;  // a bit for each own multiplier that others have not been told of
  int step = 0;
  int label = grouped ? 1 : 0, idle = 0;  // in a row, turns without a step
  while (step < most) {
    unsigned rank = 0, low = kNobody;
    int best = 0;
    bool falls[kEach];
    for (int e = 0; e < kEach; ++e) {  // beyond the set nothing can move: bounds are both zero
      const bool mine_now = label == 0 || sign[e] == label;
      const bool rises = mine_now && (sign[e] > 0 ? own[e] < top[e] : own[e] > 0.0);
      falls[e] = mine_now && (sign[e] > 0 ? own[e] > 0.0 : own[e] < top[e]);
      const unsigned mine = ordered((float)force[e]);
      if (rises && mine > rank) rank = mine, best = e;
      if (falls[e]) low = min(low, mine);
    }
    enter(ups, rank, threadIdx.x + best * kThreads, best ? force[1] : force[0],
          best ? diagonal[1] : diagonal[0]);
    low = warp_min(low);
    if (lane == 0) lows[threadIdx.x / 32] = low;
    __syncthreads();
    for (int e = 0; e < kEach; ++e) {
      if (pending >> e & 1) held[threadIdx.x + e * kThreads] = own[e];
    }
    pending = 0;
    const int first = winner(ups);
    low = warp_min(lows[lane]);
    const int i = ups.at[first];
    const double high = ups.first[first];
    const float own_i = (float)ups.second[first];
    const double least = __uint_as_float(low >> 31 ? low & 0x7fffffffu : ~low);
    if (ups.rank[first] == 0 || low == kNobody || !(high - least > enough)) {
      if (label == 0 || ++idle == 2) break;
      label = -label;
      __syncthreads();  // all have read who won
      continue;
    }
    const float* row_i = Q + (long long)i * q;
    float with_i[kEach], bend[kEach];
    rank = 0, best = 0;
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      with_i[e] = t < size ? row_i[t] : 0.0f;
      bend[e] = fmaxf(own_i + diagonal[e] - 2.0f * with_i[e], kFlat);
      const float apart = (float)(high - force[e]);
      const unsigned mine = ordered(__fdividef(apart * apart, bend[e]));
      if (falls[e] && apart > 0.0f && mine > rank) rank = mine, best = e;
    }
    enter(gains, rank, threadIdx.x + best * kThreads, best ? force[1] : force[0],
          best ? bend[1] : bend[0]);
    __syncthreads();
    const int second = winner(gains);
    if (gains.rank[second] == 0) {
      if (label == 0 || ++idle == 2) break;
      label = -label;
      continue;  // the next barrier comes before the gains are written again
    }
    const int j = gains.at[second];
    const double room_i = signs[i] > 0 ? most_of[i] - held[i] : held[i];
    const double room_j = signs[j] > 0 ? held[j] : most_of[j] - held[j];
    const double moved =
        fmin((high - gains.first[second]) / gains.second[second], fmin(room_i, room_j));
    const float* row_j = Q + (long long)j * q;
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      if (t >= size) break;
      force[e] -= moved * ((double)with_i[e] - (double)row_j[t]);
      if (t == i)
        own[e] = moved == room_i ? (sign[e] > 0 ? top[e] : 0.0) : own[e] + sign[e] * moved;
      if (t == j)
        own[e] = moved == room_j ? (sign[e] > 0 ? 0.0 : top[e]) : own[e] - sign[e] * moved;
      if (t == i || t == j) pending |= 1 << e;
    }
    label = -label, idle = 0, ++step;
  }
  for (int e = 0; e < kEach; ++e) {
    const int t = threadIdx.x + e * kThreads;
    if (t < size) alpha[t] = own[e], pull[t] = force[e];
  }
  if (threadIdx.x == 0) steps[machine] = step;
}

// What changes of multipliers do to all variables of each machine: pull[t] -= sum of coef[k]
// K[at[k]][column[t]].
extern "C" __global__ void pull_update(const float* K, long long stride, const int* at,
                                       const double* coef, int q, const long long* begins,
                                       const int* column, double* pull) {
  __shared__ double factors[kThreads / 4];
  __shared__ int rows[kThreads / 4];
  const long long machine = blockIdx.y;
  const long long end = begins[machine + 1];
  at += machine * q, coef += machine * q;
  const long long first = begins[machine] + (long long)blockIdx.x * blockDim.x;
  if (first >= end) return;
  const long long t = first + threadIdx.x;
  const long long mine = column[t < end ? t : end - 1];
  double sum = 0.0;
  for (int begin = 0; begin < q; begin += blockDim.x) {
    __syncthreads();
    const int k = begin + threadIdx.x;
    factors[threadIdx.x] = k < q ? coef[k] : 0.0;
    rows[threadIdx.x] = k < q ? at[k] : 0;
    __syncthreads();
#pragma unroll 8
    for (int s = 0; s < (int)blockDim.x; ++s) {
      const double factor = factors[s];
      if (factor != 0.0) sum += factor * K[rows[s] * stride + mine];
    }
  }
  if (t < end) pull[t] -= sum;
}

namespace {

// What products of examples become, by the numbers of `text.TRANSFORMS`.
template <int kTransform>
__device__ __forceinline__ double kernel_value(float product, float left, float right, float add,
                                               float degree) {
  if (kTransform == 1) return expf(fminf(0.0f, product - left - right));
  if (kTransform == 2) return powf(product + add, degree);
  if (kTransform == 3) return tanhf(product + add);
  return product;
}

}  // namespace

// Sums over columns of kernel values times coefficients, group by group: a warp for each row, in
// double precision. Groups of columns end at `ends`; coef has `columns` numbers for each column of
// the products, of which kAtOnce from `from` on are taken.
template <int kTransform, int kAtOnce>
__global__ void __launch_bounds__(256)
    kernel_sums(const float* products, long long rows, int n, const float* left, const float* right,
                float add, float degree, const double* coef, int columns, int from, const int* ends,
                int groups, double* out) {
  const int lane = threadIdx.x % 32;
  const long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const float* values = products + row * n;
  const float mine = kTransform == 1 ? left[row] : 0.0f;
  int begin = 0;
  for (int group = 0; group < groups; ++group) {
    double sums[kAtOnce];
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) sums[c] = 0.0;
    for (int j = begin + lane; j < ends[group]; j += 32) {
      const double value =
          kernel_value<kTransform>(values[j], mine, kTransform == 1 ? right[j] : 0.0f, add, degree);
      const double* own = coef + (long long)j * columns + from;
#pragma unroll
      for (int c = 0; c < kAtOnce; ++c) {
        if (kAtOnce == 1 || from + c < columns) sums[c] += value * own[c];
      }
    }
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      for (int offset = 16; offset > 0; offset /= 2)
        sums[c] += __shfl_xor_sync(0xffffffffu, sums[c], offset);
      if (lane == 0 && from + c < columns)
        out[(row * groups + group) * columns + from + c] = sums[c];
    }
    begin = ends[group];
  }
}
