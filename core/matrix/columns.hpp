// Products of a row with several columns at a time, the sums in registers.
#pragma once

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"

namespace cutplane {

// From so many columns on, one set of sums keeps the processor busy; two sets take too many
// registers.
inline constexpr int kTwoSets = 16;

// out[0..W) = sum over the row's entries of value * w[feature * m + 0..W). each(f, g) calls
// f(value, feature) and g(value, feature) in turn for the entries: few columns are summed up in two
// sets, for one addition has to wait for the one before.
template <int W, class Each>
CUTPLANE_INLINE void dot_columns(const Each& each, const double* w, index_t m, double* out) {
  double sum[W] = {}, second[W] = {};
  const auto add_to = [w, m](double* to) {
    return [=](double value, index_t feature) __attribute__((always_inline)) {
      const double* row = w + feature * m;
#pragma omp simd
      for (int j = 0; j < W; ++j) to[j] += value * row[j];
    };
  };
  each(add_to(sum), add_to(W <= kTwoSets ? second : sum));
  for (int j = 0; j < W; ++j) out[j] = W <= kTwoSets ? sum[j] + second[j] : sum[j];
}

// Columns are padded to whole vectors: so many fit into registers at once.
inline constexpr index_t kVectorColumns = 4;
inline constexpr index_t kRegisterColumns = 32;

inline index_t padded_columns(index_t m) {
  return (m + kVectorColumns - 1) / kVectorColumns * kVectorColumns;
}

// The same for m columns: in one go where they fit into registers, else summed up in memory, so
// that every row of w is met only once (wide tables lie far away).
template <class Each>
CUTPLANE_INLINE void dot_all_columns(const Each& each, const double* w, index_t m, double* out) {
  switch (m) {
    case 4:
      return dot_columns<4>(each, w, m, out);
    case 8:
      return dot_columns<8>(each, w, m, out);
    case 12:
      return dot_columns<12>(each, w, m, out);
    case 16:
      return dot_columns<16>(each, w, m, out);
    case 20:
      return dot_columns<20>(each, w, m, out);
    case 24:
      return dot_columns<24>(each, w, m, out);
    case 28:
      return dot_columns<28>(each, w, m, out);
    case kRegisterColumns:
      return dot_columns<kRegisterColumns>(each, w, m, out);
  }
  for (index_t j = 0; j < m; ++j) out[j] = 0.0;
  const auto add = [&](double value, index_t feature) __attribute__((always_inline)) {
    const double* row = w + feature * m;
#pragma omp simd
    for (index_t j = 0; j < m; ++j) out[j] += value * row[j];
  };
  each(add, add);
}

// out[c] = sum over the row's entries of value * w[feature * m + at[c]], for a few columns.
template <class Each, class Index>
CUTPLANE_INLINE void dot_few_columns(const Each& each, const Index* at, index_t count,
                                     const double* w, index_t m, double* out) {
  for (index_t c = 0; c < count; ++c) out[c] = 0.0;
  each([&](double value, index_t feature) __attribute__((always_inline)) {
    const double* row = w + feature * m;
    for (index_t c = 0; c < count; ++c) out[c] += value * row[at[c]];
  });
}

// Going through a few of many columns beats going through all of them.
CUTPLANE_INLINE bool few_columns(index_t count, index_t m) { return 6 * count < m; }

// The columns with coefficients, gathered; -1 if there are more than a few.
inline constexpr index_t kFewColumns = 8;

struct FewColumns {
  index_t count = 0;  // -1: too many
  std::int32_t at[kFewColumns];
  double coef[kFewColumns];
};

CUTPLANE_INLINE FewColumns gather_columns(const double* coef, index_t m) {
  FewColumns few;
  for (index_t j = 0; j < m; ++j) {
    if (coef[j] == 0.0) continue;
    if (few.count == kFewColumns) {
      few.count = -1;
      break;
    }
    few.at[few.count] = static_cast<std::int32_t>(j);
    few.coef[few.count++] = coef[j];
  }
  return few;
}

// sum[feature * m + at[c]] += coef[c] * value, entry by entry.
template <class Each>
CUTPLANE_INLINE void add_few_columns(const Each& each, const std::int32_t* at, const double* coef,
                                     index_t count, index_t m, double* sum) {
  if (count == 2) {  // by far the most frequent
    const index_t one = at[0], two = at[1];
    const double to_one = coef[0], to_two = coef[1];
    each([&](double value, index_t feature) __attribute__((always_inline)) {
      double* row = sum + feature * m;
      row[one] += to_one * value;
      row[two] += to_two * value;
    });
    return;
  }
  each([&](double value, index_t feature) __attribute__((always_inline)) {
    double* row = sum + feature * m;
    for (index_t c = 0; c < count; ++c) row[at[c]] += coef[c] * value;
  });
}

template <class Each>
CUTPLANE_INLINE void add_all_columns(const Each& each, const double* coef, index_t m, double* sum) {
  const FewColumns few = gather_columns(coef, m);
  if (few.count == 0) return;
  if (few.count > 0) return add_few_columns(each, few.at, few.coef, few.count, m, sum);
  each([&](double value, index_t feature) __attribute__((always_inline)) {
    double* row = sum + feature * m;
#pragma omp simd
    for (index_t j = 0; j < m; ++j) row[j] += value * coef[j];
  });
}

}  // namespace cutplane
