#include "core/ascent/dual_losses.hpp"

#include "core/losses/exponential.hpp"

namespace cutplane {
namespace {

constexpr int kSteps = 40;
// A step as short leaves a ten-thousandth of itself, or less.
constexpr double kClose = 1e-2, kLeast = 1e-12;

CUTPLANE_INLINE double probability(double z) {
  const double small = exp_negative(-std::abs(z));
  const double less = small / (1.0 + small);
  return z < 0.0 ? less : 1.0 - less;
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

}  // namespace

CUTPLANE_MULTIVERSION StaleMove stale_move(const DualTerm& term, double alpha, double score,
                                           double per_curvature) {
  const double sign = term.sign, upper = term.high;
  if (!(upper > 0.0)) return {{0.0, 0.0, 0.0, 0.0, false}, 0.0};
  // In z, the logit of alpha/u, the dual value is greatest where z + margin + curvature·(u·p(z) -
  // alpha) is zero: it rises in z, by at least 1. Newton's method from where v alone would have it.
  const double margin = sign * (score + term.target);
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

CUTPLANE_MULTIVERSION DualMove other_move(const DualLoss& loss, index_t e, double alpha,
                                          double score, double per_curvature,
                                          const ShrinkBounds& shrink) {
  const DualTerm term = loss.at(e);
  return term.logistic ? stale_move(term, alpha, score, per_curvature).move
                       : quadratic_move(term, alpha, score, per_curvature, shrink);
}

double DualTerm::logistic_height(double alpha) const {
  const double p = alpha / high;
  const double entropy =
      -(p > 0.0 ? p * std::log(p) : 0.0) - (p < 1.0 ? (1.0 - p) * std::log1p(-p) : 0.0);
  return high > 0.0 ? high * entropy - alpha * sign * target : 0.0;
}

double DualTerm::logistic_slope(double alpha) const {
  return high > 0.0
             ? std::log(std::max(high - alpha, kLeast * high) / std::max(alpha, kLeast * high)) -
                   sign * target
             : 0.0;
}

double DualTerm::logistic_bend(double alpha) const {
  const double p = std::clamp(alpha / high, kLeast, 1.0 - kLeast);
  return high > 0.0 ? 1.0 / (high * p * (1.0 - p)) : 0.0;
}

}  // namespace cutplane
