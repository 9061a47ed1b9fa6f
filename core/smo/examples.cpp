#include "core/smo/examples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/smo/block_tasks.hpp"
#include "core/smo/tiles.hpp"

namespace cutplane::smo {
namespace {

// Columns one thread takes at a time.
constexpr index_t kPanelsPerTask = 16, kSparsePanelsPerTask = 64;
// So few features are summed as differences: exact where examples are close, and no slower.
constexpr index_t kFewFeatures = 16;
// gamma |x|² above which differences of products would be off by more than about 1e-5.
constexpr double kLargeExponent = 80.0;
// CSR with at least this share of its entries stored is as fast in panels, and more exact.
constexpr double kSparse = 0.25;
// Bytes of scattered rows at a time.
constexpr index_t kScatteredBytes = index_t{1} << 21;

// The exponent e with |value| < 2^e, or 0 for 0; within what a power of two can undo.
int exponent_of(double value) {
  if (value == 0.0) return 0;
  return std::max(std::ilogb(value) + 1, -1022);
}

// Rows that are looked through at a time.
constexpr index_t kRowsPerFrameBlock = 256, kMostFrameBlocks = 64;

// The largest of what `size` makes of every column and value.
template <class Size>
double largest_of(const View& view, const Blocks& blocks, int threads, Size&& size) {
  std::vector<double> found(blocks.count, 0.0);
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    double largest = 0.0;
    view.each_row(begin, end, [&](index_t, const ViewedRow& row) {
      double most = largest;
      const auto look = [&](const auto& column) {
#pragma omp simd reduction(max : most)
        for (index_t j = 0; j < row.n; ++j) {
          const double own = size(column(j), row.values[j]);
          most = own > most ? own : most;
        }
      };
      if (row.columns != nullptr)
        look([&](index_t j) { return index_t{row.columns[j]}; });
      else
        look([](index_t j) { return j; });
      largest = most;
    });
    found[block] = largest;
  });
  return *std::max_element(found.begin(), found.end());
}

// The sums of the columns, each value multiplied by `factor`.
std::vector<double> column_sums(const View& view, const Blocks& blocks, int threads,
                                double factor) {
  std::vector<std::vector<double>> parts(blocks.count);
  for_blocks(blocks, threads, [&](index_t block, index_t begin, index_t end) {
    std::vector<double> sums(view.cols, 0.0);
    double* sum = sums.data();
    view.each(begin, end, [=](index_t, index_t k, double x) { sum[k] += x * factor; });
    parts[block] = std::move(sums);
  });
  std::vector<double> total(view.cols, 0.0);
  for (const std::vector<double>& part : parts)
    for (index_t k = 0; k < view.cols; ++k) total[k] += part[k];
  return total;
}

// bounded: kernels that are 0 at large distances, where a new example may be as far away as it
// likes: it is taken for one so far away that squares of distances are still finite.
Frame make_frame(const View& view, bool centered, bool bounded, int n_threads) {
  constexpr double kFar = 1125899906842624.0;  // 2^50
  Frame frame;
  if (bounded) frame.limit = kFar;
  const Blocks blocks = make_blocks(view.rows, kRowsPerFrameBlock, kMostFrameBlocks);
  const int threads = useful_threads(n_threads, view.rows * view.cols / 4);
  frame.exponent =
      exponent_of(largest_of(view, blocks, threads, [](index_t, double x) { return std::abs(x); }));
  frame.outer = std::ldexp(1.0, -frame.exponent);
  if (!centered) return frame;
  frame.center = column_sums(view, blocks, threads, frame.outer);
  double spread = 0.0;
  for (double& mean : frame.center) {
    mean /= static_cast<double>(std::max<index_t>(view.rows, 1));
    spread = std::max(spread, std::abs(mean));  // of entries that are not stored
  }
  if (!view.is_csr()) spread = 0.0;
  const double* center = frame.center.data();
  const double outer = frame.outer;
  spread = std::max(spread, largest_of(view, blocks, threads, [=](index_t k, double x) {
                      return std::abs(x * outer - center[k]);
                    }));
  const int exponent = exponent_of(spread);
  frame.inner = std::ldexp(1.0, -exponent);
  frame.exponent += exponent;
  return frame;
}

int threads_for(index_t work, int n_threads) { return useful_threads(n_threads, work / 16); }

Blocks one_each(std::span<const PanelRun> tasks) { return {std::ssize(tasks), std::ssize(tasks)}; }

}  // namespace

CUTPLANE_MULTIVERSION void widen(const float* from, index_t n, double* to) {
  for (index_t k = 0; k < n; ++k) to[k] = from[k];
}

Examples::Examples(const KernelParameters& parameters, const View& view, const Examples* like,
                   int n_threads)
    : size_(view.rows), features_(view.cols) {
  sparse_ = like != nullptr ? like->sparse_
                            : view.is_csr() && static_cast<double>(view.stored) <
                                                   kSparse * static_cast<double>(size_ * features_);
  const bool centered = !sparse_ && parameters.kernel.shift_invariant();
  frame_ = like != nullptr ? like->frame_
                           : make_frame(view, centered, parameters.kernel.unit_length(), n_threads);
  const Frame frame = frame_;
  if (sparse_) {
    starts_.assign(size_ + 1, 0);
    values_.resize(view.is_csr() ? view.stored : 0);
    indices_.resize(values_.size());
    view.each_row(0, size_, [&](index_t i, const ViewedRow& row) {
      const index_t begin = starts_[i];
      if (row.columns != nullptr) {
        float* values = values_.data() + begin;
        for (index_t j = 0; j < row.n; ++j) values[j] = frame.place(row.values[j], row.columns[j]);
        std::copy_n(row.columns, row.n, indices_.data() + begin);
        starts_[i + 1] = begin + row.n;
        return;
      }
      for (index_t k = 0; k < row.n; ++k) {
        const float value = frame.place(row.values[k], k);
        if (value == 0.0f) continue;
        values_.push_back(value);
        indices_.push_back(static_cast<std::int32_t>(k));
      }
      starts_[i + 1] = std::ssize(values_);
    });
  } else {
    panels_.assign(padded(size_) * features_, 0.0f);
    const index_t features = features_;
    float* panels = panels_.data();
    const auto place = [=, &frame](index_t i, index_t k, double x) {
      panels[(i / kPanel * features + k) * kPanel + i % kPanel] = frame.place(x, k);
    };
    each_panel(n_threads, [&](index_t begin, index_t end) {
      for (index_t i = begin; view.is_csr() && i < end; ++i)
        for (index_t k = 0; k < features; ++k) place(i, k, 0.0);
      view.each(begin, end, place);
    });
  }
  settle(parameters, like, n_threads);
}

double Examples::largest_square(int n_threads) const {
  std::vector<double> squares(std::max<index_t>(size_, 1), 0.0);
  each_panel(n_threads, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      double square = 0.0;
      if (sparse_) {
        for (std::int64_t at = starts_[i]; at < starts_[i + 1]; ++at)
          square += static_cast<double>(values_[at]) * values_[at];
      } else {
        const float* panel = panels_.data() + i / kPanel * kPanel * features_ + i % kPanel;
        for (index_t k = 0; k < features_; ++k)
          square += static_cast<double>(panel[k * kPanel]) * panel[k * kPanel];
      }
      squares[i] = square;
    }
  });
  return *std::max_element(squares.begin(), squares.end());
}

void Examples::each_panel(int n_threads,
                          FunctionView<void(index_t begin, index_t end)> visit) const {
  const index_t work = sparse_ ? static_cast<index_t>(values_.size()) : size_ * features_;
  for_blocks(make_blocks(panels_for(size_), 16, 1 << 10), useful_threads(n_threads, work / 4),
             [&](index_t, index_t begin, index_t end) {
               visit(begin * kPanel, std::min(size_, end * kPanel));
             });
}

void Examples::settle(const KernelParameters& parameters, const Examples* like, int n_threads) {
  if (like != nullptr) {
    function_ = like->function_;
    reduction_ = like->reduction_;
  } else {
    const double largest = largest_square(n_threads);
    function_ = scaled_function(parameters, frame_.exponent, largest);
    reduction_ = function_.reduction;
    const bool differences =
        !sparse_ && (features_ <= kFewFeatures || function_.gamma * largest > kLargeExponent);
    if (reduction_ == Reduction::squared_difference && !differences)
      reduction_ = Reduction::product;
  }
  if (reduction_ != function_.reduction) {
    norms_ = self_products(KernelFunction{}, n_threads);
    norms_.resize(padded(size_), 0.0f);
  }
}

void Examples::gather(index_t row, float* out) const {
  const float* panel = panels_.data() + row / kPanel * kPanel * features_ + row % kPanel;
  for (index_t k = 0; k < features_; ++k) out[k] = panel[k * kPanel];
}

index_t Examples::work_per_value() const {
  const index_t entries = sparse_ ? 2 * starts_.back() / std::max<index_t>(size_, 1) : features_;
  return std::max<index_t>(entries, 1) + 8;
}

void Examples::block(const Examples& left, std::span<const std::int64_t> which, float* const* out,
                     int n_threads) const {
  const PanelRun all{0, panels_for(size_)};
  block(left, which, {&all, 1}, out, n_threads);
}

// So few panels at a time that a block of theirs stays in the cache until it is finished.
std::vector<PanelRun> Examples::tasks_of(std::span<const PanelRun> columns) const {
  const index_t size = sparse_ ? kSparsePanelsPerTask : kPanelsPerTask;
  std::vector<PanelRun> tasks;
  for (const PanelRun& run : columns) {
    const Blocks pieces{run.end - run.begin, std::max<index_t>(1, (run.end - run.begin) / size)};
    for (index_t piece = 0; piece < pieces.count; ++piece)
      tasks.push_back({run.begin + pieces.begin(piece), run.begin + pieces.end(piece)});
  }
  return tasks;
}

void Examples::block(const Examples& left, std::span<const std::int64_t> which,
                     std::span<const PanelRun> columns, float* const* out, int n_threads) const {
  index_t panels = 0;
  for (const PanelRun& run : columns) panels += run.end - run.begin;
  const auto values = static_cast<index_t>(which.size()) * panels * kPanel;
  const int threads = threads_for(values * work_per_value(), n_threads);
  compute(left, which, tasks_of(columns), {out, 0}, threads);
}

void Examples::part(const Examples& left, std::span<const std::int64_t> which,
                    const PanelRun& columns, float* const* out) const {
  compute(left, which, tasks_of({&columns, 1}), {out, columns.begin}, 1);
}

void Examples::compute(const Examples& left, std::span<const std::int64_t> which,
                       std::span<const PanelRun> tasks, const Target& target, int threads) const {
  if (sparse_)
    sparse_block(left, which, tasks, target, threads);
  else
    dense_block(left, which, tasks, target, threads);
}

void Examples::dense_block(const Examples& left, std::span<const std::int64_t> which,
                           std::span<const PanelRun> tasks, const Target& target,
                           int threads) const {
  const auto m = static_cast<index_t>(which.size());
  std::vector<float> rows(m * features_), row_norms(norms_.empty() ? 0 : m);
  for (index_t r = 0; r < m; ++r) {
    left.gather(which[r], rows.data() + r * features_);
    if (!norms_.empty()) row_norms[r] = left.norms_[which[r]];
  }
  for_blocks(one_each(tasks), threads, [&](index_t task, index_t, index_t) {
    run(DenseTask{function_, reduction_, features_, rows.data(), m, row_norms.data(),
                  panels_.data(), norms_.empty() ? nullptr : norms_.data(), tasks[task].begin,
                  tasks[task].end, target.rows, target.origin});
  });
}

void Examples::sparse_block(const Examples& left, std::span<const std::int64_t> which,
                            std::span<const PanelRun> tasks, const Target& target,
                            int threads) const {
  const auto m = static_cast<index_t>(which.size());
  const index_t area = features_ * kPanel;
  const index_t at_once = std::clamp<index_t>(
      kScatteredBytes / std::max<index_t>(1, area * static_cast<index_t>(sizeof(float))), 1,
      std::max<index_t>(1, panels_for(m)));
  std::vector<float> scattered(at_once * area, 0.0f);
  const auto scatter = [&](index_t r, index_t group, bool clear) {
    for (std::int64_t at = left.starts_[which[r]]; at < left.starts_[which[r] + 1]; ++at)
      scattered[group * area + index_t{left.indices_[at]} * kPanel + r % kPanel] =
          clear ? 0.0f : left.values_[at];
  };
  std::vector<float> row_norms(m, 0.0f), row_sums(m, 0.0f);
  for (index_t r = 0; r < m; ++r) {
    if (!norms_.empty()) row_norms[r] = left.norms_[which[r]];
    if (reduction_ == Reduction::product) continue;
    for (std::int64_t at = left.starts_[which[r]]; at < left.starts_[which[r] + 1]; ++at)
      row_sums[r] += std::abs(left.values_[at]);
  }
  for (index_t first = 0; first < m; first += at_once * kPanel) {
    const index_t last = std::min(m, first + at_once * kPanel);
    for (index_t r = first; r < last; ++r) scatter(r, (r - first) / kPanel, false);
    for_blocks(one_each(tasks), threads, [&](index_t task, index_t, index_t) {
      const index_t begin = tasks[task].begin * kPanel;
      const index_t end = std::min(size_, tasks[task].end * kPanel);
      for (index_t r = first; r < last; r += kPanel)
        run(SparseTask{function_, reduction_, scattered.data() + (r - first) / kPanel * area,
                       std::min(kPanel, last - r), row_norms.data() + r, row_sums.data() + r,
                       values_.data(), indices_.data(), starts_.data(),
                       norms_.empty() ? nullptr : norms_.data(), begin, end, target.rows + r,
                       target.origin});
    });
    for (index_t r = first; r < last; ++r) scatter(r, (r - first) / kPanel, true);
  }
}

std::vector<float> Examples::self_products(const KernelFunction& function, int n_threads) const {
  std::vector<float> result(size_);
  const int threads = threads_for(size_ * kPanel * work_per_value(), n_threads);
  for_blocks(make_blocks(panels_for(size_), kPanelsPerTask, 1 << 10), threads,
             [&](index_t, index_t begin, index_t end) {
               self_products(function, begin, end, result.data());
             });
  return result;
}

// Each of some panels against itself: the same sums, in the same order, as any block.
void Examples::self_products(const KernelFunction& function, index_t begin, index_t end,
                             float* result) const {
  std::vector<float> rows(kPanel * features_), square(kPanel * kPanel);
  std::vector<float> norms(kPanel, 0.0f), sums(kPanel, 0.0f);
  std::vector<float> scattered(sparse_ ? features_ * kPanel : 0, 0.0f);
  for (index_t panel = begin; panel < end; ++panel) {
    const index_t first = panel * kPanel, count = std::min(kPanel, size_ - first);
    float* out[kPanel];
    for (index_t r = 0; r < kPanel; ++r) out[r] = square.data() + r * kPanel;
    for (index_t r = 0; r < count; ++r) {
      norms[r] = norms_.empty() ? 0.0f : norms_[first + r];
      sums[r] = 0.0f;
      if (!sparse_) {
        gather(first + r, rows.data() + r * features_);
        continue;
      }
      for (std::int64_t at = starts_[first + r]; at < starts_[first + r + 1]; ++at) {
        scattered[index_t{indices_[at]} * kPanel + r] = values_[at];
        if (reduction_ != Reduction::product) sums[r] += std::abs(values_[at]);
      }
    }
    const float* column_norms =
        function.reduction != reduction_ && !norms_.empty() ? norms_.data() + first : nullptr;
    if (sparse_)
      run(SparseTask{function, reduction_, scattered.data(), count, norms.data(), sums.data(),
                     values_.data(), indices_.data(), starts_.data() + first, column_norms, 0,
                     count, out});
    else
      run(DenseTask{function, reduction_, features_, rows.data(), count, norms.data(),
                    panels_.data() + first * features_, column_norms, 0, 1, out});
    for (index_t r = 0; r < count; ++r) {
      result[first + r] = square[r * kPanel + r];
      if (sparse_)
        for (std::int64_t at = starts_[first + r]; at < starts_[first + r + 1]; ++at)
          scattered[index_t{indices_[at]} * kPanel + r] = 0.0f;
    }
  }
}

std::vector<float> Examples::diagonal(int n_threads) const {
  return self_products(function_, n_threads);
}

}  // namespace cutplane::smo
