// Vectors of N doubles, as many as a register of the machine has: the same loops for all of them
// (core/base/multiversion.hpp calls them with the N of the machine). A vector that is wider than
// the registers would live in memory.
#pragma once

#include <cstdint>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

#ifdef __aarch64__
#include <arm_neon.h>
#endif

namespace cutplane {

// By reference throughout: how vectors are passed by value depends on the instruction set.
template <int N>
struct LanesOf {
  typedef double type __attribute__((vector_size(N * sizeof(double))));
  typedef std::int64_t mask __attribute__((vector_size(N * sizeof(double))));
  // In arrays, where they may begin at any number.
  typedef double stored
      __attribute__((vector_size(N * sizeof(double)), aligned(sizeof(double)), may_alias));
  typedef float single
      __attribute__((vector_size(N * sizeof(float)), aligned(sizeof(float)), may_alias));
};

template <int N>
using Lanes = typename LanesOf<N>::type;

template <int N>
CUTPLANE_INLINE void load(const double* from, Lanes<N>& out) {
  out = *reinterpret_cast<const typename LanesOf<N>::stored*>(from);
}
template <int N>
CUTPLANE_INLINE void load(const float* from, Lanes<N>& out) {
#ifdef __aarch64__
  if constexpr (N == 2) {  // which GCC 12 converts one by one
    out = vcvt_f64_f32(vld1_f32(from));
    return;
  }
#endif
  out = __builtin_convertvector(*reinterpret_cast<const typename LanesOf<N>::single*>(from),
                                Lanes<N>);
}

// The same where with_lanes has found the N of the machine, and only there: in one instruction. GCC
// cuts conversions of wide vectors into pieces before it inlines them into a function whose
// instruction set has them whole.
template <int N>
CUTPLANE_INLINE void load_at_once(const double* from, Lanes<N>& out) {
  load<N>(from, out);
}
template <int N>
CUTPLANE_INLINE void load_at_once(const float* from, Lanes<N>& out) {
#ifdef __x86_64__
  if constexpr (N >= 4) {
    using Singles = typename LanesOf<N>::single;
    asm("vcvtps2pd %1, %0" : "=v"(out) : "m"(*reinterpret_cast<const Singles*>(from)));
    return;
  }
#endif
  load<N>(from, out);
}

// most = the larger of itself and |x|, where with_lanes has found N. `sizes`: no_sign of that N.
template <int N>
CUTPLANE_INLINE void no_sign(Lanes<N>& sizes) {
  const typename LanesOf<N>::mask bits = typename LanesOf<N>::mask{} + INT64_MAX;
  sizes = (Lanes<N>)bits;  // the bits as they are
}
template <int N>
CUTPLANE_INLINE void raise(const Lanes<N>& x, [[maybe_unused]] const Lanes<N>& sizes,
                           Lanes<N>& most) {
#ifdef __aarch64__
  if constexpr (N == 2) {
    most = vmaxq_f64(most, vabsq_f64(x));
    return;
  }
#endif
#ifdef __x86_64__
  if constexpr (N >= 4) {
    Lanes<N> size;
    asm("vandpd %2, %1, %0" : "=v"(size) : "v"(x), "v"(sizes));
    asm("vmaxpd %1, %0, %0" : "+v"(most) : "v"(size));
    return;
  }
#endif
  for (int l = 0; l < N; ++l) {
    const double size = x[l] < 0.0 ? -x[l] : x[l];
    most[l] = most[l] > size ? most[l] : size;
  }
}

template <int N>
CUTPLANE_INLINE void store(const Lanes<N>& value, double* to) {
  *reinterpret_cast<typename LanesOf<N>::stored*>(to) = value;
}

// Eight of something, written out: what compilers leave as a loop they keep in memory.
template <class Body>
CUTPLANE_INLINE void eight_times(const Body& body) {
  body(0), body(1), body(2), body(3), body(4), body(5), body(6), body(7);
}

// As many as every version of a function with CUTPLANE_MULTIVERSION has, but for machines of long
// ago.
#ifdef CUTPLANE_CLONES
inline constexpr int kCommonLanes = 4;
#else
inline constexpr int kCommonLanes = kRegisterLanes < 4 ? kRegisterLanes : 4;
#endif

// The last N of d numbers, d >= N, with zero for those that whole groups from the beginning have
// met.
template <int N>
CUTPLANE_INLINE void load_last(const double* from, index_t d, Lanes<N>& out) {
  for (int l = 0; l < N; ++l) out[l] = l >= N - d % N ? from[d - N + l] : 0.0;
}

// out[r] = the sum of the numbers of row r. Rows are added in pairs that share a vector, then pairs
// of pairs: a third of the work of one row after the other.
CUTPLANE_INLINE void sum_each(const Lanes<2> (&rows)[8], double* out) {
  const auto pair = [&](int r) CUTPLANE_INLINED {
    store<2>(__builtin_shufflevector(rows[r], rows[r + 1], 0, 2) +
                 __builtin_shufflevector(rows[r], rows[r + 1], 1, 3),
             out + r);
  };
  pair(0), pair(2), pair(4), pair(6);
}
CUTPLANE_INLINE void sum_each(const Lanes<4> (&rows)[8], double* out) {
  Lanes<4> pairs[4];
  const auto pair = [&](int p) CUTPLANE_INLINED {
    pairs[p] = __builtin_shufflevector(rows[2 * p], rows[2 * p + 1], 0, 4, 2, 6) +
               __builtin_shufflevector(rows[2 * p], rows[2 * p + 1], 1, 5, 3, 7);
  };
  pair(0), pair(1), pair(2), pair(3);
  const auto four = [&](int p) CUTPLANE_INLINED {
    store<4>(__builtin_shufflevector(pairs[p], pairs[p + 1], 0, 1, 4, 5) +
                 __builtin_shufflevector(pairs[p], pairs[p + 1], 2, 3, 6, 7),
             out + 2 * p);
  };
  four(0), four(2);
}
CUTPLANE_INLINE void sum_each(const Lanes<8> (&rows)[8], double* out) {
  Lanes<8> pairs[4], fours[2];
  const auto pair = [&](int p) CUTPLANE_INLINED {
    pairs[p] = __builtin_shufflevector(rows[2 * p], rows[2 * p + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
               __builtin_shufflevector(rows[2 * p], rows[2 * p + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  };
  pair(0), pair(1), pair(2), pair(3);
  const auto four = [&](int f) CUTPLANE_INLINED {
    fours[f] = __builtin_shufflevector(pairs[2 * f], pairs[2 * f + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
               __builtin_shufflevector(pairs[2 * f], pairs[2 * f + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  };
  four(0), four(1);
  store<8>(__builtin_shufflevector(fours[0], fours[1], 0, 1, 2, 3, 8, 9, 10, 11) +
               __builtin_shufflevector(fours[0], fours[1], 4, 5, 6, 7, 12, 13, 14, 15),
           out);
}

}  // namespace cutplane
