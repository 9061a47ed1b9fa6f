// One way to visit the rows of a matrix, whatever its layout.
//
// visit_rows(matrix, visit) calls visit(rows) with the rows' own type, so that loops over them are
// compiled for each layout. `Rows` of every layout offer at, dot, axpy, dot_many, ... on one row; a
// new layout is a type of rows, its name here, and a matrix that answers with it.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "core/matrix/csr_rows.hpp"
#include "core/matrix/dense_rows.hpp"
#include "core/matrix/matrix.hpp"
#include "core/matrix/narrow_rows.hpp"
#include "core/matrix/strided_rows.hpp"

namespace cutplane {

struct AnyRows {
  std::variant<DenseRows<float>, DenseRows<double>, StridedRows<float>, StridedRows<double>,
               NarrowRows, CsrRows<float, std::int32_t>, CsrRows<float, std::int64_t>,
               CsrRows<double, std::int32_t>, CsrRows<double, std::int64_t>>
      rows;
};

template <class Visit>
void visit_rows(const Matrix& matrix, Visit&& visit) {
  std::visit(std::forward<Visit>(visit), matrix.any_rows().rows);
}

}  // namespace cutplane
