#include "core/ranking/score_grid.hpp"

#include <algorithm>
#include <vector>

#include "core/base/multiversion.hpp"

namespace cutplane {
namespace {

CUTPLANE_MULTIVERSION double largest_of(const double* s, index_t begin, index_t end) {
  double most = 0.0;
  int wrong = 0;
#pragma omp simd reduction(max : most) reduction(| : wrong)
  for (index_t k = begin; k < end; ++k) {
    const double size = std::abs(s[k]);
    most = size > most ? size : most;
    wrong |= !(size <= std::numeric_limits<double>::max());
  }
  return wrong ? std::numeric_limits<double>::infinity() : most;
}

}  // namespace

double largest_size(const double* s, index_t n, int n_threads) {
  const Blocks blocks = make_blocks(n, 1 << 14, 64);
  std::vector<double> largest(std::max<index_t>(blocks.count, 1));
  for_blocks(blocks, useful_threads(n_threads, n), [&](index_t b, index_t begin, index_t end) {
    largest[b] = largest_of(s, begin, end);
  });
  return *std::ranges::max_element(largest);
}

}  // namespace cutplane
