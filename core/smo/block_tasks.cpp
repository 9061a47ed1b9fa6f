#include "core/smo/block_tasks.hpp"

#include <algorithm>

namespace cutplane::smo {
namespace {

// Rows that pass over a group of panels together, so that their results are finished while at hand.
constexpr index_t kRowGroup = 96;

// Tiles are functions of their own, for each level of instructions: inlined into all that is below,
// they have too few registers, and fetch what they multiply from the stack.
#define CUTPLANE_TILES(Level, target)                                                           \
  struct Level {                                                                                \
    template <Reduction reduction, int Lanes, int R, int P>                                     \
    target __attribute__((noinline)) static void run(const float* rows, index_t row_stride,     \
                                                     const float* panels, index_t panel_stride, \
                                                     index_t from, index_t to,                  \
                                                     float* const* out) {                       \
      tile<reduction, Lanes, R, P>(rows, row_stride, panels, panel_stride, from, to, out);      \
    }                                                                                           \
  }
CUTPLANE_TILES(AsCompiled, );
#ifdef CUTPLANE_CLONES
CUTPLANE_TILES(Level3, __attribute__((target("arch=x86-64-v3"))));
CUTPLANE_TILES(Level4, __attribute__((target("arch=x86-64-v4"))));
#endif

template <class Level, Reduction reduction, int Lanes, int R, int P>
CUTPLANE_INLINE void rows_against_panels(const DenseTask& task, index_t row, index_t panel,
                                         index_t from, index_t to) {
  float* out[R];
  for (int r = 0; r < R; ++r) out[r] = task.out[row + r] + (panel - task.origin) * kPanel;
  Level::template run<reduction, Lanes, R, P>(task.rows + row * task.features, task.features,
                                              task.panels + panel * task.features * kPanel,
                                              task.features * kPanel, from, to, out);
}

template <class Level, Reduction reduction, int Lanes, int R, int P>
CUTPLANE_INLINE void group_against_panels(const DenseTask& task, index_t begin, index_t end,
                                          index_t panel, index_t from, index_t to) {
  index_t row = begin;
  for (; row + R <= end; row += R)
    rows_against_panels<Level, reduction, Lanes, R, P>(task, row, panel, from, to);
  if constexpr (R > 3)
    for (; row + 3 <= end; row += 3)
      rows_against_panels<Level, reduction, Lanes, 3, P>(task, row, panel, from, to);
  for (; row < end; ++row)
    rows_against_panels<Level, reduction, Lanes, 1, P>(task, row, panel, from, to);
}

template <class Level, Reduction reduction, int Lanes, int R, int P>
CUTPLANE_INLINE void reduce(const DenseTask& task, index_t begin, index_t end) {
  for (index_t from = 0; from < std::max<index_t>(task.features, 1); from += kFeatureBlock) {
    const index_t to = std::min(task.features, from + kFeatureBlock);
    index_t panel = task.first_panel;
    for (; panel + P <= task.last_panel; panel += P)
      group_against_panels<Level, reduction, Lanes, R, P>(task, begin, end, panel, from, to);
    if constexpr (P > 1)
      for (; panel < task.last_panel; ++panel)
        group_against_panels<Level, reduction, Lanes, R, 1>(task, begin, end, panel, from, to);
  }
}

template <class Level, int Lanes, int R, int P>
CUTPLANE_INLINE void evaluate(const DenseTask& task) {
  const index_t first = task.first_panel * kPanel;
  const index_t columns = (task.last_panel - task.first_panel) * kPanel;
  for (index_t begin = 0; begin < task.n_rows; begin += kRowGroup) {
    const index_t end = std::min(task.n_rows, begin + kRowGroup);
    switch (task.reduction) {
      case Reduction::product:
        reduce<Level, Reduction::product, Lanes, R, P>(task, begin, end);
        break;
      case Reduction::squared_difference:
        reduce<Level, Reduction::squared_difference, Lanes, R, P>(task, begin, end);
        break;
      case Reduction::absolute_difference:
        reduce<Level, Reduction::absolute_difference, Lanes, R, P>(task, begin, end);
        break;
      case Reduction::chi_square:
        reduce<Level, Reduction::chi_square, Lanes, R, P>(task, begin, end);
        break;
    }
    const float* norms = task.column_norms != nullptr ? task.column_norms + first : nullptr;
    for (index_t row = begin; row < end; ++row)
      finish(task.function, norms != nullptr ? task.row_norms[row] : 0.0f, norms, columns,
             task.out[row] + (first - task.origin * kPanel));
  }
}

// What a stored entry adds to the sum over features, given what the row alone would have added.
template <Reduction reduction, class Vector>
CUTPLANE_INLINE void accumulate_entry(Vector& sum, float value, const Vector& row) {
  if constexpr (reduction == Reduction::product) {
    sum += value * row;
  } else {
    const Vector difference = row - value;
    if constexpr (reduction == Reduction::absolute_difference) {
      sum += (difference < 0.0f ? -difference : difference) - (row < 0.0f ? -row : row);
    } else {
      const Vector whole = row + value;
      sum += difference * difference / (whole > 0.0f ? whole : whole + 1.0f) - row;
    }
  }
}

template <Reduction reduction, int Lanes>
CUTPLANE_INLINE void reduce_column(const SparseTask& task, index_t column, float* sums) {
  using Vectors = VectorOf<Lanes>;
  using Vector = typename Vectors::type;
  constexpr int V = kPanel / Lanes;
  Vector total[V];
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) total[v] = Vector{};
  for (std::int64_t at = task.starts[column]; at < task.starts[column + 1]; ++at) {
    const float* rows = task.scattered + index_t{task.indices[at]} * kPanel;
    const float value = task.values[at];
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      Vector row;
      Vectors::load(rows + v * Lanes, row);
      accumulate_entry<reduction>(total[v], value, row);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < V; ++v) Vectors::store(total[v], sums + v * Lanes);
}

template <Reduction reduction, int Lanes>
CUTPLANE_INLINE void reduce(const SparseTask& task) {
  alignas(64) float sums[kPanel][kPanel];  // [column][row]
  for (index_t begin = task.begin; begin < task.end; begin += kPanel) {
    const index_t count = std::min(kPanel, task.end - begin);
    for (index_t c = 0; c < count; ++c) reduce_column<reduction, Lanes>(task, begin + c, sums[c]);
    for (index_t r = 0; r < task.n_rows; ++r) {
      float* out = task.out[r] + (begin - task.origin * kPanel);
      for (index_t c = 0; c < count; ++c) out[c] = sums[c][r] + task.row_sums[r];
    }
  }
}

template <int Lanes>
CUTPLANE_INLINE void evaluate(const SparseTask& task) {
  if (task.reduction == Reduction::product)
    reduce<Reduction::product, Lanes>(task);
  else if (task.reduction == Reduction::absolute_difference)
    reduce<Reduction::absolute_difference, Lanes>(task);
  else
    reduce<Reduction::chi_square, Lanes>(task);
  const float* norms = task.column_norms != nullptr ? task.column_norms + task.begin : nullptr;
  for (index_t r = 0; r < task.n_rows; ++r)
    finish(task.function, norms != nullptr ? task.row_norms[r] : 0.0f, norms, task.end - task.begin,
           task.out[r] + (task.begin - task.origin * kPanel));
}

}  // namespace

// The shape of a tile follows the registers: 32 of 16 lanes, 16 of 8, 16 or 32 of 4.
#ifdef CUTPLANE_CLONES
namespace {

__attribute__((target("arch=x86-64-v4"))) void run_v4(const DenseTask& t) {
  evaluate<Level4, 16, 12, 2>(t);
}
__attribute__((target("arch=x86-64-v4"))) void run_v4(const SparseTask& t) { evaluate<16>(t); }
__attribute__((target("arch=x86-64-v3"))) void run_v3(const DenseTask& t) {
  evaluate<Level3, 8, 6, 1>(t);
}
__attribute__((target("arch=x86-64-v3"))) void run_v3(const SparseTask& t) { evaluate<8>(t); }

template <class Task>
void dispatch(const Task& task) {
  if (__builtin_cpu_supports("x86-64-v4")) return run_v4(task);
  if (__builtin_cpu_supports("x86-64-v3")) return run_v3(task);
  if constexpr (std::is_same_v<Task, DenseTask>)
    evaluate<AsCompiled, 4, 3, 1>(task);
  else
    evaluate<4>(task);
}

}  // namespace

void run(const DenseTask& task) { dispatch(task); }
void run(const SparseTask& task) { dispatch(task); }
#else
namespace {

#if defined(__x86_64__)
constexpr int kTileRows = kRegisterLanes == 8 ? 12 : kRegisterLanes == 4 ? 6 : 3;
#else
constexpr int kTileRows = 6;
#endif
constexpr int kTileVectors = kRegisterLanes == 8 ? 2 : 1;

}  // namespace

void run(const DenseTask& task) {
  evaluate<AsCompiled, 2 * kRegisterLanes, kTileRows, kTileVectors>(task);
}
void run(const SparseTask& task) { evaluate<2 * kRegisterLanes>(task); }
#endif

}  // namespace cutplane::smo
