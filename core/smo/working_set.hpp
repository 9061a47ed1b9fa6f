// The variables a two-level solver works on at a time, each in a place that it keeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/smo/dual.hpp"

namespace cutplane::smo {

class WorkingSet {
 public:
  WorkingSet(const Dual& dual, index_t size);

  // Let the `count` most violating variables in, in place of those that are at a bound and have
  // been there longest. The places that changed are in changed(), in order.
  void refresh(index_t count, int n_threads);
  // The maximal violation of the point as it is; to be called before refresh.
  double measure(int n_threads);

  index_t size() const { return static_cast<index_t>(variables_.size()); }
  std::span<const index_t> variables() const { return variables_; }
  std::span<const index_t> changed() const { return changed_; }

 private:
  struct Scored {
    double score;
    index_t variable;
  };
  struct Threshold {
    double up, low;  // least f of those that can grow, greatest of those that can shrink
  };
  static bool before(const Scored& a, const Scored& z) {
    return a.score < z.score || (a.score == z.score && a.variable < z.variable);
  }
  // Leaves the first `count`, in no order.
  static void keep_first(std::vector<Scored>& scored, index_t count);
  Threshold threshold(int group, index_t begin, index_t end) const;
  void collect(int group, bool growing, index_t count, int n_threads);
  void score(int group, bool growing, index_t begin, index_t end,
             std::vector<Scored>& scored) const;
  bool belongs(index_t t, int group) const {
    return !dual_.grouped || (dual_.y[t] > 0) == (group == 0);
  }
  void place_violators();

  const Dual& dual_;
  index_t most_;
  std::vector<index_t> variables_;
  std::vector<std::int64_t> since_;  // by place: the round it came
  std::vector<index_t> place_of_;    // by variable, or -1
  std::vector<char> wanted_;         // by variable
  std::vector<index_t> violators_, changed_;
  Threshold thresholds_[2];
  std::int64_t round_ = 0;
};

}  // namespace cutplane::smo
