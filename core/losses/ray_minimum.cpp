#include "core/losses/ray_minimum.hpp"

#include <algorithm>
#include <cmath>

namespace cutplane {
namespace {

// Above this many breakpoints, buckets tell first which of them matter.
constexpr std::size_t kManyPoints = 1024;
constexpr int kBuckets = 128;

// Breakpoints between lo and hi, thrown into buckets: in one of them the slope turns.
class Buckets {
 public:
  Buckets(double lo, double hi) : lo_(lo), per_width_(kBuckets / (hi - lo)) {}

  bool usable() const { return std::isfinite(per_width_) && per_width_ != 0.0; }
  void add(const Breakpoint& point) { jumps_[bucket(point.t)] += point.jump; }
  // Finds the bucket where q t + g + C (jumps before t) turns; lo, hi and g, the slope at lo less
  // q lo, become those of the bucket.
  void settle(double q, double& g, double C, double& lo, double& hi) {
    double right = lo + 1 / per_width_;
    while (there_ < kBuckets - 1 && q * right + g + C * jumps_[there_] < 0.0) {
      g += C * jumps_[there_++];
      right = lo + (there_ + 1) / per_width_;
    }
    if (there_ < kBuckets - 1) hi = right;
    lo += there_ / per_width_;
  }
  bool has(const Breakpoint& point) const { return bucket(point.t) == there_; }

 private:
  int bucket(double t) const {
    const double place = (t - lo_) * per_width_;
    return place > 0.0 ? static_cast<int>(std::min(place, kBuckets - 1.0)) : 0;  // also for NaN
  }
  double lo_, per_width_;
  int there_ = 0;
  std::array<double, kBuckets> jumps_{};
};

// Of many breakpoints between lo and hi, those in the bucket where the slope turns.
void narrow_by_buckets(std::vector<Breakpoint>& points, double q, double& g, double C, double& lo,
                       double& hi) {
  while (points.size() > kManyPoints) {
    Buckets buckets(lo, hi);
    if (!buckets.usable()) return;
    for (const Breakpoint& point : points) buckets.add(point);
    buckets.settle(q, g, C, lo, hi);
    const std::size_t before = points.size();
    std::erase_if(points, [&](const Breakpoint& point) { return !buckets.has(point); });
    if (points.size() == before) return;  // all in one place
  }
}

// All of them, or of many those in the bucket where the slope turns: the others are never brought
// together.
std::vector<Breakpoint> join_parts(const BreakpointParts& parts, double q, double& g, double C,
                                   double& lo, double& hi) {
  std::vector<Breakpoint> points;
  Buckets buckets(lo, hi);
  std::size_t count = 0;
  for (const auto& part : parts) count += part.size();
  const bool many = count > kManyPoints && buckets.usable();
  if (many) {
    for (const auto& part : parts)
      for (const Breakpoint& point : part) buckets.add(point);
    buckets.settle(q, g, C, lo, hi);
  }
  for (const auto& part : parts)
    for (const Breakpoint& point : part)
      if (!many || buckets.has(point)) points.push_back(point);
  return points;
}

// The root of  q t + g + C (jumps at or before t)  among the breakpoints between lo and hi:
// quickselect, O(m) expected.
double select_root(std::vector<Breakpoint>& points, double q, double g, double C, double lo,
                   double hi) {
  narrow_by_buckets(points, q, g, C, lo, hi);
  auto first = points.begin();
  auto last = points.end();
  auto before = [](const Breakpoint& a, const Breakpoint& b) { return a.t < b.t; };
  while (first != last) {
    auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, before);
    double left = 0;
    for (auto it = first; it != middle; ++it) left += it->jump;
    if (q * middle->t + g + C * left >= 0.0) {
      hi = middle->t;
      last = middle;
    } else if (q * middle->t + g + C * (left + middle->jump) >= 0.0) {
      return middle->t;
    } else {
      lo = middle->t;
      g += C * (left + middle->jump);
      first = middle + 1;
    }
  }
  // Between lo and hi the slope is q t + g.
  if (q > 0.0) return std::clamp(-g / q, lo, hi);
  return g >= 0.0 || !std::isfinite(hi) ? lo : hi;
}

// Where the slope q t + linear + C g(t) turns from negative to not: an interval and the risk's
// slope g at its left end.
struct Bracket {
  double low = -INFINITY, high = INFINITY, slope_low = 0, slope_high = 0;
};

// Above this many examples, a part of them tells first where to look.
constexpr index_t kLargeSample = 1 << 16;
constexpr index_t kPart = 32;
// Where the part has misled, the interval beside the one it told is looked at, so many times as
// wide; so many sweeps in all.
constexpr double kWiden = 3.0;
constexpr int kSweeps = 4;
// Where the slopes of the part at both ends are beyond so many times what it may mislead, it is
// asked again in between; so many times in all.
constexpr double kDoubtless = 3.0;
constexpr int kRounds = 3;

// The first probes: steps are mostly below 2; intercepts mostly within a few units.
constexpr std::array<double, kProbes> kFirstSteps{0, 1e-3, 1e-2, 0.05, 0.2, 0.5, 1, 2};
constexpr std::array<double, kProbes> kFirstShifts{-100, -10, -1, -0.1, 0.1, 1, 10, 100};

class RayMinimum {
 public:
  RayMinimum(const RaySweeps& sweeps, double quadratic, double linear, double C)
      : sweeps_(sweeps), q_(quadratic), linear_(linear), C_(C) {}

  double find(double from) const {
    const bool bounded = std::isfinite(from);
    std::array<double, kProbes> probes = bounded ? kFirstSteps : kFirstShifts;
    if (bounded)
      for (double& t : probes) t += from;
    if (sweeps_.size > kLargeSample) {
      const double found = bounded && sweeps_.squared_slopes ? by_sweeps(probes, from) : NAN;
      if (!std::isnan(found)) return found;
      probes = near_estimate(probes, from);
    }

    Bracket bracket;
    narrow(bracket, probes, 1);
    if (bounded && bracket.high <= from) return from;
    widen(bracket, 1);
    if (!std::isfinite(bracket.high)) return bracket.low;  // falls for ever
    if (!std::isfinite(bracket.low)) return bracket.high;
    for (int round = 0; round < 2 && bracket.high - bracket.low > 0.1 * std::abs(bracket.high);
         ++round)
      narrow(bracket, around_secant(bracket), 1);
    return select(bracket);
  }

 private:
  double total(double t, double slope) const { return q_ * t + linear_ + C_ * slope; }

  // Where a part of the sample has its minimum; not finite where it has none.
  Bracket part_bracket(const std::array<double, kProbes>& first, double from, int rounds) const {
    Bracket bracket;
    narrow(bracket, first, kPart);
    if (std::isfinite(from) && bracket.high <= from) return {from, from, 0, 0};
    widen(bracket, kPart);
    if (!std::isfinite(bracket.high) || !std::isfinite(bracket.low)) return {};
    for (int round = 0; round < rounds; ++round) narrow(bracket, around_secant(bracket), kPart);
    return bracket;
  }

  // Probes close to where a part of the sample has its minimum: the whole has it nearby.
  std::array<double, kProbes> near_estimate(const std::array<double, kProbes>& first,
                                            double from) const {
    const Bracket bracket = part_bracket(first, from, 3);
    if (!std::isfinite(bracket.high) || bracket.high <= from) return first;
    const double guess = secant(bracket);
    std::array<double, kProbes> probes;
    constexpr std::array<double, kProbes> spread{-0.5, -0.1, -0.03, -0.01, 0.01, 0.03, 0.1, 0.5};
    for (int k = 0; k < kProbes; ++k) probes[k] = guess + spread[k] * std::abs(guess);
    if (std::isfinite(from)) {
      for (double& t : probes) t = std::max(t, from);
      probes[0] = from;
    }
    return probes;
  }

  // The minimum, if it lies where a part of the sample makes it most likely or close by; else not a
  // number.
  double by_sweeps(const std::array<double, kProbes>& first, double from) const {
    // More finely than one round tells, the part does not know either.
    const Bracket part = part_bracket(first, from, 1);
    if (!std::isfinite(part.high)) return NAN;
    double low = from, high = first[1];
    if (part.high <= from) {
      // Up to where the part leaves no doubt.
      const double margin = 3.0 * C_ * kPart * std::sqrt(sweeps_.squared_slopes(from, kPart));
      const auto slopes = sweeps_.slopes(first.data(), kPart);
      for (int k = kProbes - 1; k > 0 && total(first[k], slopes[k] * kPart) > margin; --k)
        high = first[k];
    } else {
      const double guess = secant(part);
      // So much may the slope of the whole differ from what the part makes of it.
      const double margin = 3.0 * C_ * kPart * std::sqrt(sweeps_.squared_slopes(guess, kPart));
      constexpr std::array<double, kProbes> factors{0.3, 0.6, 0.85, 0.95, 1.05, 1.2, 1.6, 3.0};
      std::array<double, kProbes> probes;
      for (int k = 0; k < kProbes; ++k) probes[k] = from + factors[k] * (guess - from);
      high = probes[kProbes - 1];
      bool certain = true;
      for (int round = 0; round < kRounds && certain; ++round) {
        certain = false;
        const auto slopes = sweeps_.slopes(probes.data(), kPart);
        double rising = 0;
        for (int k = kProbes - 1; k >= 0; --k) {
          const double slope = total(probes[k], slopes[k] * kPart);
          if (slope > margin) high = probes[k], rising = slope;
          if (slope < -margin) {
            low = probes[k];
            certain = slope < -kDoubtless * margin && rising > kDoubtless * margin;
            break;
          }
        }
        for (int k = 0; k < kProbes; ++k) probes[k] = low + (k + 1) * (high - low) / (kProbes + 1);
      }
    }
    for (int attempt = 0; attempt < kSweeps; ++attempt) {
      const BreakpointSweep near = sweeps_.sweep(low, high);
      const double further = kWiden * (high - low);
      if (total(low, near.slope_low) >= 0.0) {
        if (low <= from) return from;
        high = low;
        low = std::max(from, low - further);
      } else if (total(high, near.slope_high) < 0.0) {
        low = high;
        high += further;
      } else {
        return root(near.parts, near.slope_low, low, high);
      }
    }
    return NAN;
  }

  // The slopes at the probes, from 1 / part of the sample.
  void narrow(Bracket& bracket, const std::array<double, kProbes>& probes, index_t part) const {
    const auto slopes = sweeps_.slopes(probes.data(), part);
    for (int k = 0; k < kProbes; ++k) {
      const double slope = slopes[k] * static_cast<double>(part);
      if (total(probes[k], slope) < 0.0) {
        if (probes[k] >= bracket.low) bracket.low = probes[k], bracket.slope_low = slope;
      } else if (probes[k] < bracket.high) {
        bracket.high = probes[k], bracket.slope_high = slope;
      }
    }
  }

  // Ever larger probes, to the end of the numbers, until there is one on each side.
  void widen(Bracket& bracket, index_t part) const {
    std::array<double, kProbes> probes;
    for (double scale = 1e3; !std::isfinite(bracket.high) && scale < 1e300; scale *= 1e24) {
      for (int k = 0; k < kProbes; ++k) probes[k] = scale * std::pow(1e3, k);
      narrow(bracket, probes, part);
    }
    for (double scale = 1e3; !std::isfinite(bracket.low) && scale < 1e300; scale *= 1e24) {
      for (int k = 0; k < kProbes; ++k) probes[k] = -scale * std::pow(1e3, kProbes - 1 - k);
      narrow(bracket, probes, part);
    }
  }

  // Where a straight line between the ends would cross zero.
  double secant(const Bracket& bracket) const {
    const double low = total(bracket.low, bracket.slope_low);
    const double high = total(bracket.high, bracket.slope_high);
    const double fraction = high > low ? std::clamp(-low / (high - low), 0.0, 1.0) : 0.5;
    return bracket.low + (bracket.high - bracket.low) * fraction;
  }

  // Probes ever closer to the secant's root.
  std::array<double, kProbes> around_secant(const Bracket& bracket) const {
    const double width = bracket.high - bracket.low, guess = secant(bracket);
    constexpr std::array<double, kProbes> spread{-0.3, -0.1, -0.03, -0.005, 0.005, 0.03, 0.1, 0.3};
    std::array<double, kProbes> probes;
    for (int k = 0; k < kProbes; ++k)
      probes[k] = std::clamp(guess + spread[k] * width, bracket.low, bracket.high);
    return probes;
  }

  double select(const Bracket& bracket) const {
    const BreakpointParts parts = sweeps_.sweep(bracket.low, bracket.high).parts;
    return root(parts, bracket.slope_low, bracket.low, bracket.high);
  }

  // Among the breakpoints between low and high, given the slope of the risk at low.
  double root(const BreakpointParts& parts, double slope_low, double low, double high) const {
    double g = linear_ + C_ * slope_low;
    std::vector<Breakpoint> points = join_parts(parts, q_, g, C_, low, high);
    return select_root(points, q_, g, C_, low, high);
  }

  const RaySweeps& sweeps_;
  double q_, linear_, C_;
};

}  // namespace

BreakpointSweep collect_breakpoints(index_t n, int n_threads, CollectBreakpoints collect) {
  const Blocks blocks = example_blocks(n);
  BreakpointSweep found{BreakpointParts(blocks.count), 0.0, 0.0};
  std::vector<Sums<2>> slopes(blocks.count);
  for_blocks(blocks, useful_threads(n_threads, kWorkPerExample * n),
             [&](index_t b, index_t begin, index_t end) {
               slopes[b] = collect(begin, end, found.parts[b]);
             });
  for (const Sums<2>& each : slopes) {
    found.slope_low += each[0];
    found.slope_high += each[1];
  }
  return found;
}

double ray_minimum(const RaySweeps& sweeps, double quadratic, double linear, double C,
                   double from) {
  return RayMinimum(sweeps, quadratic, linear, C).find(from);
}

}  // namespace cutplane
