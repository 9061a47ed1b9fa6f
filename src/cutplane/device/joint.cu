// Passes for classes that are one problem: tables of n rows and a column for each class. A warp goes
// through a row, and through every so many rows. In front of this text stand a prelude and
// kernels.cu.
//
// An example has a weight p on each class and a slack s of each class's line. What shows the way is
// in single precision, what is proven in double.

// What weights and slacks never fall below, and what the weights of a plane leave to one for their
// rounding.
constexpr float kLeastWeight = 1e-20f, kLeastSlack = 1e-12f;
constexpr double kLeftToOne = 1e-12;

#define CUTPLANE_EACH_TABLE_ROW                                                           \
  const int lane = threadIdx.x % 32;                                                      \
  for (index_t i = static_cast<index_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32; \
       i < n; i += static_cast<index_t>(gridDim.x) * (kThreads / 32))

#define CUTPLANE_EACH_CLASS for (index_t k = lane; k < classes; k += 32)

// The examples: classes, weights (null: all are `each`), and the tables of weights and slacks.
#define CUTPLANE_INTERIOR                                                                    \
  const int *__restrict__ codes, const float *__restrict__ c, float each, index_t n,         \
      index_t classes, const float *__restrict__ p, const float *__restrict__ s

template <class R>
CUTPLANE_INLINE R row_sum(R x) {
  for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}

template <class R>
CUTPLANE_INLINE R row_most(R x) {
  for (int offset = 16; offset; offset /= 2) {
    const R other = __shfl_xor_sync(0xffffffffu, x, offset);
    x = other > x ? other : x;
  }
  return x;
}

// ---- in single precision -----------------------------------------------------------------------

// Coefficients of the plane of the weights; the risk, the plane's offset, and weights times slacks
// added up.
extern "C" __global__ void joint_plane(CUTPLANE_INTERIOR, const float* __restrict__ cost,
                                       float* __restrict__ coef, double* __restrict__ partial) {
  double mine[3] = {0, 0, 0};
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes, own = codes[i];
    const float weight = c ? c[i] : each;
    float others = 0, offset = 0, product = 0, nearest = -3e38f;
    CUTPLANE_EACH_CLASS {
      const float here = p[row + k], slack = s[row + k];
      product += here * slack;
      nearest = -slack > nearest ? -slack : nearest;
      if (k == own) continue;
      others += here;
      offset += here * cost[own * classes + k];
      coef[row + k] = weight * here;
    }
    others = row_sum(others);
    offset = row_sum(offset);
    product = row_sum(product);
    nearest = row_most(nearest);
    if (lane == 0) {
      coef[row + own] = -weight * others;
      mine[0] += static_cast<double>(weight) * (s[row + own] + nearest);
      mine[1] += static_cast<double>(weight) * offset;
      mine[2] += static_cast<double>(weight) * product;
    }
  }
  add_up<3>(mine, partial);
}

// Coefficients after a step that changes no score, towards weights times slacks of `target`.
extern "C" __global__ void joint_aimed(CUTPLANE_INTERIOR, float target,
                                       float* __restrict__ coef) {
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes, own = codes[i];
    const float weight = c ? c[i] : each;
    float total = 0, lack = 0;
    CUTPLANE_EACH_CLASS {
      const float here = p[row + k], slack = s[row + k];
      total += here / slack;
      lack += target / slack - here;
    }
    const float level = row_sum(lack) / row_sum(total);
    CUTPLANE_EACH_CLASS {
      const float slack = s[row + k];
      const float found = (target - p[row + k] * level) / slack;
      coef[row + k] = weight * (k == own ? found - 1.0f : found);
    }
  }
}

// How coefficients change with scores that change by D, which they may be written to; without D
// the diagonal of that.
extern "C" __global__ void joint_bent(CUTPLANE_INTERIOR, const float* D, float* out) {
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes;
    const float weight = c ? c[i] : each;
    float total = 0, along = 0;
    CUTPLANE_EACH_CLASS {
      const float theta = p[row + k] / s[row + k];
      total += theta;
      if (D) along += theta * D[row + k];
    }
    total = row_sum(total);
    const float mean = row_sum(along) / total;
    CUTPLANE_EACH_CLASS {
      const float theta = p[row + k] / s[row + k];
      out[row + k] = weight * theta * (D ? D[row + k] - mean : 1.0f - theta / total);
    }
  }
}

// Numbers whose products, of two classes, are minus what is beside the diagonal.
extern "C" __global__ void joint_shares(CUTPLANE_INTERIOR, float* __restrict__ out) {
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes;
    const float weight = c ? c[i] : each;
    float total = 0;
    CUTPLANE_EACH_CLASS total += p[row + k] / s[row + k];
    const float share = sqrtf(weight / row_sum(total));
    CUTPLANE_EACH_CLASS out[row + k] = share * (p[row + k] / s[row + k]);
  }
}

// The step whose scores change by D: weights go as far as they can, up to `most` of their way to
// zero, and a level rises where slacks would lose more than that.
extern "C" __global__ void joint_moved(index_t n, index_t classes, float* __restrict__ p,
                                       float* __restrict__ s, const float* __restrict__ D,
                                       float target, float most) {
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes;
    float total = 0, lack = 0, along = 0;
    CUTPLANE_EACH_CLASS {
      const float here = p[row + k], slack = s[row + k], theta = here / slack;
      total += theta;
      lack += target / slack - here;
      along += theta * D[row + k];
    }
    const float level = (row_sum(lack) + row_sum(along)) / row_sum(total);
    float steepest = 0, lift = 0;
    CUTPLANE_EACH_CLASS {
      const float here = p[row + k], slack = s[row + k];
      const float rise = level - D[row + k];
      const float change = (target - here * rise) / slack - here;
      const float steep = -change / here;
      steepest = steep > steepest ? steep : steepest;
      const float short_by = -most * slack - rise;
      lift = short_by > lift ? short_by : lift;
    }
    steepest = row_most(steepest);
    lift = row_most(lift);
    const float step = steepest > most ? most / steepest : 1.0f;
    float sum = 0;
    CUTPLANE_EACH_CLASS {
      const float here = p[row + k], slack = s[row + k];
      const float rise = level - D[row + k];
      const float change = (target - here * rise) / slack - here;
      const float next = here + step * change, left = slack + rise + lift;
      const float weight = next > kLeastWeight ? next : kLeastWeight;
      sum += weight;
      p[row + k] = weight;
      s[row + k] = left > kLeastSlack ? left : kLeastSlack;
    }
    sum = row_sum(sum);
    CUTPLANE_EACH_CLASS p[row + k] /= sum;
  }
}

// ---- in double precision -----------------------------------------------------------------------

// Scores without their intercepts b become the coefficients of the plane of the weights, of which
// the fractions `kept` of flows stay (null: all of them). Then the risk, the plane's offset, and
// what sizes of coefficients add up to.
extern "C" __global__ void joint_proven(const int* __restrict__ codes, const double* __restrict__ c,
                                        double each, index_t n, index_t classes,
                                        const double* __restrict__ cost,
                                        const float* __restrict__ p, double* __restrict__ S,
                                        const double* __restrict__ b,
                                        const double* __restrict__ kept,
                                        double* __restrict__ partial) {
  double mine[3] = {0, 0, 0};
  CUTPLANE_EACH_TABLE_ROW {
    const index_t row = i * classes, own = codes[i];
    const double weight = c ? c[i] : each, score = S[row + own] + b[own];
    __syncwarp();
    double highest = 0, total = 0;
    CUTPLANE_EACH_CLASS {
      const double line = cost[own * classes + k] + ((S[row + k] + b[k]) - score);
      highest = line > highest ? line : highest;
      total += k != own && p[row + k] > 0.0f ? static_cast<double>(p[row + k]) : 0.0;
    }
    highest = row_most(highest);
    total = row_sum(total);
    const double most = 1.0 - kLeftToOne, scale = weight * (total > most ? most / total : 1.0);
    double others = 0, offset = 0;
    CUTPLANE_EACH_CLASS {
      if (k == own || !(p[row + k] > 0.0f)) {
        S[row + k] = 0.0;
        continue;
      }
      const double flow = scale * p[row + k] * (kept ? kept[own * classes + k] : 1.0);
      S[row + k] = flow;
      others += flow;
      offset += flow * cost[own * classes + k];
    }
    others = row_sum(others);
    offset = row_sum(offset);
    __syncwarp();
    if (lane == 0) {
      S[row + own] = -others;
      mine[0] += weight * highest;
      mine[1] += offset;
      mine[2] += 2.0 * others;
    }
  }
  add_up<3>(mine, partial);
}
