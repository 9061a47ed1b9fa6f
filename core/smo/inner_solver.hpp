// SMO on a dense block of kernel values that is at hand: the inner level of two.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "core/smo/selection.hpp"

namespace cutplane::smo {

struct InnerResult {
  std::int64_t steps = 0;
  double violation = 0;  // what is left within the block
};

// The variables of a block, in double precision.
struct InnerState {
  std::vector<double> f, b, low, high, diagonal;
  std::vector<std::int8_t> y;
  bool grouped = false;

  index_t size() const { return static_cast<index_t>(f.size()); }
  void resize(index_t n) {
    for (auto* array : {&f, &b, &low, &high, &diagonal}) array->resize(n);
    y.resize(n);
  }
};

// Scans in Real; b and its bounds in double, so that sums of pairs stay what they are.
template <class Real, class Selector>
class InnerSolver {
 public:
  // kernel: (size x size) row-major with this stride.
  InnerSolver(InnerState& state, const float* kernel, index_t stride)
      : state_(state), kernel_(kernel), stride_(stride) {
    const index_t n = state.size();
    for (auto* array : {&f_, &room_up_, &room_down_, &diagonal_}) array->resize(n);
    for (index_t t = 0; t < n; ++t) {
      f_[t] = static_cast<Real>(state.f[t]);
      diagonal_[t] = static_cast<Real>(state.diagonal[t]);
      set(t, state.b[t]);
    }
  }

  const float* row(index_t t) const { return kernel_ + t * stride_; }

  CUTPLANE_INLINE InnerResult run(double eps, std::int64_t most_steps) {
    InnerResult result;
    while (true) {
      Pair best;
      result.violation = 0.0;
      for (int g = 0; g < (state_.grouped ? 2 : 1); ++g) {
        const Candidates<Real> c = candidates(state_.grouped ? 1 - 2 * g : 0);
        const Extremes extremes = find_extremes(c);
        if (!(extremes.violation() > 0.0)) continue;
        result.violation = std::max(result.violation, extremes.violation());
        const Pair pair = selectors_[g].select(c, extremes, *this);
        if (best.up < 0 || pair.gain > best.gain ||
            (pair.gain == best.gain && pair.violation > best.violation))
          best = pair;
      }
      if (result.violation <= eps || best.up < 0 || result.steps >= most_steps) return result;
      if (!move(best)) return result;
      ++result.steps;
    }
  }

 private:
  Candidates<Real> candidates(int group) const {
    return {state_.size(),   f_.data(), room_up_.data(), room_down_.data(), diagonal_.data(),
            state_.y.data(), group};
  }

  CUTPLANE_INLINE bool move(const Pair& pair) {
    const auto [i, j] = std::pair{pair.up, pair.low};
    const float *k_up = row(i), *k_low = row(j);
    const double eta = curvature(candidates(0), i, j, k_up[j]);
    const double up = state_.high[i] - state_.b[i], down = state_.b[j] - state_.low[j];
    const double step = std::min({pair.violation / eta, up, down});
    const double old_up = state_.b[i], old_low = state_.b[j];
    set(i, step >= up ? state_.high[i] : old_up + step);
    set(j, step >= down ? state_.low[j] : old_low - step);
    if (state_.b[i] == old_up && state_.b[j] == old_low) return false;
    const Real taken = static_cast<Real>(step);
    Real* f = f_.data();
    for (index_t t = 0; t < state_.size(); ++t)
      f[t] += taken * (static_cast<Real>(k_up[t]) - static_cast<Real>(k_low[t]));
    return true;
  }

  void set(index_t t, double value) {
    state_.b[t] = value;
    room_up_[t] = static_cast<Real>(state_.high[t] - value);
    room_down_[t] = static_cast<Real>(value - state_.low[t]);
  }

  InnerState& state_;
  const float* kernel_;
  index_t stride_;
  std::vector<Real> f_, room_up_, room_down_, diagonal_;
  Selector selectors_[2];
};

}  // namespace cutplane::smo
