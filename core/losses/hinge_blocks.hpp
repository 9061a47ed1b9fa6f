// The hinge over a block of examples, as it is and rounded: coefficients and sums.
#pragma once

#include <cmath>

#include "core/losses/hinge_examples.hpp"

namespace cutplane::hinge {

template <class E>
CUTPLANE_MULTIVERSION Sums<1> value_block(E e, index_t begin, index_t end) {
  Sums<1> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double value = 0;
#pragma omp simd reduction(+ : value)
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * at.s[k];
          value += at.weight(k) * (z > 0.0 ? z : 0.0);
        }
        total[0] += value;
      });
  return total;
}

// At s + mu times the direction. coefs, here and below: those of examples begin to end - 1.
template <class E>
CUTPLANE_MULTIVERSION Sums<2> cut_block(E e, double mu, double* coefs, index_t begin, index_t end) {
  Sums<2> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.y - e.y - begin);
        double value = 0, offset = 0;
#pragma omp simd reduction(+ : value, offset)
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * (at.s[k] + mu * at.direction(k));
          const double active = z >= 0.0 ? at.weight(k) : 0.0;
          value += active * z;
          offset += active;
          coef[k] = -labels[k] * active;
        }
        total[0] += value;
        total[1] += offset;
      });
  return total;
}

// Sums of SmoothedHinge.
template <class E>
CUTPLANE_MULTIVERSION Sums<4> smoothed_block(E e, double h, double* coefs, index_t begin,
                                             index_t end) {
  const double per_h = 1.0 / h;
  Sums<4> total{};
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.y - e.y - begin);
        double value = 0, offset = 0, error = 0, kinks = 0;
#pragma omp simd reduction(+ : value, offset, error, kinks)
        for (index_t k = 0; k < count; ++k) {
          const double c = at.weight(k);
          const double z = 1.0 - labels[k] * at.s[k];
          const double raw = z * per_h + 0.5;
          const double above = raw > 0.0 ? raw : 0.0;
          const double pi = above < 1.0 ? above : 1.0;
          const double hinge = z > 0.0 ? z : 0.0;
          value += c * hinge;
          offset += c * pi;
          error += c * (hinge - pi * z);
          kinks += raw == pi ? 1.0 : 0.0;
          coef[k] = -labels[k] * c * pi;
        }
        total[0] += value;
        total[1] += offset;
        total[2] += error;
        total[3] += kinks;
      });
  return total;
}

template <class E>
CUTPLANE_MULTIVERSION void extrapolated_block(E e, double h, double reach, double* coefs,
                                              index_t begin, index_t end) {
  const double per_h = 1.0 / h;
  const double half = 0.5 * reach;
  by_chunks(
      e, begin, end, CUTPLANE_CHUNK {
        double* __restrict coef = coefs + (at.y - e.y - begin);
#pragma omp simd
        for (index_t k = 0; k < count; ++k) {
          const double z = 1.0 - labels[k] * at.s[k];
          const double beyond = z > 0.0 ? 1.0 : 0.0;
          const double inside = z * per_h + 0.5;
          const double pi = std::abs(z) <= half ? inside : beyond;
          coef[k] = -labels[k] * at.weight(k) * pi;
        }
      });
}

}  // namespace cutplane::hinge
