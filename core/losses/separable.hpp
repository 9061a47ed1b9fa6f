// Sums over examples of c_i loss(s_i, y_i), for the losses of core/losses/losses.hpp. One sweep
// each, threaded, in blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/losses/example_sums.hpp"
#include "core/losses/losses.hpp"

namespace cutplane {

using Loss = std::variant<SquaredHingeLoss, LogisticLoss, SquaredEpsilonLoss, HuberLoss, TubeLoss>;

using SeparableSample = SampleOf<double>;

double separable_value(const Loss& loss, const SeparableSample& sample, const double* s,
                       int n_threads);

// The plane that touches the risk at s.
ScoreCut separable_cut(const Loss& loss, const SeparableSample& sample, const double* s,
                       double* coef, int n_threads);

// The plane below the risk with the slopes of the risk rounded over h; kinks: examples where that
// is not linear.
SmoothedSums separable_smoothed(const Loss& loss, const SeparableSample& sample, const double* s,
                                double h, double* coef, int n_threads);

// Slopes of a tube rounded over h as if the examples on a kink of width `reach` stayed on it.
void tube_extrapolated(const TubeLoss& loss, const SeparableSample& sample, const double* s,
                       double h, double reach, double* coef, int n_threads);

// Examples where the loss rounded over h is curved, in order; weights[k] = h c_i curvature.
struct CurvedExamples {
  std::size_t count;
  std::unique_ptr<std::int64_t[]> rows;
  std::unique_ptr<double[]> weights;
};
CurvedExamples separable_curved(const Loss& loss, const SeparableSample& sample, const double* s,
                                double h, int n_threads);

// Of the risk rounded over h along a line; h = 0: of the risk itself, the slope being the right
// derivative.
RayDerivatives separable_ray(const Loss& loss, const SeparableSample& sample, const ScoreLine& line,
                             double h, double t, int n_threads);

// Argmin over t >= from of ½ quadratic t² + linear t + C R(s(t)), exactly, for a tube.
double tube_ray_minimum(const TubeLoss& loss, const SeparableSample& sample, const ScoreLine& line,
                        double quadratic, double linear, double C, double from, int n_threads);

// The offset of the highest plane below the risk with these coefficients.
double separable_offset(const Loss& loss, const SeparableSample& sample, const double* coef,
                        int n_threads);

}  // namespace cutplane
