// What RowMatrix does with a block of rows, written once for every layout.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/any_rows.hpp"
#include "core/matrix/row_matrix.hpp"
#include "core/matrix/row_products.hpp"

namespace cutplane {

// A sparse row is asked for so many rows before its turn.
inline constexpr index_t kRowsAhead = 16;

template <class Rows>
CUTPLANE_MULTIVERSION void score_single_rows(const Rows& rows, index_t begin, index_t end,
                                             const double* w, double* out) {
  for (index_t i = begin; i < end; ++i) {
    if (i + kRowsAhead < end) rows.prefetch_start(rows.at(i + kRowsAhead));
    out[i] = rows.dot_in_order(rows.at(i), w);
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_single_rows(const Rows& rows, const index_t* listed, index_t count,
                                           const double* coef, double* sum) {
  for (index_t k = 0; k < count; ++k) {
    if (k + kRowsAhead < count) rows.prefetch_start(rows.at(listed[k + kRowsAhead]));
    rows.axpy_in_order(rows.at(listed[k]), coef[listed[k]], sum);
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void score_single_rows_many(const Rows& rows, index_t begin, index_t end,
                                                  const double* padded, index_t columns, index_t k,
                                                  double* out) {
  // What padding adds to a row's scores, at most three numbers, the next row overwrites.
  for (index_t i = begin; i + 1 < end; ++i) rows.dot_many(rows.at(i), padded, columns, out + i * k);
  if (begin == end) return;
  std::vector<double> sums(columns);
  rows.dot_many(rows.at(end - 1), padded, columns, sums.data());
  std::copy_n(sums.data(), k, out + (end - 1) * k);
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_single_rows_many(const Rows& rows, index_t begin, index_t end,
                                                const double* coef, index_t k, double* sum) {
  for (index_t i = begin; i < end; ++i) rows.axpy_many(rows.at(i), coef + i * k, k, sum);
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_curvature_of_single_rows(const Rows& rows, Subset subset,
                                                        const double* weights, const double* v,
                                                        double* sum) {
  const index_t count = std::ssize(subset);
  for (index_t s = 0; s < count; ++s) {
    if (s + kAhead < count) rows.prefetch(rows.at(subset[s + kAhead]));
    const index_t i = rows.at(subset[s]);
    rows.axpy(i, weights[s] * rows.dot(i, v), sum);
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void add_single_outer_products(const Rows& rows, Subset subset,
                                                     const double* weights, index_t first,
                                                     index_t last, double* sum) {
  const index_t count = std::ssize(subset);
  for (index_t s = 0; s < count; ++s) {
    if (s + kAhead < count) rows.prefetch(rows.at(subset[s + kAhead]));
    rows.outer(rows.at(subset[s]), weights[s], first, last, sum);
  }
}

template <class Rows>
CUTPLANE_MULTIVERSION void square_single_rows(const Rows& rows, index_t begin, index_t end,
                                              double* out) {
  for (index_t i = begin; i < end; ++i) out[i] = rows.squared_norm(rows.at(i));
}

// Null squares are not asked for.
template <class Rows>
CUTPLANE_MULTIVERSION RowExtent extent_of_single_rows(const Rows& rows, index_t begin, index_t end,
                                                      double* columns, double* squares) {
  RowExtent largest{0.0, 0};
  for (index_t i = begin; i < end; ++i) {
    const index_t row = rows.at(i);
    const double square = rows.survey(row, columns);
    if (squares) squares[i] = square;
    largest.squared_norm = std::max(largest.squared_norm, square);
    largest.entries = std::max(largest.entries, rows.size(row));
  }
  return largest;
}

template <class Rows>
CUTPLANE_MULTIVERSION index_t find_single_unusable(const Rows& rows, index_t begin, index_t end) {
  for (index_t i = begin; i < end; ++i)
    if (!rows.usable(rows.at(i))) return i;
  return -1;
}

template <class Rows>
AnyRows RowMatrix<Rows>::any_rows() const {
  return {rows_};
}

template <class Rows>
void RowMatrix<Rows>::score_rows(index_t begin, index_t end, const double* w, double* out) const {
  if constexpr (Octets<Rows>) {
    if (!rows_.fetch) begin = score_by_octets(rows_, begin, end, w, out);
  }
  score_single_rows(rows_, begin, end, w, out);
}

template <class Rows>
void RowMatrix<Rows>::add_rows(index_t begin, index_t end, const double* coef, double* sum) const {
  list_rows(begin, end, coef, [&](const index_t* listed, index_t count) {
    index_t added = 0;
    if constexpr (Octets<Rows>) {
      if (!rows_.fetch) added = add_by_octets(rows_, listed, count, coef, sum);
    }
    add_listed(listed + added, count - added, coef, sum);
  });
}

template <class Rows>
void RowMatrix<Rows>::add_listed(const index_t* listed, index_t count, const double* coef,
                                 double* sum) const {
  add_single_rows(rows_, listed, count, coef, sum);
}

template <class Rows>
void RowMatrix<Rows>::score_rows_many(index_t begin, index_t end, const double* padded,
                                      index_t columns, index_t k, double* out) const {
  score_single_rows_many(rows_, begin, end, padded, columns, k, out);
}

template <class Rows>
void RowMatrix<Rows>::add_rows_many(index_t begin, index_t end, const double* coef, index_t k,
                                    double* sum) const {
  add_single_rows_many(rows_, begin, end, coef, k, sum);
}

template <class Rows>
void RowMatrix<Rows>::add_curvature(Subset subset, const double* weights, const double* v,
                                    double* sum) const {
  if constexpr (Octets<Rows>) {
    if (!rows_.fetch) {
      RowPlaces places;
      RowMatrix some(*this);
      some.rows_.chosen = places;
      return some.add_curvature_together(rows_.chosen, places, subset, weights, v, sum);
    }
  }
  add_curvature_of_single_rows(rows_, subset, weights, v, sum);
}

template <class Rows>
void RowMatrix<Rows>::add_outer_products(Subset subset, const double* weights, index_t first,
                                         index_t last, double* sum) const {
  add_single_outer_products(rows_, subset, weights, first, last, sum);
}

template <class Rows>
void RowMatrix<Rows>::gather_rows(Subset subset, const double* scale, float* out) const {
  for (std::size_t s = 0; s < subset.size(); ++s, out += rows_.d) {
    std::fill_n(out, rows_.d, 0.0f);
    rows_.axpy(rows_.at(subset[s]), scale[s], out);
  }
}

template <class Rows>
void RowMatrix<Rows>::square_rows(index_t begin, index_t end, double* out) const {
  square_single_rows(rows_, begin, end, out);
}

template <class Rows>
RowExtent RowMatrix<Rows>::survey_rows(index_t begin, index_t end, double* columns,
                                       double* squares) const {
  double longest = 0;
  index_t rest = begin;
  if constexpr (Octets<Rows>) {
    if (!rows_.fetch) rest = survey_by_octets(rows_, begin, end, columns, squares, longest);
  }
  RowExtent found = extent_of_single_rows(rows_, rest, end, columns, squares);
  found.squared_norm = std::max(found.squared_norm, longest);
  if (rest > begin) found.entries = rows_.d;
  return found;
}

template <class Rows>
index_t RowMatrix<Rows>::find_unusable(index_t begin, index_t end) const {
  return find_single_unusable(rows_, begin, end);
}

}  // namespace cutplane
