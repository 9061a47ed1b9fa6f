// Sums over examples for many classes at once, each against the rest. Scores and coefficients are
// matrices by rows, a column for each class; a thread goes down a column. In front of this text
// stand a prelude and kernels.cu.
//
// What shows the way is in single precision. What is proven is in double precision.

// The matrix is cut into stretches of rows (blockIdx.x) and tiles of columns (blockIdx.y); threads
// lie side by side in the columns and one below the other.
#define CUTPLANE_STRETCH                                                         \
  const index_t k = static_cast<index_t>(blockIdx.y) * blockDim.x + threadIdx.x; \
  const index_t stretch = (n + gridDim.x - 1) / gridDim.x;                       \
  const index_t begin = static_cast<index_t>(blockIdx.x) * stretch;              \
  const index_t end = begin + stretch < n ? begin + stretch : n;

// Rows that are summed up in single precision before they are added to what is in double precision.
enum { kChunk = 256 };

#define CUTPLANE_EACH_CHUNK for (index_t chunk = begin; chunk < end; chunk += kChunk)
#define CUTPLANE_EACH_ROW                                   \
  _Pragma("unroll 4") for (index_t i = chunk + threadIdx.y; \
                           i < (chunk + kChunk < end ? chunk + kChunk : end); i += blockDim.y)

// The examples: classes, weights (null: all are `each`), and the class of each column.
#define CUTPLANE_CLASSES                                                  \
  const int *__restrict__ codes, const float *__restrict__ c, float each, \
      const int *__restrict__ classes, index_t n, index_t columns

// Adds up what the threads below each other have, and writes it: Q sums a column.
template <int Q>
CUTPLANE_INLINE void add_down(double (&mine)[Q], index_t k, index_t columns, double* partial) {
  extern __shared__ double below[];
  const int size = blockDim.x * blockDim.y, at = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int q = 0; q < Q; ++q) below[q * size + at] = mine[q];
  __syncthreads();
  if (threadIdx.y == 0 && k < columns) {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      double sum = 0;
      for (int y = 0; y < blockDim.y; ++y) sum += below[q * size + y * blockDim.x + threadIdx.x];
      partial[(static_cast<index_t>(blockIdx.x) * columns + k) * Q + q] = sum;
    }
  }
}

// ---- losses of a margin m = y s ----------------------------------------------------------------

// At a margin: the loss, minus its slope p (rounded over h), what p proves, and the curvature.
template <class R>
struct MarginAt {
  R value, p, height, curvature;
};

CUTPLANE_INLINE float exponential(float x) { return __expf(x); }
CUTPLANE_INLINE double exponential(double x) { return ::exp(x); }
CUTPLANE_INLINE float log_one_plus(float x) { return log1pf(x); }
CUTPLANE_INLINE double log_one_plus(double x) { return ::log1p(x); }

struct HingeMargin {
  template <class R>
  static CUTPLANE_INLINE MarginAt<R> at(R m, R h) {
    const R z = R(1) - m, raw = z / h + R(0.5);
    const R p = raw < R(0) ? R(0) : (raw > R(1) ? R(1) : raw);
    return {z > R(0) ? z : R(0), p, p, raw == p ? R(1) / h : R(0)};
  }
  // p as if examples on a kink of width `reach` stayed on it.
  static CUTPLANE_INLINE float further(float m, float h, float reach) {
    const float z = 1.0f - m;
    return fabsf(z) <= 0.5f * reach ? z / h + 0.5f : (z > 0.0f ? 1.0f : 0.0f);
  }
  static CUTPLANE_INLINE double height(double p) { return p; }
  static CUTPLANE_INLINE double steepness(double m, double off) {
    return m < 1.0 + off ? 1.0 : 0.0;
  }
};

struct SquaredHingeMargin {
  template <class R>
  static CUTPLANE_INLINE MarginAt<R> at(R m, R) {
    const R z = m < R(1) ? R(1) - m : R(0);
    return {z * z, R(2) * z, z * (R(2) - z), m < R(1) ? R(2) : R(0)};
  }
  static CUTPLANE_INLINE float further(float m, float h, float) { return at(m, h).p; }
  static CUTPLANE_INLINE double height(double p) { return p * (1.0 - 0.25 * p); }
  static CUTPLANE_INLINE double steepness(double m, double off) {
    const double z = 1.0 - m + off;
    return z > 0.0 ? 2.0 * z : 0.0;
  }
};

struct LogisticMargin {
  template <class R>
  static CUTPLANE_INLINE MarginAt<R> at(R m, R) {
    const R size = m < R(0) ? -m : m, small = exponential(-size);
    const R less = small / (R(1) + small), rest = log_one_plus(small);
    return {m > R(0) ? rest : rest - m, m > R(0) ? less : R(1) - less, rest + less * size,
            less * (R(1) - less)};
  }
  static CUTPLANE_INLINE float further(float m, float h, float) { return at(m, h).p; }
  static CUTPLANE_INLINE double height(double p) {
    const double first = p > 0.0 ? p * ::log(p) : 0.0;
    const double second = p < 1.0 ? (1.0 - p) * ::log1p(-p) : 0.0;
    return -first - second;
  }
  static CUTPLANE_INLINE double steepness(double m, double off) {
    return off < m ? ::exp(off - m) : 1.0;
  }
};

// ---- in single precision -----------------------------------------------------------------------

// The risk rounded over h: coefficients, then value, offset, coefficients and h times curvatures
// added up.
template <class L>
__global__ void class_smoothed(CUTPLANE_CLASSES, const float* __restrict__ S,
                               const float* __restrict__ h, float* __restrict__ coef,
                               double* __restrict__ partial) {
  CUTPLANE_STRETCH
  double mine[4] = {0, 0, 0, 0};
  if (k < columns) {
    const float width = h[k];
    const int mine_is = classes[k];
    CUTPLANE_EACH_CHUNK {
      float part[4] = {0, 0, 0, 0};
      CUTPLANE_EACH_ROW {
        const float y = codes[i] == mine_is ? 1.0f : -1.0f, weight = c ? c[i] : each;
        const MarginAt<float> at = L::at(y * S[i * columns + k], width);
        const float slope = -y * weight * at.p;
        coef[i * columns + k] = slope;
        part[0] += weight * at.value;
        part[1] += weight * at.height;
        part[2] += slope;
        part[3] += weight * width * at.curvature;
      }
#pragma unroll
      for (int q = 0; q < 4; ++q) mine[q] += part[q];
    }
  }
  add_down(mine, k, columns, partial);
}

// Coefficients over h as if the examples on a kink of width `reach` stayed on it, and their sum.
template <class L>
__global__ void class_extrapolated(CUTPLANE_CLASSES, const float* __restrict__ S,
                                   const float* __restrict__ h, const float* __restrict__ reach,
                                   float* __restrict__ coef, double* __restrict__ partial) {
  CUTPLANE_STRETCH
  double mine[1] = {0};
  if (k < columns) {
    const float width = h[k], from = reach[k];
    const int mine_is = classes[k];
    CUTPLANE_EACH_CHUNK {
      float part = 0;
      CUTPLANE_EACH_ROW {
        const float y = codes[i] == mine_is ? 1.0f : -1.0f, weight = c ? c[i] : each;
        const float slope = -y * weight * L::further(y * S[i * columns + k], width, from);
        coef[i * columns + k] = slope;
        part += slope;
      }
      mine[0] += part;
    }
  }
  add_down(mine, k, columns, partial);
}

// h times the second derivatives of the risk rounded over h; times D where there is one, which they
// may be written to.
template <class L>
__global__ void class_bent(CUTPLANE_CLASSES, const float* __restrict__ S,
                           const float* __restrict__ h, const float* D, float* out) {
  CUTPLANE_STRETCH
  if (k >= columns) return;
  const float width = h[k];
  const int mine_is = classes[k];
  CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW {
    const float y = codes[i] == mine_is ? 1.0f : -1.0f, weight = c ? c[i] : each;
    const float bend = weight * width * L::at(y * S[i * columns + k], width).curvature;
    out[i * columns + k] = D ? bend * D[i * columns + k] : bend;
  }
}

// Slope and curvature of the risk rounded over h at S + t D (no D: the constant 1).
template <class L>
__global__ void class_along(CUTPLANE_CLASSES, const float* __restrict__ S,
                            const float* __restrict__ D, const float* __restrict__ t,
                            const float* __restrict__ h, double* __restrict__ partial) {
  CUTPLANE_STRETCH
  double mine[2] = {0, 0};
  if (k < columns) {
    const float width = h[k], step = t[k];
    const int mine_is = classes[k];
    CUTPLANE_EACH_CHUNK {
      float slope = 0, bend = 0;
      CUTPLANE_EACH_ROW {
        const float y = codes[i] == mine_is ? 1.0f : -1.0f, weight = c ? c[i] : each;
        const float direction = D ? D[i * columns + k] : 1.0f;
        const MarginAt<float> at = L::at(y * (S[i * columns + k] + step * direction), width);
        slope += -y * weight * at.p * direction;
        bend += weight * at.curvature * direction * direction;
      }
      mine[0] += slope;
      mine[1] += bend;
    }
  }
  add_down(mine, k, columns, partial);
}

// a A + b B, column by column, written to A (no B: the constant 1).
extern "C" __global__ void class_mixed(float* __restrict__ A, const float* __restrict__ B,
                                       const float* __restrict__ a, const float* __restrict__ b,
                                       index_t n, index_t columns) {
  CUTPLANE_STRETCH
  if (k >= columns) return;
  const float mine = a[k], other = b[k];
  CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW {
    A[i * columns + k] = mine * A[i * columns + k] + other * (B ? B[i * columns + k] : 1.0f);
  }
}

// Rows divided by 1 + a[k] times a number of the row's.
extern "C" __global__ void class_damped(float* __restrict__ A, const float* __restrict__ values,
                                        const float* __restrict__ a, index_t n, index_t columns) {
  CUTPLANE_STRETCH
  if (k >= columns) return;
  const float mine = a[k];
  CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW { A[i * columns + k] /= 1.0f + mine * values[i]; }
}

// What the products of two matrices add up to, column by column.
extern "C" __global__ void class_dots(const float* __restrict__ A, const float* __restrict__ B,
                                      index_t n, index_t columns, double* __restrict__ partial) {
  CUTPLANE_STRETCH
  double mine[1] = {0};
  if (k < columns) {
    CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW {
      mine[0] += static_cast<double>(A[i * columns + k]) * B[i * columns + k];
    }
  }
  add_down(mine, k, columns, partial);
}

// Some columns of a matrix.
extern "C" __global__ void class_picked(const float* __restrict__ A, const int* __restrict__ which,
                                        index_t n, index_t all, index_t columns,
                                        float* __restrict__ out) {
  CUTPLANE_STRETCH
  if (k >= columns) return;
  const index_t from = which[k];
  CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW { out[i * columns + k] = A[i * all + from]; }
}

// ---- in double precision -----------------------------------------------------------------------

// Scores without their intercepts b become the coefficients of a plane below the risk, those of
// either side scaled by a factor. Then the risk, how steep it is within `off` of the scores, the
// plane's offset, and what its positive and its negative coefficients add up to. Without `write`
// scores stay.
template <class L>
__global__ void class_proven(const int* __restrict__ codes, const double* __restrict__ c,
                             double each, const int* __restrict__ classes, index_t n,
                             index_t columns, double* __restrict__ S, const double* __restrict__ b,
                             const double* __restrict__ h, const double* __restrict__ off,
                             const double* __restrict__ rising, const double* __restrict__ falling,
                             int write, double* __restrict__ partial) {
  CUTPLANE_STRETCH
  double mine[5] = {0, 0, 0, 0, 0};
  if (k < columns) {
    const double width = h[k], shift = b[k], up = rising[k], down = falling[k], delta = off[k];
    const int mine_is = classes[k];
    CUTPLANE_EACH_CHUNK CUTPLANE_EACH_ROW {
      const double y = codes[i] == mine_is ? 1.0 : -1.0, weight = c ? c[i] : each;
      const double m = y * (S[i * columns + k] + shift);
      const MarginAt<double> at = L::at(m, width);
      const double p = at.p * (y < 0.0 ? up : down);
      if (write) S[i * columns + k] = -y * weight * p;
      mine[0] += weight * at.value;
      mine[1] += weight * L::steepness(m, delta);
      mine[2] += weight * L::height(p);
      mine[3] += y < 0.0 ? weight * p : 0.0;
      mine[4] += y < 0.0 ? 0.0 : weight * p;
    }
  }
  add_down(mine, k, columns, partial);
}
