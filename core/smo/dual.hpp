// The dual problem of every kernel machine here, and a point of it.
//
//   minimise ½ a'Qa + p'a   subject to   y'a = const,  0 <= a_i <= C_i,   Q_ij = y_i y_j K_ij
//
// Solvers see b_i = y_i a_i, which lies in [low_i, high_i], and f_i = y_i (Qa + p)_i: then signs
// disappear, a pair step adds t to one b and takes it from another, and the point is optimal where
// no f_i of a b_i that can grow is below an f_j of a b_j that can shrink.
//
// A regression has two variables per row: variable t belongs to row t % rows. Where `grouped` (the
// nu-machines), y'a is fixed for each sign of y by itself, and a pair has one sign.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/deadline.hpp"
#include "core/base/parallel.hpp"
#include "core/smo/row_cache.hpp"

namespace cutplane::smo {

// Columns that follow each other: row t of a problem, for t from `begin` up to `end`, is column
// t + shift of the shared matrix.
struct Stretch {
  index_t begin, end, shift;
};

// The rows of a shared kernel matrix that a problem is about.
class RowView {
 public:
  // rows: null for all of them.
  RowView(RowCache& cache, const std::int64_t* rows, index_t n);

  index_t size() const { return n_; }
  bool whole() const { return rows_.empty(); }
  std::int64_t global(index_t local) const { return rows_.empty() ? local : rows_[local]; }
  // The columns of the shared rows that are meant; null for all of them.
  const std::int64_t* columns() const { return rows_.empty() ? nullptr : rows_.data(); }
  // The same columns where they follow each other; empty where most of them do not.
  std::span<const Stretch> stretches() const { return stretches_; }
  RowCache& cache() const { return cache_; }
  // Rows of the shared matrix, in what columns() says.
  void acquire(std::span<const std::int64_t> which, Lease& lease, int n_threads) const {
    cache_.acquire(which, parts_, lease, n_threads);
  }

 private:
  RowCache& cache_;
  std::vector<std::int64_t> rows_;
  index_t n_;
  PartSet parts_;
  std::vector<Stretch> stretches_;
};

struct Bounds {
  double dual, primal;  // the optimum of the problem, negated, lies between them
  double violation;
  double rho[2];
};

struct Dual {
  Dual(RowView& rows, int copies, std::span<const std::int8_t> y, std::span<const double> p,
       std::span<const double> upper, std::span<const double> start, bool grouped, int n_threads);

  index_t size() const { return static_cast<index_t>(f.size()); }
  index_t row_of(index_t variable) const { return variable % rows.size(); }
  int groups() const { return grouped ? 2 : 1; }
  // f from the b there are, by the products of kernel rows: from now on, and as far as the time
  // allows; true when it is complete.
  void restart() { next_row_ = 0; }
  bool recompute(int n_threads, const Deadline* deadline = nullptr);
  bool ready() const { return next_row_ == rows.size(); }
  Bounds bounds() const;
  // How large a violation may be for no other reason than the rounding of kernel values.
  double rounding() const;

  RowView& rows;
  int copies;
  bool grouped;
  std::vector<std::int8_t> y;
  std::vector<double> p, upper;
  std::vector<double> b, low, high, f;
  std::vector<double> diagonal;  // by row
  double largest_value = 0.0;    // of the kernel, if it is positive semi-definite
  // No f is further than this from the sum it stands for, over the kernel values as they are.
  double drift = 0.0;

 private:
  index_t next_row_ = 0;  // that f has yet to hear of
  double threshold(int group) const;
};

// f[t] += sum over w of change[w] * rows[w][row of t], in double precision and a fixed order.
void add_products(Dual& dual, std::span<const float* const> rows, std::span<const double> change,
                  int n_threads);

}  // namespace cutplane::smo
