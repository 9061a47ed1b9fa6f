// Pair steps of kernel machines: a block of threads works on one machine's set of variables.

namespace {

constexpr float kFlat = 1e-12f;
constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 2;  // variables of a thread
constexpr int kMost = kThreads * kEach;
constexpr unsigned kNobody = 0xffffffffu;
constexpr unsigned kPlace = kMost - 1;  // bits of a place in a set

// Whole numbers in the order of numbers; that of none is below all.
__device__ __forceinline__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float number(unsigned order) {
  return __uint_as_float(order >> 31 ? order & 0x7fffffffu : ~order);
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

__device__ __forceinline__ bool can_rise(signed char y, double alpha, double upper) {
  return y > 0 ? alpha < upper : alpha > 0.0;
}

__device__ __forceinline__ bool can_fall(signed char y, double alpha, double upper) {
  return y > 0 ? alpha > 0.0 : alpha < upper;
}

}  // namespace

// What variables are ordered by on either side, within parts: those that can rise by falling pulls,
// those that can fall by rising ones; others come last.
extern "C" __global__ void side_keys(const signed char* y, const double* upper, const double* alpha,
                                     const double* pull, const unsigned long long* part,
                                     long long n, unsigned long long* up, unsigned long long* low) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const unsigned mine = ordered((float)pull[t]);
  up[t] = part[t] | (can_rise(y[t], alpha[t], upper[t]) ? ~mine : kNobody);
  low[t] = part[t] | (can_fall(y[t], alpha[t], upper[t]) ? mine : kNobody);
}

// In these orders, the places of variables within their parts.
extern "C" __global__ void side_places(const long long* ups, const long long* lows,
                                       const unsigned long long* up, const unsigned long long* low,
                                       const long long* start, long long n, int* up_place,
                                       int* low_place) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const int place = (int)(t - start[t]);
  up_place[ups[t]] = (unsigned)up[ups[t]] == kNobody ? 0x0fffffff : place;
  low_place[lows[t]] = (unsigned)low[lows[t]] == kNobody ? 0x0fffffff : place;
}

// What variables are chosen by: the first of either side, then those of the set before, then
// others.
extern "C" __global__ void set_keys(const int* up_place, const int* low_place, const bool* before,
                                    const unsigned long long* machine, long long n, int first,
                                    unsigned long long* key) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const int place = min(up_place[t], low_place[t]);
  const unsigned group = place < first ? 0 : before[t] ? 1 : 2;
  key[t] = machine[t] | ((group << 28) + (unsigned)place);
}

// How far apart the first of both sides are, of each part.
extern "C" __global__ void part_violations(const long long* ups, const long long* lows,
                                           const unsigned long long* up,
                                           const unsigned long long* low, const double* pull,
                                           const long long* firsts, const bool* filled, int parts,
                                           double* apart) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= parts) return;
  const long long top = ups[firsts[k]], bottom = lows[firsts[k]];
  const bool open = filled[k] && (unsigned)up[top] != kNobody && (unsigned)low[bottom] != kNobody;
  apart[k] = open ? pull[top] - pull[bottom] : 0.0;
}

// Variables at some places, copied.
extern "C" __global__ void gather_sets(const long long* at, long long count, const int* column,
                                       const signed char* y, const double* upper,
                                       const double* alpha, const double* pull, int* column_out,
                                       signed char* y_out, double* upper_out, double* alpha_out,
                                       double* pull_out) {
  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const long long t = at[k];
  column_out[k] = column[t], y_out[k] = y[t];
  upper_out[k] = upper[t], alpha_out[k] = alpha[t], pull_out[k] = pull[t];
}

// The multipliers of sets into those of all; who was in them, what coefficients changed by, and
// what each machine, a block of threads, gained.
extern "C" __global__ void settle_sets(const long long* at, const int* sizes, int q,
                                       const signed char* y, const double* alpha,
                                       const double* after, const double* pull, double* all,
                                       bool* before, double* coef, double* gained) {
  __shared__ double sums[256];
  const long long machine = blockIdx.x;
  at += machine * q, y += machine * q, alpha += machine * q, after += machine * q;
  coef += machine * q;
  double sum = 0.0;
  for (int k = threadIdx.x; k < q; k += blockDim.x) {
    double change = 0.0;
    if (k < sizes[machine]) {
      const long long t = at[k];
      change = y[k] * (alpha[k] - all[t]);
      sum += change * (pull[t] + after[k]);
      all[t] = alpha[k], before[t] = true;
    }
    coef[k] = change;
  }
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) gained[machine] = 0.5 * sums[0];
}

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
// `pull` is -y times the gradient; what is kept of it counts from that of the first variable, so
// that single precision, in which pairs are chosen, tells those near the threshold apart. A gain
// and its place share 32 bits: it is known to a ten-thousandth.
// Two barriers a step: owners write what others read after the next barrier. `grouped`: i and j
// have one label, the two labels by turns.
extern "C" __global__ void __launch_bounds__(kThreads)
    pair_steps(const float* square, const signed char* y, const double* upper, double* alpha,
               double* pull, const int* sizes, const double* eps, int q, int most, int grouped,
               int* steps) {
  __shared__ unsigned ranks[kWarps], places[kWarps], lows[kWarps], gains[kWarps];
  __shared__ float lengths[kWarps];
  __shared__ double held[kMost], most_of[kMost];  // multipliers and their upper bounds
  __shared__ float diagonals[kMost];
  __shared__ signed char signs[kMost];
  const long long machine = blockIdx.x;
  const float* Q = square + machine * q * q;
  y += machine * q, upper += machine * q, alpha += machine * q, pull += machine * q;
  const int size = sizes[machine], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const double enough = eps[machine], base = pull[0];
  double own[kEach], force[kEach];
  float diagonal[kEach];
  signed char sign[kEach];
  bool rises[kEach], falls[kEach];
  for (int e = 0; e < kEach; ++e) {  // beyond the set nothing can move: bounds are both zero
    const int t = threadIdx.x + e * kThreads;
    const bool there = t < size;
    const double top = there ? upper[t] : 0.0;
    own[e] = there ? alpha[t] : 0.0;
    force[e] = there ? pull[t] - base : 0.0;
    sign[e] = there ? y[t] : 1;
    diagonal[e] = there ? Q[(long long)t * q + t] : 0.0f;
    rises[e] = can_rise(sign[e], own[e], top), falls[e] = can_fall(sign[e], own[e], top);
    held[t] = own[e], most_of[t] = top, signs[t] = sign[e], diagonals[t] = diagonal[e];
  }
  int last_i = -1, last_j = -1;  // whose multipliers others have not been told of
  int step = 0;
  int label = grouped ? 1 : 0, idle = 0;  // in a row, turns without a step
  __syncthreads();
  while (step < most) {
    unsigned rank = 0, low = kNobody;
    int best = 0;
    float near[kEach];
    bool turn[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      near[e] = (float)force[e];
      turn[e] = label == 0 || sign[e] == label;
      const unsigned mine = ordered(near[e]);
      if (turn[e] && rises[e] && mine > rank) rank = mine, best = e;
      if (turn[e] && falls[e]) low = min(low, mine);
    }
    const unsigned highest = warp_max(rank);
    const unsigned place = warp_min(rank == highest ? threadIdx.x + best * kThreads : kNobody);
    low = warp_min(low);
    if (lane == 0) ranks[warp] = highest, places[warp] = place, lows[warp] = low;
    __syncthreads();
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      if (t == last_i || t == last_j) held[t] = own[e];
    }
    rank = warp_max(ranks[lane]);
    const int i = warp_min(ranks[lane] == rank ? places[lane] : kNobody);
    low = warp_min(lows[lane]);
    const float high = number(rank);
    if (rank == 0 || low == kNobody || !((double)high - (double)number(low) > enough)) {
      if (label == 0 || ++idle == 2) break;
      label = -label, last_i = last_j = -1;
      __syncthreads();  // all have read who won
      continue;
    }
    const float* row_i = Q + (long long)i * q;
    const float own_i = diagonals[i];
    float with_i[kEach], with_j[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      with_i[e] = t < size ? row_i[t] : 0.0f;
    }
    unsigned gain = 0;
    float length = 0.0f;
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const float bend = fmaxf(own_i + diagonal[e] - 2.0f * with_i[e], kFlat);
      const float apart = high - near[e], far = __fdividef(apart, bend);
      const unsigned mine = (__float_as_uint(apart * far) & ~kPlace) | (threadIdx.x + e * kThreads);
      if (turn[e] && falls[e] && apart > 0.0f && mine > gain) gain = mine, length = far;
    }
    const unsigned most_gained = warp_max(gain);
    if (lane == 0) gains[warp] = most_gained;
    if (gain == most_gained && gain > 0) lengths[warp] = length;  // places differ: it is one
    __syncthreads();
    gain = warp_max(gains[lane]);
    last_i = last_j = -1;
    if (gain <= kPlace) {
      if (label == 0 || ++idle == 2) break;
      label = -label;
      continue;  // the next barrier comes before the gains are written again
    }
    const int j = gain & kPlace;
    const float* row_j = Q + (long long)j * q;
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      with_j[e] = t < size ? row_j[t] : 0.0f;
    }
    const double room_i = signs[i] > 0 ? most_of[i] - held[i] : held[i];
    const double room_j = signs[j] > 0 ? held[j] : most_of[j] - held[j];
    const double moved = fmin((double)lengths[j % kThreads / 32], fmin(room_i, room_j));
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int t = threadIdx.x + e * kThreads;
      force[e] -= moved * (double)(with_i[e] - with_j[e]);
      if (t == i || t == j) {
        const bool grows = (t == i) == (sign[e] > 0);
        const bool all = moved == (t == i ? room_i : room_j);
        const double top = most_of[t];
        own[e] = all ? (grows ? top : 0.0) : own[e] + (grows ? moved : -moved);
        rises[e] = can_rise(sign[e], own[e], top), falls[e] = can_fall(sign[e], own[e], top);
      }
    }
    last_i = i, last_j = j;
    label = -label, idle = 0, ++step;
  }
  for (int e = 0; e < kEach; ++e) {
    const int t = threadIdx.x + e * kThreads;
    if (t < size) alpha[t] = own[e], pull[t] = force[e] + base;
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
