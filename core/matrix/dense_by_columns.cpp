// Passes over a dense matrix whose columns are contiguous (Fortran order, a transposed array, a
// DataFrame's block): by tiles of its columns, and else by rows that are fetched.
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "core/base/multiversion.hpp"
#include "core/matrix/row_matrix.hpp"

namespace cutplane {
namespace {

// A tile of scores stays in cache while the columns go by.
constexpr index_t kTile = 2048;

template <class T>
struct Columns {
  const std::byte* values;
  index_t stride, item;  // bytes from one column to the next, and from one value to the next
  std::optional<NarrowType> type;  // of values that become floats

  CUTPLANE_INLINE const std::byte* place(index_t i, index_t j) const {
    return values + i * item + j * stride;
  }

  // Values `begin` to `end` - 1 of a column, where they lie or in `room`. Inlined, the choice
  // between the two would keep GCC from making vectors of the loops over them.
  __attribute__((noinline)) const T* part(index_t j, index_t begin, index_t end, T* room) const {
    const std::byte* from = place(begin, j);
    if (!type) return reinterpret_cast<const T*>(from);
    if constexpr (std::is_same_v<T, float>) widen(*type, &from, 1, end - begin, 1, room, 0);
    return room;
  }
  void copy_row(index_t i, index_t d, T* to) const {
    const std::byte* from = place(i, 0);
    if constexpr (std::is_same_v<T, float>) {
      if (type) return widen(*type, &from, 1, d, stride / item, to, 0);
    }
    for (index_t j = 0; j < d; ++j, from += stride) to[j] = *reinterpret_cast<const T*>(from);
  }
};

template <class T>
CUTPLANE_MULTIVERSION void score_tile(const Columns<T>& columns, index_t d, index_t begin,
                                      index_t end, const double* w, double* out) {
  T room[kTile];
  const index_t size = end - begin;
  out += begin;
  for (index_t i = 0; i < size; ++i) out[i] = 0.0;
  for (index_t j = 0; j < d; ++j) {
    const double weight = w[j];
    if (weight == 0.0) continue;
    const T* column = columns.part(j, begin, end, room);
#pragma omp simd
    for (index_t i = 0; i < size; ++i) out[i] += static_cast<double>(column[i]) * weight;
  }
}

template <class T>
CUTPLANE_MULTIVERSION void combine_tile(const Columns<T>& columns, index_t d, index_t begin,
                                        index_t end, const double* coef, double* sum) {
  T room[kTile];
  const index_t size = end - begin;
  coef += begin;
  for (index_t j = 0; j < d; ++j) {
    const T* column = columns.part(j, begin, end, room);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (index_t i = 0; i < size; ++i) total += static_cast<double>(column[i]) * coef[i];
    sum[j] += total;
  }
}

template <class T>
CUTPLANE_MULTIVERSION double survey_tile(const Columns<T>& columns, index_t d, index_t begin,
                                         index_t end, double* largest_sizes, double* squares) {
  T room[kTile];
  double own[kTile];
  squares = squares ? squares + begin : own;
  std::fill_n(squares, end - begin, 0.0);
  for (index_t j = 0; j < d; ++j) {
    const T* column = columns.part(j, begin, end, room);
    double largest = largest_sizes[j];
#pragma omp simd reduction(max : largest)
    for (index_t i = 0; i < end - begin; ++i) {
      const double size = std::abs(static_cast<double>(column[i]));
      squares[i] += size * size;
      largest = largest > size ? largest : size;
    }
    largest_sizes[j] = largest;
  }
  return *std::max_element(squares, squares + (end - begin));
}

// Calls `use` with the beginning and the end of each tile.
template <class Use>
void by_tiles(index_t begin, index_t end, const Use& use) {
  for (; begin < end; begin += kTile) use(begin, std::min(begin + kTile, end));
}

template <class T>
class ColumnMatrix final : public RowMatrix<DenseRows<T>> {
  using Base = RowMatrix<DenseRows<T>>;
  using Base::rows_, Base::tile_;

 public:
  ColumnMatrix(const Columns<T>& columns, index_t n, index_t d, const std::int64_t* chosen)
      : Base({reinterpret_cast<const T*>(columns.values), 0, n, d, chosen, kMostLanes, &fetch,
              this}),
        columns_(columns) {
    tile_ = chosen ? 0 : kTile;
  }

  void add_few(const double* coef, double* out) const override {
    Base::add_rows(0, rows_.n, coef, out);
  }

 protected:
  void score_rows(index_t begin, index_t end, const double* w, double* out) const override {
    if (!tile_) return Base::score_rows(begin, end, w, out);
    by_tiles(begin, end, [&](index_t first, index_t last) {
      score_tile(columns_, rows_.d, first, last, w, out);
    });
  }
  void add_rows(index_t begin, index_t end, const double* coef, double* sum) const override {
    if (!tile_) return Base::add_rows(begin, end, coef, sum);
    by_tiles(begin, end, [&](index_t first, index_t last) {
      combine_tile(columns_, rows_.d, first, last, coef, sum);
    });
  }
  RowExtent survey_rows(index_t begin, index_t end, double* sizes, double* squares) const override {
    if (!tile_) return Base::survey_rows(begin, end, sizes, squares);
    RowExtent largest{0.0, rows_.d};
    by_tiles(begin, end, [&](index_t first, index_t last) {
      largest.squared_norm = std::max(largest.squared_norm,
                                      survey_tile(columns_, rows_.d, first, last, sizes, squares));
    });
    return largest;
  }

 private:
  static const T* fetch(const void* source, index_t i, T* near) {
    const auto& matrix = *static_cast<const ColumnMatrix*>(source);
    T* to = room_for(matrix.rows_.d, near);
    matrix.columns_.copy_row(i, matrix.rows_.d, to);
    return to;
  }

  Columns<T> columns_;
};

}  // namespace

template <class T>
std::unique_ptr<Matrix> make_dense_by_columns(const T* values, index_t n_rows, index_t n_cols,
                                              index_t col_stride, const std::int64_t* rows) {
  constexpr index_t item = sizeof(T);
  const Columns<T> columns{reinterpret_cast<const std::byte*>(values), col_stride * item, item, {}};
  return std::make_unique<ColumnMatrix<T>>(columns, n_rows, n_cols, rows);
}

template std::unique_ptr<Matrix> make_dense_by_columns(const float*, index_t, index_t, index_t,
                                                       const std::int64_t*);
template std::unique_ptr<Matrix> make_dense_by_columns(const double*, index_t, index_t, index_t,
                                                       const std::int64_t*);

std::unique_ptr<Matrix> make_narrow_by_columns(const std::byte* values, NarrowType type,
                                               index_t n_rows, index_t n_cols, index_t col_stride,
                                               const std::int64_t* rows) {
  const index_t item = bytes_of(type);
  const Columns<float> columns{values, col_stride * item, item, type};
  return std::make_unique<ColumnMatrix<float>>(columns, n_rows, n_cols, rows);
}

}  // namespace cutplane
