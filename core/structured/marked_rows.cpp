#include "core/structured/marked_rows.hpp"

namespace cutplane {
namespace {

constexpr index_t kEntriesPerBlock = 1 << 15, kMostBlocks = 256;

}  // namespace

Blocks MarkedRows::blocks() const {
  return make_blocks(rows_, std::max<index_t>(1, kEntriesPerBlock / columns_), kMostBlocks);
}

MarkedRows::Products MarkedRows::products(const double* other, int n_threads) const {
  const Blocks blocks = this->blocks();
  std::vector<Products> parts(blocks.count, {0.0, 0.0});
  for_blocks(blocks, useful_threads(n_threads, rows_ * columns_),
             [&](index_t b, index_t begin, index_t end) {
               double along = 0, square = 0;
               for (index_t row = begin; row < end; ++row) {
                 if (!marks_[row]) continue;
                 const double *a = other + row * columns_, *x = table_.data() + row * columns_;
#pragma omp simd reduction(+ : along, square)
                 for (index_t j = 0; j < columns_; ++j) {
                   along += a[j] * x[j];
                   square += x[j] * x[j];
                 }
               }
               parts[b] = {along, square};
             });
  Products sum{0.0, 0.0};
  for (const Products& part : parts) {
    sum.along += part.along;
    sum.square += part.square;
  }
  return sum;
}

void MarkedRows::take_from(double* other, double share, int n_threads) {
  for_blocks(blocks(), useful_threads(n_threads, rows_ * columns_),
             [&](index_t, index_t begin, index_t end) {
               for (index_t row = begin; row < end; ++row) {
                 if (!marks_[row]) continue;
                 double *a = other + row * columns_, *x = table_.data() + row * columns_;
                 for (index_t j = 0; j < columns_; ++j) {
                   a[j] -= share * x[j];
                   x[j] = 0.0;
                 }
                 marks_[row] = 0;
               }
             });
}

}  // namespace cutplane
