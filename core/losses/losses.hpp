// Losses of one score s against a target y (a label of -1 or +1, or a number), as what a sweep over
// examples needs of them. Each is convex in s.
//
// A loss that has kinks is rounded over a width h: there the slope rises from one side's to the
// other's in proportion. Every slope it takes on the way is that of a plane below the loss itself.
// A smooth loss is its own rounding, whatever h is.
#pragma once

#include <cmath>

#include "core/base/multiversion.hpp"
#include "core/losses/exponential.hpp"

namespace cutplane {

struct LossAt {
  double value;      // the loss
  double slope;      // of the rounded loss
  double height;     // of the plane slope * s + height: the highest that is below the loss
  double rounded;    // the rounded loss
  double curvature;  // of the rounded loss
};

// max(0, 1 - y s)².
struct SquaredHingeLoss {
  static constexpr bool kSmooth = true;
  CUTPLANE_INLINE LossAt at(double s, double y, double) const {
    const double raw = 1.0 - y * s;
    const double z = raw > 0.0 ? raw : 0.0;
    return {z * z, -2.0 * y * z, z * (2.0 - z), z * z, raw > 0.0 ? 2.0 : 0.0};
  }
  CUTPLANE_INLINE double height(double slope, double y) const {
    const double p = -y * slope;
    return p - 0.25 * p * p;
  }
};

// log(1 + exp(-y s)).
struct LogisticLoss {
  static constexpr bool kSmooth = true;
  CUTPLANE_INLINE LossAt at(double s, double y, double) const {
    const double m = y * s;
    const double small = exp_negative(-std::abs(m));  // exp(-|m|), at most 1
    const double less = small / (1.0 + small);        // the smaller of the two probabilities
    const double p = m > 0.0 ? less : 1.0 - less;     // of the other label
    const double rest = log1p_of_unit(small);
    const double value = m > 0.0 ? rest : rest - m;
    return {value, -y * p, rest + less * std::abs(m), value, less * (1.0 - less)};
  }
  CUTPLANE_INLINE double height(double slope, double y) const {
    const double p = -y * slope;
    return -(p > 0.0 ? p * std::log(p) : 0.0) - (p < 1.0 ? (1.0 - p) * std::log1p(-p) : 0.0);
  }
};

// max(0, |s - y| - epsilon)².
struct SquaredEpsilonLoss {
  static constexpr bool kSmooth = true;
  double epsilon;
  CUTPLANE_INLINE LossAt at(double s, double y, double) const {
    const double u = s - y;
    const double raw = std::abs(u) - epsilon;
    const double z = raw > 0.0 ? raw : 0.0;
    const double slope = u > 0.0 ? 2.0 * z : -2.0 * z;
    return {z * z, slope, height(slope, y), z * z, raw > 0.0 ? 2.0 : 0.0};
  }
  CUTPLANE_INLINE double height(double slope, double y) const {
    return -slope * y - epsilon * std::abs(slope) - 0.25 * slope * slope;
  }
};

// ½ (s - y)² up to delta, from there on its tangent.
struct HuberLoss {
  static constexpr bool kSmooth = true;
  double delta;
  CUTPLANE_INLINE LossAt at(double s, double y, double) const {
    const double u = s - y;
    const double below = u < delta ? u : delta;
    const double slope = below > -delta ? below : -delta;
    const double value = slope * (u - 0.5 * slope);
    return {value, slope, height(slope, y), value, slope == u ? 1.0 : 0.0};
  }
  CUTPLANE_INLINE double height(double slope, double y) const {
    return -slope * y - 0.5 * slope * slope;
  }
};

// above · max(0, s - y - epsilon) + below · max(0, y - epsilon - s): a tube around the target with
// a price for each side. Two hinges, so two kinks.
struct TubeLoss {
  static constexpr bool kSmooth = false;
  double above, below, epsilon;
  CUTPLANE_INLINE LossAt at(double s, double y, double h) const {
    const double over = s - y - epsilon, under = y - epsilon - s;
    const double raw_over = over / h + 0.5, raw_under = under / h + 0.5;
    const double pi_over = clip(raw_over), pi_under = clip(raw_under);
    const double slope = above * pi_over - below * pi_under;
    const double rounded = above * pi_over * (over + 0.5 * h * (1.0 - pi_over)) +
                           below * pi_under * (under + 0.5 * h * (1.0 - pi_under));
    const double curvature =
        ((raw_over == pi_over ? above : 0.0) + (raw_under == pi_under ? below : 0.0)) / h;
    return {value(s, y), slope, height(slope, y), rounded, curvature};
  }
  // Without rounding, a slope on a kink being that of the tube.
  CUTPLANE_INLINE LossAt touch(double s, double y) const {
    const double slope = (s - y > epsilon ? above : 0.0) - (y - s > epsilon ? below : 0.0);
    const double loss = value(s, y);
    return {loss, slope, height(slope, y), loss, 0.0};
  }
  CUTPLANE_INLINE double value(double s, double y) const {
    const double over = s - y - epsilon, under = y - epsilon - s;
    return above * (over > 0.0 ? over : 0.0) + below * (under > 0.0 ? under : 0.0);
  }
  CUTPLANE_INLINE double height(double slope, double y) const {
    return -slope * y - epsilon * std::abs(slope);
  }

 private:
  static CUTPLANE_INLINE double clip(double raw) {
    const double positive = raw > 0.0 ? raw : 0.0;
    return positive < 1.0 ? positive : 1.0;
  }
};

}  // namespace cutplane
