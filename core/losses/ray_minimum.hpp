// The exact minimum along a ray of a risk that is piecewise linear, by selection among its
// breakpoints in linear expected time.
#pragma once

#include <functional>
#include <vector>

#include "core/losses/example_sums.hpp"

namespace cutplane {

inline constexpr int kProbes = 8;

// A breakpoint of the ray: where an example meets its kink, and by how much the slope rises there.
struct Breakpoint {
  double t, jump;
};

using BreakpointParts = std::vector<std::vector<Breakpoint>>;

// The breakpoints between two steps, and the slopes of the risk at both.
struct BreakpointSweep {
  BreakpointParts parts;
  double slope_low, slope_high;
};

// What the search asks of a risk.
struct RaySweeps {
  index_t size;  // examples in all
  // The slopes of the risk at each probe, over 1 / part of the sample.
  std::function<Sums<kProbes>(const double* probes, index_t part)> slopes;
  // The breakpoints between low and high. Also the slopes there, if there are squared slopes.
  std::function<BreakpointSweep(double low, double high)> sweep;
  // The squared slopes of examples at t, summed over a part; null where sweeps tell no slopes.
  std::function<double(double t, index_t part)> squared_slopes;
};

// argmin over t >= from of ½ quadratic t² + linear t + C R(t).
double ray_minimum(const RaySweeps& sweeps, double quadratic, double linear, double C, double from);

// Breakpoints in one place are one: where many examples are alike, as all are at w = 0, few are
// kept.
inline void add_breakpoint(std::vector<Breakpoint>& out, Breakpoint next) {
  if (!out.empty() && out.back().t == next.t) {
    out.back().jump += next.jump;
  } else {
    out.push_back(next);
  }
}

// By blocks: collect adds to `out` and returns the slopes at both steps.
using CollectBreakpoints =
    FunctionView<Sums<2>(index_t begin, index_t end, std::vector<Breakpoint>& out)>;
BreakpointSweep collect_breakpoints(index_t n, int n_threads, CollectBreakpoints collect);

}  // namespace cutplane
