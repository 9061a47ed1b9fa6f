// Sums of outer products x x', weighed: as a matrix, and times a vector.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/row_products.hpp"

namespace cutplane {

template <class Rows>
CUTPLANE_MULTIVERSION void add_curvature_of_single_rows(const Rows& rows,
                                                        std::span<const std::int64_t> subset,
                                                        index_t begin, index_t end,
                                                        const double* weights, const double* v,
                                                        double* sum) {
  for (index_t s = begin; s < end; ++s) {
    if (s + kAhead < end) rows.prefetch(rows.at(subset[s + kAhead]));
    const index_t i = rows.at(subset[s]);
    rows.axpy(i, weights[s] * rows.dot(i, v), sum);
  }
}

// Rows that are taken eight at a time are scored and added a few hundred at a time: they stay in
// the second cache.
template <class Rows>
void add_curvature(const Rows& rows, std::span<const std::int64_t> subset, index_t begin,
                   index_t end, const double* weights, const double* v, double* sum) {
  if constexpr (Octets<Rows>) {
    std::int64_t places[kRowsTogether];
    double coef[kRowsTogether];
    Rows some = rows;
    some.chosen = places;
    const index_t together = rows_together(rows.d);
    for (index_t start = begin; start < end; start += together) {
      const index_t count = std::min(together, end - start);
      for (index_t k = 0; k < count; ++k) places[k] = rows.at(subset[start + k]);
      score_rows(some, 0, count, v, coef);
      for (index_t k = 0; k < count; ++k) coef[k] *= weights[start + k];
      add_rows(some, 0, count, coef, sum);
    }
  } else {
    add_curvature_of_single_rows(rows, subset, begin, end, weights, v, sum);
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_outer_products(const Rows& rows,
                                              std::span<const std::int64_t> subset, index_t begin,
                                              index_t end, const double* weights, index_t first,
                                              index_t last, double* sum) {
  for (index_t s = begin; s < end; ++s) {
    if (s + kAhead < end) rows.prefetch(rows.at(subset[s + kAhead]));
    rows.outer(rows.at(subset[s]), weights[s], first, last, sum);
  }
}

}  // namespace cutplane
