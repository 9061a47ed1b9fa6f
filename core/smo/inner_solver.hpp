// SMO on a dense block of kernel values that is at hand: the inner level of two.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/smo/selection.hpp"

namespace cutplane::smo {

struct InnerResult {
  std::int64_t steps = 0;
  double violation = 0;  // what is left within the block
  bool noisy = false;    // ended because rounding had added up to a part of eps
};

// The variables of a block, in double precision.
struct InnerState {
  std::vector<double> f, b, low, high, diagonal;
  std::vector<std::int8_t> y;
  bool grouped = false;
  double largest = 0.0;  // size of an f, at the first step
  double noise = 0.0;    // square of what rounding has added to an f since

  index_t size() const { return static_cast<index_t>(f.size()); }
  void resize(index_t n) {
    for (auto* array : {&f, &b, &low, &high, &diagonal}) array->resize(n);
    y.resize(n);
  }
  InnerState part(index_t begin, index_t end) const {
    const auto some = [&](const auto& all) {
      return std::decay_t<decltype(all)>(all.begin() + begin, all.begin() + end);
    };
    return {some(f), some(b), some(low), some(high), some(diagonal),
            some(y), grouped, largest,   noise};
  }
  void put(index_t begin, const InnerState& part) {
    std::copy(part.f.begin(), part.f.end(), f.begin() + begin);
    std::copy(part.b.begin(), part.b.end(), b.begin() + begin);
    noise = part.noise;
  }
};

// Where a variable is, and where its way ends.
struct Way {
  double b, bound;
};

// How far a pair can go, and where it is then; no size where rounding allows no step.
struct PairStep {
  double size, up, low;
};

inline PairStep pair_step(double wanted, const Way& up, const Way& low) {
  const double room_up = up.bound - up.b, room_low = low.b - low.bound;
  PairStep step{std::min({wanted, room_up, room_low}), 0.0, 0.0};
  step.up = step.size >= room_up ? up.bound : up.b + step.size;
  step.low = step.size >= room_low ? low.bound : low.b - step.size;
  if (step.up == up.b && step.low == low.b) step.size = 0.0;
  return step;
}

// Scans in Real; b and its bounds in double, so that sums of pairs stay what they are.
template <class Real>
class InnerVariables {
 public:
  // kernel: (size x size) row-major with this stride.
  InnerVariables(InnerState& state, const float* kernel, index_t stride)
      : state_(state), kernel_(kernel), stride_(stride) {
    const index_t n = state.size();
    for (auto* array : {&f_, &room_up_, &room_down_, &diagonal_, &label_}) array->resize(n);
    for (index_t t = 0; t < n; ++t) {
      label_[t] = static_cast<Real>(state.y[t]);
      f_[t] = static_cast<Real>(state.f[t]);
      diagonal_[t] = static_cast<Real>(state.diagonal[t]);
      set(t, state.b[t]);
    }
  }

  const float* row(index_t t) const { return kernel_ + t * stride_; }
  bool grouped() const { return state_.grouped; }
  // Whether what is scanned may be off by a part of eps that matters.
  bool noisy(double eps) const { return state_.noise > kNoiseShare * kNoiseShare * eps * eps; }
  Candidates<Real> candidates(int group) const {
    return {state_.size(),    f_.data(),     room_up_.data(),         room_down_.data(),
            diagonal_.data(), label_.data(), static_cast<Real>(group)};
  }

 protected:
  // Move a pair by `wanted`, or as far as the box allows; the step taken, 0 where rounding allows
  // none.
  double step_pair(index_t i, index_t j, double wanted) {
    const PairStep step =
        pair_step(wanted, {state_.b[i], state_.high[i]}, {state_.b[j], state_.low[j]});
    set(i, step.up);
    set(j, step.low);
    return step.size;
  }

  CUTPLANE_INLINE void add_difference(Real step, const float* k_up, const float* k_low) {
    Real* f = f_.data();
    const index_t n = state_.size();
    for (index_t t = 0; t < n; ++t)
      f[t] += step * (static_cast<Real>(k_up[t]) - static_cast<Real>(k_low[t]));
  }

  // Each step rounds f, and what it adds to f; errors of many steps add up as their squares do.
  void note_rounding(double step) {
    constexpr double unit = std::numeric_limits<Real>::epsilon() / 2;
    state_.noise += unit * unit * (state_.largest * state_.largest + step * step);
  }

  void set(index_t t, double value) {
    state_.b[t] = value;
    room_up_[t] = room(state_.high[t] - value);
    room_down_[t] = room(value - state_.low[t]);
  }

  // What is left of the way to a bound, however small, is not nothing.
  static Real room(double value) {
    const Real rounded = static_cast<Real>(value);
    return value > 0.0 && rounded == Real{0} ? std::numeric_limits<Real>::min() : rounded;
  }

  static constexpr double kNoiseShare = 0.25;

  InnerState& state_;
  const float* kernel_;
  index_t stride_;
  std::vector<Real> f_, room_up_, room_down_, diagonal_, label_;
};

// Steps of one pair each, chosen by a selector.
template <class Real, class Selector>
class InnerSolver : public InnerVariables<Real> {
 public:
  using InnerVariables<Real>::InnerVariables;

  CUTPLANE_INLINE Pair select(int group, const Candidates<Real>& c, const Extremes& extremes) {
    return selectors_[group].select(c, extremes, *this);
  }

  CUTPLANE_INLINE bool move(const Pair& pair) {
    const auto [i, j] = std::pair{pair.up, pair.low};
    const float *k_up = this->row(i), *k_low = this->row(j);
    const double eta = curvature(this->candidates(0), i, j, k_up[j]);
    const double step = this->step_pair(i, j, pair.violation / eta);
    if (!(step > 0.0)) return false;
    this->note_rounding(step);
    this->add_difference(static_cast<Real>(step), k_up, k_low);
    return true;
  }

 private:
  Selector selectors_[2];
};

// Steps until the violation within the block is at most eps.
template <class Real, class Inner>
CUTPLANE_INLINE InnerResult run_inner(Inner& inner, double eps, std::int64_t most_steps) {
  InnerResult result;
  while (true) {
    Pair best;
    result.violation = 0.0;
    for (int g = 0; g < (inner.grouped() ? 2 : 1); ++g) {
      const Candidates<Real> c = inner.candidates(inner.grouped() ? 1 - 2 * g : 0);
      const Extremes extremes = find_extremes(c);
      if (!(extremes.violation() > 0.0)) continue;
      result.violation = std::max(result.violation, extremes.violation());
      const Pair pair = inner.select(g, c, extremes);
      if (pair.up < 0) continue;
      if (best.up < 0 || pair.gain > best.gain ||
          (pair.gain == best.gain && pair.violation > best.violation))
        best = pair;
    }
    if (result.violation <= eps || best.up < 0 || result.steps >= most_steps) return result;
    if (!inner.move(best)) return result;
    ++result.steps;
    if ((result.noisy = inner.noisy(eps))) return result;
  }
}

}  // namespace cutplane::smo
