// What a sum over examples needs on a GPU. In front of this text stand a prelude and the losses of
// the core (core/losses/losses.hpp): see kernels.py.
//
// Every sum is in double precision and in an order that depends on the number of examples alone:
// the same bits on every device. A block adds up its stretch, and the host adds up the blocks'.

typedef long long index_t;

constexpr int kThreads = 256;

// ---- examples ----------------------------------------------------------------------------------

// max(0, 1 - y s): the side of a tube that the label points away from.
struct HingeLoss {
  static constexpr bool kSmooth = false;
  CUTPLANE_INLINE cutplane::TubeLoss side(double y) const {
    return {y < 0.0 ? 1.0 : 0.0, y < 0.0 ? 0.0 : 1.0, 0.0};
  }
  CUTPLANE_INLINE cutplane::LossAt at(double s, double y, double h) const {
    return side(y).at(s, y, h);
  }
  CUTPLANE_INLINE cutplane::LossAt touch(double s, double y) const { return side(y).touch(s, y); }
  CUTPLANE_INLINE double height(double slope, double y) const { return side(y).height(slope, y); }
};

template <class L>
CUTPLANE_INLINE L made(double a, double b, double c);
template <>
CUTPLANE_INLINE HingeLoss made(double, double, double) {
  return {};
}
template <>
CUTPLANE_INLINE cutplane::SquaredHingeLoss made(double, double, double) {
  return {};
}
template <>
CUTPLANE_INLINE cutplane::LogisticLoss made(double, double, double) {
  return {};
}
template <>
CUTPLANE_INLINE cutplane::SquaredEpsilonLoss made(double a, double, double) {
  return {a};
}
template <>
CUTPLANE_INLINE cutplane::HuberLoss made(double a, double, double) {
  return {a};
}
template <>
CUTPLANE_INLINE cutplane::TubeLoss made(double a, double b, double c) {
  return {a, b, c};
}

template <class L>
CUTPLANE_INLINE cutplane::LossAt touched(const L& loss, double s, double y) {
  if constexpr (L::kSmooth)
    return loss.at(s, y, 1.0);
  else
    return loss.touch(s, y);
}

// The sides of a loss that has kinks.
CUTPLANE_INLINE cutplane::TubeLoss tube(const HingeLoss& loss, double y) { return loss.side(y); }
CUTPLANE_INLINE cutplane::TubeLoss tube(const cutplane::TubeLoss& loss, double) { return loss; }

// The examples of a sum: targets, weights (null: all are `each`), and the loss's own numbers.
#define CUTPLANE_EXAMPLES \
  const Y *__restrict__ y, const double *__restrict__ c, double each, double a, double b, double e

// Adds up what the threads of a block have, in a fixed order, and writes it to `out`.
template <int K>
CUTPLANE_INLINE void add_up(double (&mine)[K], double* out) {
  __shared__ double shared[K][kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    double sum = mine[k];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) shared[k][warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x < K) {
    double sum = 0;
    for (int w = 0; w < kThreads / 32; ++w) sum += shared[threadIdx.x][w];
    out[static_cast<index_t>(blockIdx.x) * K + threadIdx.x] = sum;
  }
}

#define CUTPLANE_EACH_EXAMPLE                                                        \
  for (index_t i = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; \
       i += static_cast<index_t>(gridDim.x) * kThreads)

// ---- sums of scores ----------------------------------------------------------------------------

// Plain sums of an array, and of its positive and its negative numbers: 3 a block.
extern "C" __global__ void add_sides(const double* __restrict__ v, index_t n, double* out) {
  double mine[3] = {0, 0, 0};
  CUTPLANE_EACH_EXAMPLE {
    const double x = v[i];
    mine[0] += x;
    mine[1] += x > 0.0 ? x : 0.0;
    mine[2] += x < 0.0 ? x : 0.0;
  }
  add_up(mine, out);
}

// The plane that touches the risk: its coefficients, then value, offset and sizes of these.
template <class L, class Y>
__global__ void cut(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n,
                    double* __restrict__ coef, double* out) {
  const L loss = made<L>(a, b, e);
  double mine[3] = {0, 0, 0};
  CUTPLANE_EACH_EXAMPLE {
    const double weight = c ? c[i] : each;
    const cutplane::LossAt at = touched(loss, s[i], static_cast<double>(y[i]));
    const double slope = weight * at.slope;
    coef[i] = slope;
    mine[0] += weight * at.value;
    mine[1] += weight * at.height;
    mine[2] += fabs(slope);
  }
  add_up(mine, out);
}

// The risk alone.
template <class L, class Y>
__global__ void value(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n, double* out) {
  const L loss = made<L>(a, b, e);
  double mine[1] = {0};
  CUTPLANE_EACH_EXAMPLE {
    mine[0] += (c ? c[i] : each) * touched(loss, s[i], static_cast<double>(y[i])).value;
  }
  add_up(mine, out);
}

// The risk rounded over h: coefficients, then value, offset, error, curved examples, sizes.
template <class L, class Y>
__global__ void smoothed(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n, double h,
                         double* __restrict__ coef, double* out) {
  const L loss = made<L>(a, b, e);
  double mine[5] = {0, 0, 0, 0, 0};
  CUTPLANE_EACH_EXAMPLE {
    const double weight = c ? c[i] : each;
    const cutplane::LossAt at = loss.at(s[i], static_cast<double>(y[i]), h);
    const double slope = weight * at.slope;
    coef[i] = slope;
    mine[0] += weight * at.value;
    mine[1] += weight * at.height;
    mine[2] += weight * (at.value - at.slope * s[i] - at.height);
    mine[3] += at.curvature > 0.0 ? 1.0 : 0.0;
    mine[4] += fabs(slope);
  }
  add_up(mine, out);
}

// Slopes over h as if the examples on a kink of width `reach` stayed on it.
template <class L, class Y>
__global__ void extrapolated(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n, double h,
                             double reach, double* __restrict__ coef) {
  const L loss = made<L>(a, b, e);
  CUTPLANE_EACH_EXAMPLE {
    const double target = static_cast<double>(y[i]), weight = c ? c[i] : each;
    if constexpr (L::kSmooth) {
      coef[i] = weight * loss.at(s[i], target, h).slope;
    } else {
      const cutplane::TubeLoss sides = tube(loss, target);
      const double half = 0.5 * reach;
      const double over = s[i] - target - sides.epsilon, under = target - sides.epsilon - s[i];
      const double pi_over = fabs(over) <= half ? over / h + 0.5 : (over > 0.0 ? 1.0 : 0.0);
      const double pi_under = fabs(under) <= half ? under / h + 0.5 : (under > 0.0 ? 1.0 : 0.0);
      coef[i] = weight * (sides.above * pi_over - sides.below * pi_under);
    }
  }
}

// h times the second derivatives of the risk rounded over h.
template <class L, class Y>
__global__ void curved(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n, double h,
                       double* __restrict__ weights) {
  const L loss = made<L>(a, b, e);
  CUTPLANE_EACH_EXAMPLE {
    weights[i] = h * (c ? c[i] : each) * loss.at(s[i], static_cast<double>(y[i]), h).curvature;
  }
}

// Exactly on a kink, what counts for the slope to the right is the side the example moves to.
template <class L>
CUTPLANE_INLINE double right_slope(const L& loss, double s, double target, double direction) {
  if constexpr (L::kSmooth) {
    return loss.at(s, target, 1.0).slope;
  } else {
    const cutplane::TubeLoss sides = tube(loss, target);
    const double over = s - target - sides.epsilon, under = target - sides.epsilon - s;
    const double rising = direction > 0.0 ? sides.above : 0.0;
    const double falling = direction < 0.0 ? sides.below : 0.0;
    const double at_over = over > 0.0 ? sides.above : (over == 0.0 ? rising : 0.0);
    const double at_under = under > 0.0 ? sides.below : (under == 0.0 ? falling : 0.0);
    return at_over - at_under;
  }
}

// Value, slope and curvature of the risk rounded over h (0: itself, with its right derivative) at
// scores + t (direction): the direction is an array, the way to an end, or 1.
template <class L, class Y, int T>
__global__ void along(CUTPLANE_EXAMPLES, const double* __restrict__ s,
                      const double* __restrict__ other, int towards, index_t n, double h, double t0,
                      double t1, double t2, double t3, double* out) {
  const L loss = made<L>(a, b, e);
  const double steps[4] = {t0, t1, t2, t3};
  double mine[3 * T];
#pragma unroll
  for (int k = 0; k < 3 * T; ++k) mine[k] = 0;
  CUTPLANE_EACH_EXAMPLE {
    const double weight = c ? c[i] : each, target = static_cast<double>(y[i]), start = s[i];
    const double direction = other ? (towards ? other[i] - start : other[i]) : 1.0;
#pragma unroll
    for (int k = 0; k < T; ++k) {
      const double score = start + steps[k] * direction;
      if (h > 0.0) {
        const cutplane::LossAt at = loss.at(score, target, h);
        mine[3 * k] += weight * at.rounded;
        mine[3 * k + 1] += weight * at.slope * direction;
        mine[3 * k + 2] += weight * at.curvature * direction * direction;
      } else {
        const cutplane::LossAt at = touched(loss, score, target);
        mine[3 * k] += weight * at.value;
        mine[3 * k + 1] += weight * direction * right_slope(loss, score, target, direction);
      }
    }
  }
  add_up(mine, out);
}

// The slopes of the risk along constants at kShifts of these: what the coefficients of `cut` add up
// to there.
enum { kShifts = 16 };

template <class L, class Y>
__global__ void leans(CUTPLANE_EXAMPLES, const double* __restrict__ s, index_t n,
                      const double* __restrict__ shifts, double* out) {
  const L loss = made<L>(a, b, e);
  double mine[kShifts], at[kShifts];
#pragma unroll
  for (int k = 0; k < kShifts; ++k) {
    mine[k] = 0;
    at[k] = shifts[k];
  }
  CUTPLANE_EACH_EXAMPLE {
    const double weight = c ? c[i] : each, target = static_cast<double>(y[i]), start = s[i];
#pragma unroll
    for (int k = 0; k < kShifts; ++k)
      mine[k] += weight * touched(loss, start + at[k], target).slope;
  }
  add_up(mine, out);
}

// The offset of the highest plane below the risk with these coefficients, and their sizes.
template <class L, class Y>
__global__ void offset(CUTPLANE_EXAMPLES, const double* __restrict__ coef, index_t n, double* out) {
  const L loss = made<L>(a, b, e);
  double mine[2] = {0, 0};
  CUTPLANE_EACH_EXAMPLE {
    const double weight = c ? c[i] : each;
    mine[0] +=
        weight > 0.0 ? weight * loss.height(coef[i] / weight, static_cast<double>(y[i])) : 0.0;
    mine[1] += fabs(coef[i]);
  }
  add_up(mine, out);
}

// ---- rows --------------------------------------------------------------------------------------

struct half_bits {
  unsigned short bits;
};
struct bfloat_bits {
  unsigned short bits;
};

CUTPLANE_INLINE double number(float x) { return x; }
CUTPLANE_INLINE double number(double x) { return x; }
// As the last bits of a number around 2^52: to convert them takes four times as long.
CUTPLANE_INLINE double number(unsigned char x) {
  return __hiloint2double(0x43300000, x) - 4503599627370496.0;
}
CUTPLANE_INLINE double number(signed char x) {
  return __hiloint2double(0x43300000, static_cast<unsigned char>(x) ^ 0x80) - 4503599627370624.0;
}
CUTPLANE_INLINE double number(half_bits x) {
  float found;
  asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(x.bits));
  return found;
}
CUTPLANE_INLINE double number(bfloat_bits x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}

// So many entries of a row that are read at once.
template <class T, int V>
struct alignas(sizeof(T) * V) Entries {
  T at[V];
};

template <int V, class T>
CUTPLANE_INLINE Entries<T, V> entries(const T* from) {
  return *reinterpret_cast<const Entries<T, V>*>(from);
}

// Scores of dense rows. So many lanes share a row, V entries at a time, and go through kAtOnce rows
// together: the weights are read once for these, and that many reads are under way.
template <class T>
constexpr int kRowsAtOnce = sizeof(T) == 1 ? 8 : 4;

template <class T, int LANES, int V>
__global__ void dense_scores(const T* __restrict__ X, index_t n, index_t d,
                             const double* __restrict__ w, double* __restrict__ scores) {
  constexpr int kAtOnce = kRowsAtOnce<T>;
  const index_t groups = static_cast<index_t>(gridDim.x) * (kThreads / LANES);
  const int lane = threadIdx.x % LANES;
  const index_t mine = static_cast<index_t>(blockIdx.x) * (kThreads / LANES) + threadIdx.x / LANES;
  const index_t rounds = (n + groups * kAtOnce - 1) / (groups * kAtOnce);
  for (index_t round = 0; round < rounds; ++round) {
    const index_t first = (mine + round * groups) * kAtOnce;
    const T* row[kAtOnce];
    double sum[kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      row[r] = X + (first + r < n ? first + r : n - 1) * d;
      sum[r] = 0;
    }
#pragma unroll 2
    for (index_t j = lane * V; j < d; j += LANES * V) {
      Entries<T, V> x[kAtOnce];
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) x[r] = entries<V>(row[r] + j);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const double weight = w[j + v];
#pragma unroll
        for (int r = 0; r < kAtOnce; ++r) sum[r] += number(x[r].at[v]) * weight;
      }
    }
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      for (int offset = LANES / 2; offset; offset /= 2)
        sum[r] += __shfl_down_sync(0xffffffffu, sum[r], offset, LANES);
      if (lane == 0 && first + r < n) scores[first + r] = sum[r];
    }
  }
}

// Sums of coefficient times row over stretches of rows: blockIdx.x is the stretch, blockIdx.y the
// tile of columns. Threads lie side by side in the columns, V of these each. Rows whose coefficient
// is zero are not read.
template <class T, int V>
__global__ void dense_combine(const T* __restrict__ X, index_t n, index_t d,
                              const double* __restrict__ coef, double* __restrict__ partial) {
  constexpr int kAtOnce = sizeof(T) == 1 || sizeof(T) == 8 ? 2 : 4;
  extern __shared__ double lanes[];
  const index_t column = (static_cast<index_t>(blockIdx.y) * blockDim.x + threadIdx.x) * V;
  const index_t stretch = (n + gridDim.x - 1) / gridDim.x;
  const index_t begin = static_cast<index_t>(blockIdx.x) * stretch;
  const index_t end = begin + stretch < n ? begin + stretch : n;
  double sum[V] = {};
  if (column < d) {
    for (index_t i = begin + threadIdx.y; i < end; i += kAtOnce * blockDim.y) {
      double weight[kAtOnce];
      Entries<T, V> x[kAtOnce];
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const index_t k = i + r * blockDim.y;
        weight[r] = k < end ? coef[k] : 0.0;
      }
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        if (weight[r] != 0.0) x[r] = entries<V>(X + (i + r * blockDim.y) * d + column);
      }
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        if (weight[r] != 0.0) {
#pragma unroll
          for (int v = 0; v < V; ++v) sum[v] += weight[r] * number(x[r].at[v]);
        }
      }
    }
  }
#pragma unroll
  for (int v = 0; v < V; ++v) lanes[(threadIdx.y * V + v) * blockDim.x + threadIdx.x] = sum[v];
  __syncthreads();
  if (threadIdx.y == 0 && column < d) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      for (int k = 1; k < blockDim.y; ++k) sum[v] += lanes[(k * V + v) * blockDim.x + threadIdx.x];
      partial[static_cast<index_t>(blockIdx.x) * d + column + v] = sum[v];
    }
  }
}

// Narrow rows, of which several lie in 128 bytes: a block reads kTile of them as they lie, and goes
// through them in shared memory.
enum { kTile = 128 };

template <class T>
CUTPLANE_INLINE void read_tile(const T* __restrict__ from, int count, T* tile, int thread) {
  const int whole = count * static_cast<int>(sizeof(T)) / 16;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const char* source = reinterpret_cast<const char*>(from);
  for (int k = thread; k < whole; k += kThreads)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(target + 16 * k), "l"(source + 16 * static_cast<index_t>(k)));
#else
  for (int k = thread; k < whole; k += kThreads)
    reinterpret_cast<uint4*>(tile)[k] = reinterpret_cast<const uint4*>(from)[k];
#endif
  for (int k = whole * 16 / static_cast<int>(sizeof(T)) + thread; k < count; k += kThreads)
    tile[k] = from[k];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;");
#endif
}

// Two lanes a row.
template <class T>
__global__ void narrow_scores(const T* __restrict__ X, index_t n, index_t d,
                              const double* __restrict__ w, double* __restrict__ scores) {
  extern __shared__ double memory[];
  double* weights = memory;
  T* tile = reinterpret_cast<T*>(memory + (d + 1) / 2 * 2);
  const int width = static_cast<int>(d), half = (width + 1) / 2;
  const int row = threadIdx.x / 2, begin = threadIdx.x % 2 * half;
  const int end = begin + half < width ? begin + half : width;
  for (int j = threadIdx.x; j < width; j += kThreads) weights[j] = w[j];
  const index_t tiles = (n + kTile - 1) / kTile;
  for (index_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int rows = static_cast<int>(n - t * kTile < kTile ? n - t * kTile : kTile);
    read_tile(X + t * kTile * d, rows * width, tile, threadIdx.x);
    __syncthreads();
    double sum = 0;
    if (row < rows)
      for (int j = begin; j < end; ++j) sum += number(tile[row * width + j]) * weights[j];
    sum += __shfl_down_sync(0xffffffffu, sum, 1, 2);
    if (row < rows && begin == 0) scores[t * kTile + row] = sum;
    __syncthreads();
  }
}

// As `dense_combine`; stretches are whole numbers of tiles.
template <class T>
__global__ void narrow_combine(const T* __restrict__ X, index_t n, index_t d,
                               const double* __restrict__ coef, double* __restrict__ partial) {
  extern __shared__ double memory[];
  double* weights = memory;
  T* tile = reinterpret_cast<T*>(memory + kTile);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, width = static_cast<int>(d);
  const index_t tiles = (n + kTile - 1) / kTile, stretch = (tiles + gridDim.x - 1) / gridDim.x;
  const index_t first = static_cast<index_t>(blockIdx.x) * stretch;
  const index_t last = first + stretch < tiles ? first + stretch : tiles;
  double sum[4] = {};  // of every so manyth column
  for (index_t t = first; t < last; ++t) {
    const int rows = static_cast<int>(n - t * kTile < kTile ? n - t * kTile : kTile);
    if (thread < rows) weights[thread] = coef[t * kTile + thread];
    read_tile(X + t * kTile * d, rows * width, tile, thread);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int column = c * blockDim.x + threadIdx.x;
      if (column < width) {
#pragma unroll 4
        for (int i = threadIdx.y; i < rows; i += blockDim.y)
          sum[c] += weights[i] * number(tile[i * width + column]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const int column = c * blockDim.x + threadIdx.x;
    memory[thread] = sum[c];
    __syncthreads();
    if (threadIdx.y == 0 && column < width) {
      for (int k = 1; k < blockDim.y; ++k) sum[c] += memory[k * blockDim.x + threadIdx.x];
      partial[static_cast<index_t>(blockIdx.x) * d + column] = sum[c];
    }
    __syncthreads();
  }
}

// Adds up stretches column by column: 32 columns a block, and 32 threads below each other.
extern "C" __global__ void add_stretches(const double* __restrict__ partial, index_t stretches,
                                         index_t d, double* __restrict__ out) {
  __shared__ double below[32][33];
  const index_t j = static_cast<index_t>(blockIdx.x) * 32 + threadIdx.x;
  double sum = 0;
  if (j < d)
    for (index_t k = threadIdx.y; k < stretches; k += 32) sum += partial[k * d + j];
  below[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && j < d) {
    for (int k = 1; k < 32; ++k) sum += below[k][threadIdx.x];
    out[j] = sum;
  }
}

// Scores of the rows of a CSR matrix: a warp a row.
template <class T, class I>
__global__ void csr_scores(const T* __restrict__ data, const I* __restrict__ indices,
                           const I* __restrict__ indptr, index_t n, const double* __restrict__ w,
                           double* __restrict__ scores) {
  const int lane = threadIdx.x % 32;
  const index_t warps = static_cast<index_t>(gridDim.x) * (kThreads / 32);
  for (index_t i = static_cast<index_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32; i < n;
       i += warps) {
    double sum = 0;
    for (index_t k = static_cast<index_t>(indptr[i]) + lane;
         k < static_cast<index_t>(indptr[i + 1]); k += 32)
      sum += number(data[k]) * w[indices[k]];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) scores[i] = sum;
  }
}

// The sums of the squares of the rows of a CSR matrix: a warp a row.
template <class T, class I>
__global__ void csr_squares(const T* __restrict__ data, const I* __restrict__ indptr, index_t n,
                            double* __restrict__ squares) {
  const int lane = threadIdx.x % 32;
  const index_t warps = static_cast<index_t>(gridDim.x) * (kThreads / 32);
  for (index_t i = static_cast<index_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32; i < n;
       i += warps) {
    double sum = 0;
    for (index_t k = static_cast<index_t>(indptr[i]) + lane;
         k < static_cast<index_t>(indptr[i + 1]); k += 32)
      sum += number(data[k]) * number(data[k]);
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) squares[i] = sum;
  }
}

// Sums over segments of columns of a CSC matrix, a warp each: columns that are long have several.
// SQUARED: of the squares of the entries.
template <bool SQUARED, class T, class I>
CUTPLANE_INLINE void sum_segments(const T* __restrict__ data, const I* __restrict__ rows,
                                  const index_t* __restrict__ begins, index_t segments,
                                  const double* __restrict__ coef, double* __restrict__ partial) {
  const int lane = threadIdx.x % 32;
  const index_t warps = static_cast<index_t>(gridDim.x) * (kThreads / 32);
  for (index_t g = static_cast<index_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
       g < segments; g += warps) {
    double sum = 0;
    for (index_t k = begins[g] + lane; k < begins[g + 1]; k += 32) {
      const double x = number(data[k]);
      sum += (SQUARED ? x * x : x) * coef[rows[k]];
    }
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) partial[g] = sum;
  }
}
template <class T, class I>
__global__ void csc_segments(const T* __restrict__ data, const I* __restrict__ rows,
                             const index_t* __restrict__ begins, index_t segments,
                             const double* __restrict__ coef, double* __restrict__ partial) {
  sum_segments<false>(data, rows, begins, segments, coef, partial);
}
template <class T, class I>
__global__ void csc_squared(const T* __restrict__ data, const I* __restrict__ rows,
                            const index_t* __restrict__ begins, index_t segments,
                            const double* __restrict__ coef, double* __restrict__ partial) {
  sum_segments<true>(data, rows, begins, segments, coef, partial);
}

// The segments of a column added up, in order.
extern "C" __global__ void add_segments(const double* __restrict__ partial,
                                        const index_t* __restrict__ first, index_t d,
                                        double* __restrict__ out) {
  const index_t j = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= d) return;
  double sum = 0;
  for (index_t g = first[j]; g < first[j + 1]; ++g) sum += partial[g];
  out[j] = sum;
}

// Of dense rows, the sum of the squares of each; the largest is what rounding is charged by.
template <class T>
__global__ void dense_squares(const T* __restrict__ X, index_t n, index_t d,
                              double* __restrict__ squares) {
  const int lane = threadIdx.x % 32;
  const index_t warps = static_cast<index_t>(gridDim.x) * (kThreads / 32);
  for (index_t i = static_cast<index_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32; i < n;
       i += warps) {
    double sum = 0;
    for (index_t j = lane; j < d; j += 32) {
      const double x = number(X[i * d + j]);
      sum += x * x;
    }
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) squares[i] = sum;
  }
}

// Of dense columns, the largest size, over stretches of rows: not finite where an entry is not.
template <class T>
__global__ void dense_sizes(const T* __restrict__ X, index_t n, index_t d,
                            double* __restrict__ partial) {
  const index_t column = static_cast<index_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  if (column >= d) return;
  const index_t stretch = (n + gridDim.x - 1) / gridDim.x;
  const index_t begin = static_cast<index_t>(blockIdx.x) * stretch;
  const index_t end = begin + stretch < n ? begin + stretch : n;
  double most = 0;
  for (index_t i = begin; i < end; ++i) {
    const double size = fabs(number(X[i * d + column]));
    if (!(size <= most) && most == most) most = size;  // what is not a number is kept, too
  }
  partial[static_cast<index_t>(blockIdx.x) * d + column] = most;
}

// scale[k] times some dense rows, in double precision.
template <class T>
__global__ void dense_gather(const T* __restrict__ X, index_t d, const index_t* __restrict__ rows,
                             const double* __restrict__ scale, index_t count,
                             double* __restrict__ out) {
  const index_t total = count * d;
  for (index_t k = static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x; k < total;
       k += static_cast<index_t>(gridDim.x) * kThreads)
    out[k] = scale[k / d] * number(X[rows[k / d] * d + k % d]);
}
