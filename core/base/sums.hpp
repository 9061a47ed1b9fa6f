// Sums that certificates rest on: by groups of 64, and what adds these up loses a few units of the
// last digit however many they are.
#pragma once

#include "core/base/parallel.hpp"

namespace cutplane {

// The positive entries added up, and the negative ones.
struct Sides {
  double positive, negative;
};
Sides sides(const double* a, index_t n, int n_threads);

// |factor a|²
double square(const double* a, double factor, index_t n, int n_threads);

// |a + factor b|²
double square_of_sum(const double* a, const double* b, double factor, index_t n, int n_threads);

// Every size times those of `each` weights in turn: the sum over j of sizes[j] (|w[j * each]| + ...
// + |w[j * each + each - 1]|).
double sized(const double* sizes, const double* w, index_t n, index_t each, int n_threads);

}  // namespace cutplane
