// Long vectors of weights: sums and mixtures in one threaded sweep.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"

namespace cutplane {

// out = a + t (b - a); out may be a or b.
void mix(const double* a, const double* b, double t, double* out, index_t n, int n_threads);

// direction becomes a + t direction; S: float or double.
template <class S>
void move_along(const S* a, S* direction, double t, index_t n, int n_threads);

// out = factor a + shift; out may be a.
void scale_and_shift(const double* a, double factor, double shift, double* out, index_t n,
                     int n_threads);

// The positions of the entries that are not zero, ascending.
std::vector<std::int64_t> nonzero(const double* a, index_t n, int n_threads);

// All entries added up.
double sum(const double* a, index_t n, int n_threads);

// out = a with the heavier side scaled down until entries sum to zero; out may be a.
void balance(const double* a, double* out, index_t n, int n_threads);

// Whether all of these positions are those of n items.
bool all_within(const std::int64_t* positions, index_t count, index_t n, int n_threads);

// out = the sum of weights[k] times the k-th of `count` vectors in single precision, added up in
// double.
void combine(const float* const* vectors, const double* weights, index_t count, double* out,
             index_t n, int n_threads);

// <a, b>
double inner(const double* a, const double* b, index_t n, int n_threads);

// |b - a|^2 and <a, b - a>
struct Along {
  double square, slope;
};
Along along(const double* a, const double* b, index_t n, int n_threads);

// Sums that certificates rest on: by groups of 64, and what adds these up loses a few units of the
// last digit however many they are.

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
