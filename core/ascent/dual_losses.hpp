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

// Of Newton's method for the logistic loss: a step as short as kClose leaves a ten-thousandth of
// itself, or less.
inline constexpr int kNewtonSteps = 40;
inline constexpr double kClose = 1e-2, kLeast = 1e-12;

// What one visit of an example does.
struct DualMove {
  double next;       // the dual variable
  double projected;  // the gradient it had, 0 where a bound (or a kink) holds it
  double gain;       // of the dual value
  double open;       // what the example had of the duality gap
  bool idle;         // settled at a bound, beyond the last sweep's violations: nothing else holds
};

// A move, and by how much it changes with the score. Most of the work of a move is this: it can be
// done before the last changes of the score are known.
struct StaleMove {
  DualMove move;
  double response;
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

// One example's share. Heights are parabolas in pieces, target·alpha - epsilon·|alpha| -
// ½·ridge·alpha² for low <= alpha <= high; of the logistic loss, alpha from 0 to u, the height is u
// times the entropy of alpha/u, less alpha·sign times a base score, which is the target.
struct DualTerm {
  bool logistic;
  double sign, target, low, high, epsilon, ridge;

  DualRoom room(double alpha) const {
    const bool kink = epsilon > 0.0;
    return {kink && alpha >= 0.0 ? 0.0 : low, kink && alpha <= 0.0 ? 0.0 : high};
  }
  double height(double alpha) const {
    return logistic ? logistic_height(alpha)
                    : alpha * (target - 0.5 * ridge * alpha) - epsilon * std::abs(alpha);
  }
  double slope(double alpha) const {
    return logistic ? logistic_slope(alpha)
                    : target - ridge * alpha -
                          (alpha > 0.0   ? epsilon
                           : alpha < 0.0 ? -epsilon
                                         : 0.0);
  }
  double bend(double alpha) const { return logistic ? logistic_bend(alpha) : ridge; }

  // The derivatives of minus the dual value where alpha rises and where it falls.
  CUTPLANE_INLINE double rising(double alpha, double score) const {
    return sign * score - target + ridge * alpha + (alpha >= 0.0 ? epsilon : -epsilon);
  }
  CUTPLANE_INLINE double falling(double alpha, double score) const {
    return sign * score - target + ridge * alpha + (alpha > 0.0 ? epsilon : -epsilon);
  }
  // Whether alpha is where a bound or a kink holds it, by at least so much.
  bool settled(double alpha, double score, double distance) const {
    const bool stays = rising(alpha, score) > distance, holds = falling(alpha, score) < -distance;
    return !logistic && ((alpha == low && stays) || (alpha == high && holds) ||
                         (alpha == 0.0 && stays && holds));
  }
  bool wants_to_move(double alpha, double score) const {
    return logistic || (falling(alpha, score) > 0.0 && alpha > low) ||
           (rising(alpha, score) < 0.0 && alpha < high);
  }
  // The example's share of the duality gap: by how much another alpha would do better alone, were v
  // fixed. Heights must be parabolas.
  CUTPLANE_INLINE double open(double alpha, double score) const {
    const double rise = target - sign * score;
    const auto worth = [&](double a) CUTPLANE_INLINED {
      return a * (rise - 0.5 * ridge * a) - epsilon * std::abs(a);
    };
    const double free = std::abs(rise) - epsilon;
    double best = 0.0;
    if (free > 0.0) {
      const double far = rise > 0.0 ? high : low;
      const double wanted = ridge > 0.0 ? std::copysign(free / ridge, rise) : far;
      best = worth(std::clamp(wanted, low, high));
    }
    return best - worth(alpha);
  }

 private:
  double logistic_height(double alpha) const {
    const double p = alpha / high;
    const double entropy =
        -(p > 0.0 ? p * std::log(p) : 0.0) - (p < 1.0 ? (1.0 - p) * std::log1p(-p) : 0.0);
    return high > 0.0 ? high * entropy - alpha * sign * target : 0.0;
  }

  double logistic_slope(double alpha) const {
    return high > 0.0
               ? std::log(std::max(high - alpha, kLeast * high) / std::max(alpha, kLeast * high)) -
                     sign * target
               : 0.0;
  }

  double logistic_bend(double alpha) const {
    const double p = std::clamp(alpha / high, kLeast, 1.0 - kLeast);
    return high > 0.0 ? 1.0 / (high * p * (1.0 - p)) : 0.0;
  }
};

CUTPLANE_INLINE double logistic(double z) {
  const double small = exp_negative(-std::abs(z));
  const double less = small / (1.0 + small);
  return z < 0.0 ? less : 1.0 - less;
}

// The best move under the logistic loss.
CUTPLANE_INLINE StaleMove logistic_move(double sign, double base, double upper, double alpha,
                                        double score, double per_curvature) {
  if (!(upper > 0.0)) return {{0.0, 0.0, 0.0, 0.0, false}, 0.0};
  // In z, the logit of alpha/u, the dual value is greatest where z + margin + curvature·(u·p(z) -
  // alpha) is zero: it rises in z, by at least 1. Newton's method from where v alone would have it.
  const double margin = sign * (score + base);
  const double curvature = per_curvature > 0.0 ? 1.0 / per_curvature : 0.0;
  double z = -margin, p = logistic(z);
  const double primal = p;
  double f = curvature * (upper * p - alpha);
  // As it rises by at least 1, it is zero before it has fallen by f.
  double low = f > 0.0 ? z - f : z, high = f > 0.0 ? z : z - f;
  for (int k = 0; k < kNewtonSteps; ++k) {
    double next = z - f / (1.0 + curvature * upper * p * (1.0 - p));
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool done = std::abs(next - z) <= kClose;
    z = next;
    p = logistic(z);
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

// The same when the score has changed by so much since. However far that leads, alpha stays between
// its bounds.
CUTPLANE_INLINE DualMove late_move(double upper, double alpha, const StaleMove& stale,
                                   double change) {
  constexpr double kNearest = 0.1;  // of the way to a bound: a change of the score leaves this much
  DualMove late = stale.move;
  const double first = late.next;
  late.next = std::clamp(first + stale.response * change, kNearest * first,
                         upper - kNearest * (upper - first));
  late.projected = late.next - alpha;
  return late;
}

// Where the dual value is greatest along alpha, `gradient` being that of the way it goes.
CUTPLANE_INLINE double stepped(const DualTerm& term, double alpha, double score, double gradient,
                               double per) {
  double next = alpha - gradient * per;
  if (term.epsilon > 0.0 && alpha * next < 0.0) {
    // Beyond zero the slope is another: there it may go on, or stay.
    const double beyond = alpha < 0.0 ? term.rising(0.0, score) : term.falling(0.0, score);
    next = alpha - (beyond + term.ridge * alpha) * per;
    next = alpha < 0.0 ? std::max(next, 0.0) : std::min(next, 0.0);
  }
  return std::clamp(next, term.low, term.high);
}

CUTPLANE_INLINE DualMove quadratic_move(const DualTerm& term, double alpha, double score,
                                        double per_curvature, const ShrinkBounds& shrink) {
  const double up = term.rising(alpha, score), down = term.falling(alpha, score);
  const double epsilon = term.epsilon, ridge = term.ridge;
  double projected = 0.0;
  bool idle = false;
  if (alpha == term.low) {
    idle = up > shrink.above;
    projected = up < 0.0 ? up : 0.0;
  } else if (alpha == term.high) {
    idle = down < shrink.below;
    projected = down > 0.0 ? down : 0.0;
  } else {
    idle = epsilon > 0.0 && alpha == 0.0 && up > shrink.above && down < shrink.below;
    projected = up < 0.0 ? up : (down > 0.0 ? down : 0.0);
  }
  if (idle || projected == 0.0) return {alpha, projected, 0.0, 0.0, idle};
  const double plain = score - term.target;
  double next = 0.0, curvature = ridge;
  if (per_curvature > 0.0) {
    curvature += 1.0 / per_curvature;
    next = stepped(term, alpha, score, projected, 1.0 / curvature);
  } else if (ridge > 0.0) {
    next = stepped(term, alpha, score, projected, 1.0 / ridge);
  } else {  // an empty row: its score is what it is
    const double far = projected < 0.0 ? term.high : term.low;
    next = epsilon > 0.0 && std::abs(plain) <= epsilon ? 0.0 : far;
  }
  const double change = next - alpha;
  const double gain = -change * (plain + ridge * alpha + 0.5 * change * curvature) -
                      epsilon * (std::abs(next) - std::abs(alpha));
  return {next, projected, gain, term.open(alpha, score), false};
}

// The hinge, max(0, 1 - y s): alpha from 0 to u, sign y.
//
// The quadratic losses, whose heights are parabolas in pieces: target·alpha - epsilon·|alpha| -
// ½·ridge/u·alpha² for -above·u <= alpha <= below·u, the sign being 1. These are the hinge and its
// square (where alpha has the sign of the label), tubes around a target and their squares, and
// Huber's loss.
//
// The logistic loss, log(1 + exp(-y s)): alpha from 0 to u, sign y.
struct DualLoss {
  enum class Kind { hinge, quadratic, logistic };

  Kind kind = Kind::hinge;
  DualWeights weights{};
  const std::int8_t* labels = nullptr;  // y of the hinge
  const double* y = nullptr;            // of the others
  const double* base = nullptr;         // scores that are there whatever v is; null: none
  double above = 0, below = 0, epsilon = 0, ridge = 0;  // of the quadratic losses
  bool one_sided = false;                               // alpha has the sign of the label

  // Heights are linear: the rise of a way is that of its ends.
  CUTPLANE_INLINE bool linear() const { return kind == Kind::hinge; }
  CUTPLANE_INLINE bool parabolas() const { return kind != Kind::logistic; }

  CUTPLANE_INLINE double sign(index_t e) const { return sign(kind, e); }
  CUTPLANE_INLINE DualTerm at(index_t e) const { return at(kind, e); }
  // Where the dual value is greatest along the variable of an example, alpha being its value now.
  CUTPLANE_INLINE DualMove move(index_t e, double alpha, double score, double per_curvature,
                                const ShrinkBounds& shrink) const {
    return move(kind, e, alpha, score, per_curvature, shrink);
  }

  // The same where the compiler knows the kind.
  CUTPLANE_INLINE double sign(Kind known, index_t e) const {
    return known == Kind::hinge       ? static_cast<double>(labels[e])
           : known == Kind::quadratic ? 1.0
                                      : y[e];
  }
  CUTPLANE_INLINE DualTerm at(Kind known, index_t e) const {
    const double u = weights[e];
    if (known == Kind::hinge) return {false, static_cast<double>(labels[e]), 1.0, 0.0, u, 0.0, 0.0};
    const double label = y[e];
    if (known == Kind::logistic) return {true, label, base ? base[e] : 0.0, 0.0, u, 0.0, 0.0};
    const double low = one_sided && label > 0.0 ? 0.0 : u > 0.0 ? -above * u : 0.0;
    const double high = one_sided && label < 0.0 ? 0.0 : u > 0.0 ? below * u : 0.0;
    return {false, 1.0,     base ? label - base[e] : label, low,
            high,  epsilon, u > 0.0 ? ridge / u : 0.0};
  }
  CUTPLANE_INLINE DualMove move(Kind known, index_t e, double alpha, double score,
                                double per_curvature, const ShrinkBounds& shrink) const {
    if (known == Kind::hinge) return hinge_move(e, alpha, score, per_curvature, shrink);
    if (known == Kind::logistic)
      return logistic_move(y[e], base ? base[e] : 0.0, weights[e], alpha, score, per_curvature)
          .move;
    return quadratic_move(at(known, e), alpha, score, per_curvature, shrink);
  }

  CUTPLANE_INLINE DualMove hinge_move(index_t e, double alpha, double score, double per_curvature,
                                      const ShrinkBounds& shrink) const {
    const double upper = weights[e];
    const double gradient = static_cast<double>(labels[e]) * score - 1.0;
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
    const double open = alpha * gradient - upper * (gradient < 0.0 ? gradient : 0.0);
    return {next, projected, gain, open, false};
  }
};

}  // namespace cutplane
