// A dense matrix whose columns are contiguous (Fortran order, a transposed array, a DataFrame's
// block).
#include "core/matrix/columns.hpp"
#include "core/matrix/row_passes.hpp"

namespace cutplane {
namespace {

template <class T>
struct StridedRows {
  const T* values;
  index_t stride;  // between columns
  index_t n, d;
  const std::int64_t* chosen;

  CUTPLANE_INLINE index_t at(index_t i) const { return chosen ? chosen[i] : i; }
  index_t entries() const { return n * d; }
  CUTPLANE_INLINE index_t size(index_t) const { return d; }

  // A row of a pass is one like any other.
  CUTPLANE_INLINE void prefetch_start(index_t) const {}
  CUTPLANE_INLINE double dot_in_order(index_t i, const double* w) const { return dot(i, w); }
  CUTPLANE_INLINE void axpy_in_order(index_t i, double coef, double* sum) const {
    axpy(i, coef, sum);
  }
  CUTPLANE_INLINE void prefetch(index_t) const {}  // a row is spread over as many lines as columns
  CUTPLANE_INLINE double dot(index_t i, const double* w) const {
    double sum = 0;
    for (index_t j = 0; j < d; ++j) sum += static_cast<double>(values[i + j * stride]) * w[j];
    return sum;
  }
  template <class S>
  CUTPLANE_INLINE void axpy(index_t i, double coef, S* sum) const {
    for (index_t j = 0; j < d; ++j)
      sum[j] += static_cast<S>(coef * static_cast<double>(values[i + j * stride]));
  }
  // Calls a function with the value and the feature of every entry of a row.
  CUTPLANE_INLINE auto each(index_t i) const {
    return [this, i](auto&& body) __attribute__((always_inline)) {
      for (index_t j = 0; j < d; ++j) body(static_cast<double>(values[i + j * stride]), j);
    };
  }
  // |x_i|^2; columns become the largest sizes so far.
  CUTPLANE_INLINE double survey(index_t i, double* columns) const {
    double square = 0;
    each(i)([&](double value, index_t j) __attribute__((always_inline)) {
      const double size = std::abs(value);
      square += size * size;
      columns[j] = columns[j] > size ? columns[j] : size;
    });
    return square;
  }

  // The same with two functions in turn.
  CUTPLANE_INLINE auto each_in_turn(index_t i) const {
    return [this, i](auto&& one, auto&& other) __attribute__((always_inline)) {
      index_t j = 0;
      for (; j + 2 <= d; j += 2) {
        one(static_cast<double>(values[i + j * stride]), j);
        other(static_cast<double>(values[i + (j + 1) * stride]), j + 1);
      }
      if (j < d) one(static_cast<double>(values[i + j * stride]), j);
    };
  }
  CUTPLANE_INLINE void dot_many(index_t i, const double* w, index_t m, double* out) const {
    dot_all_columns(each_in_turn(i), w, m, out);
  }
  CUTPLANE_INLINE void dot_few(index_t i, const std::int16_t* at_columns, index_t count, index_t m,
                               const double* w, double* out) const {
    dot_few_columns(each(i), at_columns, count, w, m, out);
  }
  CUTPLANE_INLINE void axpy_many(index_t i, const double* coef, index_t m, double* sum) const {
    add_all_columns(each(i), coef, m, sum);
  }
  // sum (d x m) += x_i times the coefficients of a few columns.
  CUTPLANE_INLINE void axpy_few(index_t i, const std::int32_t* at_columns, const double* coef,
                                index_t count, index_t m, double* sum) const {
    add_few_columns(each(i), at_columns, coef, count, m, sum);
  }

  // Rows first to last - 1 of the lower triangle.
  CUTPLANE_INLINE void outer(index_t i, double weight, index_t first, index_t last,
                             double* sum) const {
    for (index_t j = first; j < last; ++j) {
      const double scaled = weight * static_cast<double>(values[i + j * stride]);
      if (scaled == 0.0) continue;
      for (index_t k = 0; k <= j; ++k)
        sum[j * d + k] += scaled * static_cast<double>(values[i + k * stride]);
    }
  }
  CUTPLANE_INLINE double squared_norm(index_t i) const {
    double sum = 0;
    for (index_t j = 0; j < d; ++j) {
      const double value = values[i + j * stride];
      sum += value * value;
    }
    return sum;
  }
  bool usable(index_t i) const {
    for (index_t j = 0; j < d; ++j)
      if (unusable(values[i + j * stride]) != 0) return false;
    return true;
  }
};

// A tile of scores stays in cache while the columns go by.
constexpr index_t kTile = 2048;

template <class T>
CUTPLANE_MULTIVERSION void score_tile(const StridedRows<T>& rows, index_t begin, index_t end,
                                      const double* w, double* out) {
  for (index_t i = begin; i < end; ++i) out[i] = 0.0;
  for (index_t j = 0; j < rows.d; ++j) {
    const T* column = rows.values + j * rows.stride;
    const double weight = w[j];
    if (weight == 0.0) continue;
#pragma omp simd
    for (index_t i = begin; i < end; ++i) out[i] += static_cast<double>(column[i]) * weight;
  }
}

template <class T>
CUTPLANE_MULTIVERSION void combine_tile(const StridedRows<T>& rows, index_t begin, index_t end,
                                        const double* coef, double* sum) {
  for (index_t j = 0; j < rows.d; ++j) {
    const T* column = rows.values + j * rows.stride;
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (index_t i = begin; i < end; ++i) total += static_cast<double>(column[i]) * coef[i];
    sum[j] += total;
  }
}

template <class T>
CUTPLANE_MULTIVERSION RowExtent extent_of_tile(const StridedRows<T>& rows, index_t begin,
                                               index_t end, double* columns) {
  double squares[kTile] = {};
  for (index_t j = 0; j < rows.d; ++j) {
    const T* column = rows.values + j * rows.stride + begin;
    double largest = columns[j];
#pragma omp simd reduction(max : largest)
    for (index_t i = 0; i < end - begin; ++i) {
      const double size = std::abs(static_cast<double>(column[i]));
      squares[i] += size * size;
      largest = largest > size ? largest : size;
    }
    columns[j] = largest;
  }
  return {*std::max_element(squares, squares + (end - begin)), rows.d};
}

template <class T>
class ColumnMatrix final : public RowMatrix<StridedRows<T>> {
  using Base = RowMatrix<StridedRows<T>>;

 public:
  explicit ColumnMatrix(StridedRows<T> rows) : Base(rows), rows_(rows) {}

  void scores(const double* w, index_t k, double* out, int n_threads) const override {
    if (k != 1 || rows_.chosen) return Base::scores(w, k, out, n_threads);
    const int threads = useful_threads(n_threads, rows_.entries());
    for_blocks(Blocks{rows_.n, std::max<index_t>(1, rows_.n / kTile)}, threads,
               [&](index_t, index_t begin, index_t end) { score_tile(rows_, begin, end, w, out); });
  }

  void combine(const double* coef, index_t k, double* out, int n_threads) const override {
    if (k != 1 || rows_.chosen) return Base::combine(coef, k, out, n_threads);
    const Blocks blocks = tiles();
    std::vector<double> partial(blocks.count * rows_.d, 0.0);
    const int threads = useful_threads(n_threads, rows_.entries());
    for_blocks(blocks, threads, [&](index_t b, index_t begin, index_t end) {
      for (index_t tile = begin; tile < end; tile += kTile)
        combine_tile(rows_, tile, std::min(tile + kTile, end), coef, partial.data() + b * rows_.d);
    });
    std::fill(out, out + rows_.d, 0.0);
    add_partial_sums(partial.data(), blocks.count, rows_.d, out, n_threads);
  }

  RowExtent extent(double* columns, int n_threads) const override {
    if (rows_.chosen) return Base::extent(columns, n_threads);
    return Base::extent_by_blocks(
        columns, n_threads, [&](index_t begin, index_t end, double* sizes) {
          RowExtent largest{0.0, rows_.d};
          for (index_t tile = begin; tile < end; tile += kTile) {
            const RowExtent part = extent_of_tile(rows_, tile, std::min(tile + kTile, end), sizes);
            largest.squared_norm = std::max(largest.squared_norm, part.squared_norm);
          }
          return largest;
        });
  }

  index_t sum_depth() const override {
    const Blocks blocks = tiles();
    return std::max(Base::sum_depth(), (rows_.n + blocks.count - 1) / blocks.count + blocks.count);
  }

 protected:
  void score_part(index_t begin, index_t end, const double* w, double* out) const override {
    if (rows_.chosen) return Base::score_part(begin, end, w, out);
    score_tile(rows_, begin, end, w, out);
  }
  void add_part(index_t begin, index_t end, const double* coef, double* sum) const override {
    if (rows_.chosen) return Base::add_part(begin, end, coef, sum);
    combine_tile(rows_, begin, end, coef, sum);
  }

 private:
  Blocks tiles() const { return make_blocks(rows_.n, kTile, kMostBlocks); }

  StridedRows<T> rows_;
};

}  // namespace

template <class T>
std::unique_ptr<Matrix> make_dense_by_columns(const T* values, index_t n_rows, index_t n_cols,
                                              index_t col_stride, const std::int64_t* rows) {
  return std::make_unique<ColumnMatrix<T>>(
      StridedRows<T>{values, col_stride, n_rows, n_cols, rows});
}

template std::unique_ptr<Matrix> make_dense_by_columns(const float*, index_t, index_t, index_t,
                                                       const std::int64_t*);
template std::unique_ptr<Matrix> make_dense_by_columns(const double*, index_t, index_t, index_t,
                                                       const std::int64_t*);

}  // namespace cutplane
