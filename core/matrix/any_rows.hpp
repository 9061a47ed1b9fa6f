// One way to visit the rows of a matrix, whatever its layout.
//
// visit_rows(matrix, visit) calls visit(rows) with rows of one of the types below, so that loops
// over them are compiled for each. They offer at, dot, axpy, dot_many, ... on one row. Rows of
// rarer layouts (columns that are contiguous, values of one or two bytes, floats with wide indices)
// are fetched into a buffer of the thread, row by row, and are then rows of one of these types.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "core/matrix/csr_rows.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

struct AnyRows {
  std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float, std::int32_t>,
               CsrRows<double, std::int32_t>, CsrRows<double, std::int64_t>>
      rows;
};

template <class Visit>
void visit_rows(const Matrix& matrix, Visit&& visit) {
  std::visit(std::forward<Visit>(visit), matrix.any_rows().rows);
}

}  // namespace cutplane
