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

CUTPLANE_INLINE StaleMove newton_move(double sign, double base, double upper, double alpha,
                                      double score, double per_curvature) {
  if (!(upper > 0.0)) return {{0.0, 0.0, 0.0, 0.0, false}, 0.0};
  // In z, the logit of alpha/u, the dual value is greatest where z + margin + curvature·(u·p(z) -
  // alpha) is zero: it rises in z, by at least 1. Newton's method from where v alone would have it.
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

}  // namespace

CUTPLANE_MULTIVERSION DualMove logistic_move(double sign, double base, double upper, double alpha,
                                             double score, double per_curvature) {
  return newton_move(sign, base, upper, alpha, score, per_curvature).move;
}

CUTPLANE_MULTIVERSION StaleMove stale_logistic_move(double sign, double base, double upper,
                                                    double alpha, double score,
                                                    double per_curvature) {
  return newton_move(sign, base, upper, alpha, score, per_curvature);
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
