#include "core/multiclass/choices.hpp"

#include <vector>

#include "core/base/multiversion.hpp"
#include "core/base/random_order.hpp"
#include "core/matrix/any_rows.hpp"
#include "core/matrix/block_sums.hpp"

namespace cutplane {
namespace {

template <class Rows>
CUTPLANE_MULTIVERSION void add_changes(const Rows& rows, index_t begin, index_t end,
                                       const MulticlassSample& sample, const std::int32_t* from,
                                       const std::int32_t* to, double* sum) {
  std::vector<index_t> changed(end - begin + 1);
  index_t count = 0;
  for (index_t i = begin; i < end; ++i) {
    changed[count] = i;
    count += from[i] != to[i];
  }
  for (index_t j = 0; j < count; ++j) {
    if (j + kAhead < count) rows.prefetch(rows.at(changed[j + kAhead]));
    const index_t i = changed[j];
    const std::int32_t classes[3] = {to[i], from[i], sample.y[i]};
    const double weight = sample.c ? sample.c[i] : sample.each;
    const double* factor = sample.factor + classes[2] * sample.factor_stride;
    const double up = weight * factor[to[i]], down = -weight * factor[from[i]];
    const double shares[3] = {up, down, -(up + down)};
    rows.axpy_few(rows.at(i), classes, shares, shares[2] == 0.0 ? 2 : 3, sample.classes, sum);
  }
}

}  // namespace

void change_choices(const Matrix& matrix, const MulticlassSample& sample, const std::int32_t* from,
                    const std::int32_t* to, double* out, int n_threads) {
  const index_t n = matrix.rows();
  index_t changes = 0;
  for (index_t i = 0; i < n; ++i) changes += from[i] != to[i];
  visit_rows(matrix, [&](const auto& rows) {
    add_blocks(n, 2 * changes * matrix.entries_per_row(), matrix.cols() * sample.classes, out,
               n_threads, [&](index_t begin, index_t end, double* sum) {
                 add_changes(rows, begin, end, sample, from, to, sum);
               });
  });
}

}  // namespace cutplane
