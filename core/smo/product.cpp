#include "core/smo/product.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/multiversion.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {
namespace {

// Examples that are compared at a time, a whole number of tiles; and kernel values that one thread
// holds meanwhile.
constexpr index_t kRows = 96, kLeastRows = 12;
constexpr index_t kPanelsAtOnce = (index_t{1} << 19) / kRows / kPanel;
// Outputs that share the reading of kernel values.
constexpr int kOutputs = 4;

// sums[c] += a'b_c for some outputs, b_c being `stride` apart.
template <int Outputs>
CUTPLANE_INLINE void add_dots(const float* a, const double* b, index_t stride, index_t n,
                              double* sums) {
  constexpr int kLanes = 16;
  double lanes[Outputs][kLanes] = {};
  index_t t = 0;
  for (; t + kLanes <= n; t += kLanes)
#pragma GCC unroll 16
    for (int c = 0; c < Outputs; ++c)
      for (int l = 0; l < kLanes; ++l)
        lanes[c][l] += static_cast<double>(a[t + l]) * b[c * stride + t + l];
  for (; t < n; ++t)
#pragma GCC unroll 16
    for (int c = 0; c < Outputs; ++c) lanes[c][0] += static_cast<double>(a[t]) * b[c * stride + t];
#pragma GCC unroll 16
  for (int c = 0; c < Outputs; ++c) sums[c] += std::accumulate(lanes[c], lanes[c] + kLanes, 0.0);
}

CUTPLANE_MULTIVERSION void add_all_dots(const float* a, const double* b, index_t stride, index_t n,
                                        index_t outputs, double* sums) {
  index_t c = 0;
  for (; c + kOutputs <= outputs; c += kOutputs)
    add_dots<kOutputs>(a, b + c * stride, stride, n, sums + c);
  for (; c < outputs; ++c) add_dots<1>(a, b + c * stride, stride, n, sums + c);
}

// Columns of one group.
struct Piece {
  index_t group, begin, end;
};

std::vector<Piece> pieces_of(std::span<const std::int64_t> ends) {
  std::vector<Piece> pieces;
  index_t begin = 0;
  for (index_t g = 0; g < std::ssize(ends); ++g)
    for (; begin < ends[g]; begin = pieces.back().end) {
      const index_t last = (begin / kPanel + kPanelsAtOnce) * kPanel;
      pieces.push_back({g, begin, std::min<index_t>(ends[g], last)});
    }
  return pieces;
}

}  // namespace

void kernel_product(const Examples& left, index_t first, index_t size, const Examples& right,
                    const double* coef, index_t k, std::span<const std::int64_t> ends, double* out,
                    int n_threads) {
  const index_t n = right.size(), width = k * std::ssize(ends);
  std::vector<double> by_output(n * k);
  for (index_t j = 0; j < n; ++j)
    for (index_t c = 0; c < k; ++c) by_output[c * n + j] = coef[j * k + c];
  const std::vector<Piece> pieces = pieces_of(ends);
  const index_t work = size * n * (right.work_per_value() / 16 + k);
  const int threads = useful_threads(n_threads, work);
  // As many examples at a time as leave something for every thread. Results do not depend on it.
  const index_t rows_each = std::clamp(size / threads / kLeastRows * kLeastRows, kLeastRows, kRows);
  const Blocks blocks{size, std::max<index_t>(1, (size + rows_each - 1) / rows_each)};
  for_blocks(blocks, threads, [&](index_t, index_t begin, index_t end) {
    std::fill(out + begin * width, out + end * width, 0.0);
    const index_t room = std::min(kPanelsAtOnce, panels_for(n)) * kPanel;
    std::vector<float> values((end - begin) * room);
    std::vector<float*> rows;
    std::vector<std::int64_t> which;
    for (index_t r = begin; r < end; ++r) {
      which.push_back(first + r);
      rows.push_back(values.data() + (r - begin) * room);
    }
    for (const Piece& piece : pieces) {
      const PanelRun run{piece.begin / kPanel, panels_for(piece.end)};
      right.part(left, which, run, rows.data());
      for (index_t r = begin; r < end; ++r)
        add_all_dots(rows[r - begin] + piece.begin % kPanel, by_output.data() + piece.begin, n,
                     piece.end - piece.begin, k, out + r * width + piece.group * k);
    }
  });
}

}  // namespace cutplane::smo
