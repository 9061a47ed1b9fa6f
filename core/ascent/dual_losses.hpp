// The losses that dual coordinate ascent knows, as seen by one dual variable.
//
// An example with the score s costs u·loss(s), u being C times its weight. Its dual variable alpha
// adds alpha·sign·x to v and height(alpha) to the dual value: the height at which the plane of
// slope -alpha·sign touches u·loss. A term below is one example's share: where alpha may lie, and
// where the dual value is greatest if alpha alone moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/multiversion.hpp"
#include "core/base/parallel.hpp"
#include "core/losses/exponential.hpp"

namespace cutplane {

// What one visit of an example does.
struct DualMove {
  double next;       // the dual variable
  double projected;  // the gradient it had, 0 where a bound (or a kink) holds it
  double gain;       // of the dual value
  double open;       // what the example had of the duality gap
  bool idle;         // settled at a bound, beyond the last sweep's violations: nothing else holds
};

// Violations of the last sweep: beyond them an example at its bound has settled.
struct ShrinkBounds {
  double above = INFINITY, below = -INFINITY;
};

// Between which values the height of a variable is one parabola.
struct DualRoom {
  double low, high;
};

// u of each example, or of all.
struct DualWeights {
  const double* each;  // null: `all` for every example
  double all;
  CUTPLANE_INLINE double operator[](index_t e) const { return each ? each[e] : all; }
};

// max(0, 1 - y s): alpha from 0 to u, sign y.
struct HingeDual {
  static constexpr bool kLinear = true;     // heights are: the rise of a way is that of its ends
  static constexpr bool kParabolas = true;  // in pieces
  const std::int8_t* y;
  DualWeights weights;

  struct Term {
    double sign, upper;
    CUTPLANE_INLINE double low() const { return 0.0; }
    CUTPLANE_INLINE double high() const { return upper; }
    CUTPLANE_INLINE DualRoom room(double) const { return {0.0, upper}; }
    CUTPLANE_INLINE double height(double alpha) const { return alpha; }
    CUTPLANE_INLINE double slope(double) const { return 1.0; }
    CUTPLANE_INLINE double bend(double) const { return 0.0; }
    // Whether alpha is where a bound holds it, by at least so much.
    CUTPLANE_INLINE bool settled(double alpha, double score, double distance) const {
      const double gradient = sign * score - 1.0;
      return (gradient > distance && alpha == 0.0) || (gradient < -distance && alpha == upper);
    }
    CUTPLANE_INLINE bool wants_to_move(double alpha, double score) const {
      const double gradient = sign * score - 1.0;
      return (gradient > 0.0 && alpha > 0.0) || (gradient < 0.0 && alpha < upper);
    }
    // The example's share of the duality gap: by how much another alpha would do better alone, were
    // v fixed.
    CUTPLANE_INLINE double open(double alpha, double score) const {
      const double gradient = sign * score - 1.0;
      return alpha * gradient - upper * (gradient < 0.0 ? gradient : 0.0);
    }
    CUTPLANE_INLINE DualMove move(double alpha, double score, double per_curvature,
                                  const ShrinkBounds& shrink) const {
      const double gradient = sign * score - 1.0;
      double projected = gradient;
      bool idle = false;
      if (alpha == 0.0) {
        idle = gradient > shrink.above;
        projected = gradient < 0.0 ? gradient : 0.0;
      } else if (alpha == upper) {
        idle = gradient < shrink.below;
        projected = gradient > 0.0 ? gradient : 0.0;
      }
      if (idle || projected == 0.0) return {alpha, projected, 0.0, 0.0, idle};
      double next = 0.0, curvature = 0.0;
      if (per_curvature > 0.0) {
        curvature = 1.0 / per_curvature;
        next = alpha - gradient * per_curvature;
        next = next < 0.0 ? 0.0 : (next > upper ? upper : next);
      } else {
        next = gradient < 0.0 ? upper : 0.0;  // an empty row: its loss is 1 whatever w is
      }
      const double change = next - alpha;
      const double gain = -change * (gradient + 0.5 * change * curvature);
      return {next, projected, gain, open(alpha, score), false};
    }
  };

  CUTPLANE_INLINE Term at(index_t e) const { return {static_cast<double>(y[e]), weights[e]}; }
};

// Losses whose heights are parabolas in pieces: target·alpha - epsilon·|alpha| - ½·ridge/u·alpha²
// for -above·u <= alpha <= below·u, the sign being 1. These are the hinge and its square (where
// alpha has the sign of the label), tubes around a target and their squares, and Huber's loss.
struct QuadraticDual {
  static constexpr bool kLinear = false;
  static constexpr bool kParabolas = true;
  const double* y;
  const double* base;  // scores that are there whatever v is; null: none
  DualWeights weights;
  double above, below, epsilon, ridge;
  bool one_sided;  // alpha has the sign of the label

  struct Term {
    double target, lowest, highest, epsilon, ridge;
    static constexpr double sign = 1.0;
    CUTPLANE_INLINE double low() const { return lowest; }
    CUTPLANE_INLINE double high() const { return highest; }
    CUTPLANE_INLINE DualRoom room(double alpha) const {
      const bool kink = epsilon > 0.0;
      return {kink && alpha >= 0.0 ? 0.0 : lowest, kink && alpha <= 0.0 ? 0.0 : highest};
    }
    CUTPLANE_INLINE double height(double alpha) const {
      return alpha * (target - 0.5 * ridge * alpha) - epsilon * std::abs(alpha);
    }
    CUTPLANE_INLINE double slope(double alpha) const {
      return target - ridge * alpha - (alpha > 0.0 ? epsilon : alpha < 0.0 ? -epsilon : 0.0);
    }
    CUTPLANE_INLINE double bend(double) const { return ridge; }
    // The derivatives of minus the dual value where alpha rises and where it falls.
    CUTPLANE_INLINE double rising(double alpha, double score) const {
      return score - target + ridge * alpha + (alpha >= 0.0 ? epsilon : -epsilon);
    }
    CUTPLANE_INLINE double falling(double alpha, double score) const {
      return score - target + ridge * alpha + (alpha > 0.0 ? epsilon : -epsilon);
    }
    CUTPLANE_INLINE bool settled(double alpha, double score, double distance) const {
      const double up = rising(alpha, score), down = falling(alpha, score);
      if (alpha == lowest) return up > distance;
      if (alpha == highest) return down < -distance;
      return alpha == 0.0 && up > distance && down < -distance;
    }
    CUTPLANE_INLINE bool wants_to_move(double alpha, double score) const {
      return (falling(alpha, score) > 0.0 && alpha > lowest) ||
             (rising(alpha, score) < 0.0 && alpha < highest);
    }
    // Where the dual value is greatest along alpha, `gradient` being that of the way it goes.
    CUTPLANE_INLINE double stepped(double alpha, double score, double gradient, double per) const {
      double next = alpha - gradient * per;
      if (epsilon > 0.0 && alpha * next < 0.0) {
        // Beyond zero the slope is another: there it may go on, or stay.
        const double beyond = alpha < 0.0 ? rising(0.0, score) : falling(0.0, score);
        next = alpha - (beyond + ridge * alpha) * per;
        next = alpha < 0.0 ? std::max(next, 0.0) : std::min(next, 0.0);
      }
      return std::clamp(next, lowest, highest);
    }
    // As of the hinge.
    CUTPLANE_INLINE double open(double alpha, double score) const {
      const double rise = target - score;
      const auto worth = [&](double a) {
        return a * (rise - 0.5 * ridge * a) - epsilon * std::abs(a);
      };
      const double free = std::abs(rise) - epsilon;
      double best = 0.0;
      if (free > 0.0) {
        const double far = rise > 0.0 ? highest : lowest;
        const double wanted = ridge > 0.0 ? std::copysign(free / ridge, rise) : far;
        best = worth(std::clamp(wanted, lowest, highest));
      }
      return best - worth(alpha);
    }
    CUTPLANE_INLINE DualMove move(double alpha, double score, double per_curvature,
                                  const ShrinkBounds& shrink) const {
      const double up = rising(alpha, score), down = falling(alpha, score);
      double projected = 0.0;
      bool idle = false;
      if (alpha == lowest) {
        idle = up > shrink.above;
        projected = up < 0.0 ? up : 0.0;
      } else if (alpha == highest) {
        idle = down < shrink.below;
        projected = down > 0.0 ? down : 0.0;
      } else {
        idle = epsilon > 0.0 && alpha == 0.0 && up > shrink.above && down < shrink.below;
        projected = up < 0.0 ? up : (down > 0.0 ? down : 0.0);
      }
      if (idle || projected == 0.0) return {alpha, projected, 0.0, 0.0, idle};
      double next = 0.0, curvature = ridge;
      if (per_curvature > 0.0) {
        curvature += 1.0 / per_curvature;
        next = stepped(alpha, score, projected, 1.0 / curvature);
      } else if (ridge > 0.0) {
        next = stepped(alpha, score, projected, 1.0 / ridge);
      } else {  // an empty row: its score is what it is
        const double far = projected < 0.0 ? highest : lowest;
        next = epsilon > 0.0 && std::abs(score - target) <= epsilon ? 0.0 : far;
      }
      const double change = next - alpha;
      const double plain = score - target + ridge * alpha;
      const double gain = -change * (plain + 0.5 * change * curvature) -
                          epsilon * (std::abs(next) - std::abs(alpha));
      return {next, projected, gain, open(alpha, score), false};
    }
  };

  CUTPLANE_INLINE Term at(index_t e) const {
    const double u = weights[e], label = y[e];
    const double lowest = one_sided && label > 0.0 ? 0.0 : u > 0.0 ? -above * u : 0.0;
    const double highest = one_sided && label < 0.0 ? 0.0 : u > 0.0 ? below * u : 0.0;
    return {base ? label - base[e] : label, lowest, highest, epsilon, u > 0.0 ? ridge / u : 0.0};
  }
};

// log(1 + exp(-y s)): alpha from 0 to u, sign y, the height u times the entropy of alpha/u.
struct LogisticDual {
  static constexpr bool kLinear = false;
  static constexpr bool kParabolas = false;
  const double* y;
  const double* base;
  DualWeights weights;

  struct Term {
    double sign, upper, base;
    CUTPLANE_INLINE double low() const { return 0.0; }
    CUTPLANE_INLINE double high() const { return upper; }
    CUTPLANE_INLINE DualRoom room(double) const { return {0.0, upper}; }
    CUTPLANE_INLINE double height(double alpha) const {
      const double p = alpha / upper;
      const double entropy =
          -(p > 0.0 ? p * std::log(p) : 0.0) - (p < 1.0 ? (1.0 - p) * std::log1p(-p) : 0.0);
      return upper > 0.0 ? upper * entropy - alpha * sign * base : 0.0;
    }
    CUTPLANE_INLINE double slope(double alpha) const {
      return upper > 0.0 ? std::log(std::max(upper - alpha, kLeast * upper) /
                                    std::max(alpha, kLeast * upper)) -
                               sign * base
                         : 0.0;
    }
    CUTPLANE_INLINE double bend(double alpha) const {
      const double p = std::clamp(alpha / upper, kLeast, 1.0 - kLeast);
      return upper > 0.0 ? 1.0 / (upper * p * (1.0 - p)) : 0.0;
    }
    CUTPLANE_INLINE bool settled(double, double, double) const { return false; }
    CUTPLANE_INLINE bool wants_to_move(double, double) const { return true; }
    CUTPLANE_INLINE DualMove move(double alpha, double score, double per_curvature,
                                  const ShrinkBounds&) const {
      return stale_move(alpha, score, per_curvature).move;
    }
    // Where alpha goes, and by how much that changes with the score. Most of the work of a move is
    // this: it can be done before the last changes of the score are known.
    struct Stale {
      DualMove move;
      double response;
    };
    CUTPLANE_INLINE Stale stale_move(double alpha, double score, double per_curvature) const {
      if (!(upper > 0.0)) return {{0.0, 0.0, 0.0, 0.0, false}, 0.0};
      // In z, the logit of alpha/u, the dual value is greatest where z + margin + curvature·(u·p(z)
      // - alpha) is zero: it rises in z, by at least 1. Newton's method from where v alone would
      // have it.
      const double margin = sign * (score + base);
      const double curvature = per_curvature > 0.0 ? 1.0 / per_curvature : 0.0;
      double z = -margin, p = probability(z);
      const double primal = p;
      double f = curvature * (upper * p - alpha);
      // As it rises by at least 1, it is zero before it has fallen by f.
      double low = f > 0.0 ? z - f : z, high = f > 0.0 ? z : z - f;
      for (int k = 0; k < kSteps; ++k) {
        double next = z - f / (1.0 + curvature * upper * p * (1.0 - p));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        const bool done = std::abs(next - z) <= kClose;
        z = next;
        p = probability(z);
        if (done) break;
        f = z + margin + curvature * (upper * p - alpha);
        (f > 0.0 ? high : low) = z;
      }
      const double next = upper * p, change = next - alpha;
      // The divergence of two coins, by a bound that needs no logarithm.
      const double spread = std::max(primal * (1.0 - primal), kLeast);
      const double off = alpha / upper - primal;
      const double open = upper * off * off / spread;
      const double gain = 0.5 * change * change * (curvature + 1.0 / (upper * spread));
      const double bend = upper * p * (1.0 - p);
      return {{next, change, gain, open, false}, -sign * bend / (1.0 + curvature * bend)};
    }
    // The same when the score has changed by so much. However far that leads, alpha stays between
    // its bounds.
    CUTPLANE_INLINE DualMove late_move(double alpha, const Stale& stale, double change) const {
      DualMove late = stale.move;
      const double first = late.next;
      late.next = std::clamp(first + stale.response * change, kNearest * first,
                             upper - kNearest * (upper - first));
      late.projected = late.next - alpha;
      return late;
    }

   private:
    // Of the way to a bound: a change of the score leaves this much.
    static constexpr double kNearest = 0.1;
    static constexpr int kSteps = 40;
    // A step as short leaves a ten-thousandth of itself, or less.
    static constexpr double kClose = 1e-2, kLeast = 1e-12;
    static CUTPLANE_INLINE double probability(double z) {
      const double small = exp_negative(-std::abs(z));
      const double less = small / (1.0 + small);
      return z < 0.0 ? less : 1.0 - less;
    }
  };

  CUTPLANE_INLINE Term at(index_t e) const { return {y[e], weights[e], base ? base[e] : 0.0}; }
};

}  // namespace cutplane
