// Conjugate SMO (Torres-Barran, Alaiz and Dorronsoro 2021) on a dense block of kernel values.
//
// A step goes along the pair's own direction d plus a multiple of the last one p, chosen so that
// the two are conjugate: what the last step gained stays gained. The pair is the one of greatest
// gain along that direction. Where the box ends a step the directions begin anew.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/smo/inner_solver.hpp"

namespace cutplane::smo {

template <class Real>
class ConjugateSolver : public InnerVariables<Real> {
 public:
  ConjugateSolver(InnerState& state, const float* kernel, index_t stride)
      : InnerVariables<Real>(state, kernel, stride), slope_(state.size(), Real{0}) {}

  CUTPLANE_INLINE Pair select(int, const Candidates<Real>& c, const Extremes& extremes) {
    const index_t i = extremes.up;
    const float* k = this->row(i);
    const Real* slope = slope_.data();
    const Real f_i = c.f[i], slope_i = slope[i];
    const Real inverse = count_ > 0 ? static_cast<Real>(1.0 / bend_) : Real{0};
    const Best<Real> best = argmax<Real>(c.n, [&](index_t t) {
      const Real difference = c.f[t] - f_i, along = slope_i - slope[t];
      const Real eta = curvature(c, i, t, k[t]);
      const Real left =
          std::max(eta - along * along * inverse, static_cast<Real>(kLeastShare) * eta);
      const Real gain = difference * difference / left;
      return (c.can_shrink(t) & (difference > 0)) ? gain : kNever<Real>;
    });
    if (best.at < 0) return {};
    return {i, best.at, static_cast<double>(c.f[best.at]) - f_i, 0.5 * best.score};
  }

  CUTPLANE_INLINE bool move(const Pair& pair) {
    const index_t i = pair.up, j = pair.low;
    const double eta = curvature(this->candidates(0), i, j, this->row(i)[j]);
    if (count_ > 0 && conjugate_step(pair, eta)) return true;
    count_ = 0;
    const double wanted = pair.violation / eta;
    const double step = this->step_pair(i, j, wanted);
    if (!(step > 0.0)) return false;
    add_slope(i, j, Real{0}, static_cast<Real>(step));
    if (step < wanted) return true;
    count_ = 2;
    place_[0] = i, place_[1] = j;
    share_[0] = 1.0, share_[1] = -1.0;
    bend_ = eta;
    return true;
  }

 private:
  // Of a pair's curvature, what must be left of it along the conjugate direction.
  static constexpr double kLeastShare = 1e-3;
  static constexpr int kMost = 32;  // variables of a direction

  CUTPLANE_INLINE bool conjugate_step(const Pair& pair, double eta) {
    const index_t i = pair.up, j = pair.low;
    const double along = static_cast<double>(slope_[i]) - static_cast<double>(slope_[j]);
    const double bend = eta - along * along / bend_, of_last = -along / bend_;
    if (!(bend > kLeastShare * eta)) return false;
    for (int m = 0; m < count_; ++m) share_[m] *= of_last;
    add_share(i, 1.0);
    add_share(j, -1.0);
    const double wanted = pair.violation / bend;
    const auto [step, blocked] = within_the_box(wanted);
    if (!(step > 0.0)) return false;
    bool moved = false;
    for (int m = 0; m < count_; ++m) moved |= advance(m, step, m == blocked);
    if (!moved) return false;
    add_slope(i, j, static_cast<Real>(of_last), static_cast<Real>(step));
    bend_ = bend;
    if (blocked >= 0 || count_ > kMost - 2) count_ = 0;
    return true;
  }

  void add_share(index_t t, double value) {
    const auto end = place_.begin() + count_;
    const auto at = std::find(place_.begin(), end, t);
    if (at == end) {
      place_[count_] = t;
      share_[count_++] = value;
    } else {
      share_[at - place_.begin()] += value;
    }
  }

  // How far the direction can be followed, at most as far as wanted, and which of its variables
  // ends that, or -1.
  std::pair<double, int> within_the_box(double wanted) const {
    const InnerState& s = this->state_;
    std::pair<double, int> found{wanted, -1};
    for (int m = 0; m < count_; ++m) {
      const index_t t = place_[m];
      const double there = s.b[t] + found.first * share_[m];
      const double bound = share_[m] > 0.0 ? s.high[t] : s.low[t];
      if (share_[m] > 0.0 ? there > bound : there < bound)
        found = {(bound - s.b[t]) / share_[m], m};
    }
    return found;
  }

  // Whether a variable has moved.
  bool advance(int m, double step, bool to_bound) {
    const InnerState& s = this->state_;
    const index_t t = place_[m];
    const double old = s.b[t], bound = share_[m] > 0.0 ? s.high[t] : s.low[t];
    const double there = old + step * share_[m];
    this->set(t, to_bound ? bound : std::clamp(there, s.low[t], s.high[t]));
    return s.b[t] != old;
  }

  // The slopes along the new direction, and f after a step along it.
  CUTPLANE_INLINE void add_slope(index_t i, index_t j, Real of_last, Real step) {
    const float *k_up = this->row(i), *k_low = this->row(j);
    this->note_rounding(step);
    Real *f = this->f_.data(), *slope = slope_.data();
    const index_t n = this->state_.size();
    for (index_t t = 0; t < n; ++t) {
      slope[t] = of_last * slope[t] + (static_cast<Real>(k_up[t]) - static_cast<Real>(k_low[t]));
      f[t] += step * slope[t];
    }
  }

  std::vector<Real> slope_;  // K p
  std::array<index_t, kMost> place_{};
  std::array<double, kMost> share_{};
  int count_ = 0;      // variables of p, 0 for none
  double bend_ = 0.0;  // p'K p
};

}  // namespace cutplane::smo
