// The hinge in score space: sums over examples of functions of y_i, s_i. One sweep each, threaded,
// in blocks.
//
// With z_i = 1 - y_i s_i the risk is R = sum_i c_i max(0, z_i); c_i sum to 1 (c null: every c_i is
// `each`). Rounded over a width h it is  sum_i c_i l_h(z_i),  l_h = 0 | (z + h/2)²/(2h) | z  for z
// < -h/2, |z| <= h/2, z > h/2, and its slope in z, pi = clip(z/h + ½, 0, 1), gives a plane below
// the hinge itself, whatever h is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/losses/example_sums.hpp"
#include "core/losses/hinge.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

using HingeSample = SampleOf<std::int8_t>;

// Scores may be in single precision; sums are in double.
double hinge_value(const HingeSample& sample, AnyScores s, int n_threads);

// coef_i = -c_i y_i pi_i, pi_i = 1 iff z_i >= 0. The plane <X' coef, .> + offset is tight at s.
ScoreCut hinge_cut(const HingeSample& sample, const double* s, double* coef, int n_threads);

// The offset of the plane with these coefficients: each stands for a weight pi = -coef y.
double hinge_offset(const HingeSample& sample, const double* coef, int n_threads);

// As hinge_cut, but examples within `width` of the kink get the one common pi in [0, 1] for which
// sum coef_i = 0, as it must for an unpenalised intercept; if none does, pi is scaled down on the
// heavier side. Valid always, tight up to width.
ScoreCut hinge_balanced_cut(const HingeSample& sample, const double* s, double width, double* coef,
                            int n_threads);

// offset: sum c_i pi_i; error: sum c_i (max(0, z_i) - pi_i z_i); kinks: examples with
// 0 <= z/h + ½ <= 1.
SmoothedSums hinge_smoothed(const HingeSample& sample, const double* s, double h, double* coef,
                            int n_threads);

// Coefficients of the risk rounded over h as if the examples on the kink of width `reach` stayed on
// it while it narrows to h: pi there is not clipped. Where Newton's next step starts from when the
// rounding is made finer.
void hinge_extrapolated(const HingeSample& sample, const double* s, double h, double reach,
                        double* coef, int n_threads);

// Examples on the kink of width h, in order; weights[k] = c_i.
void hinge_kinks(const HingeSample& sample, AnyScores s, double h, std::vector<std::int64_t>& rows,
                 std::vector<double>& weights, int n_threads);

// Of R(s(t)), rounded over h (h = 0: the hinge; then slope is the right derivative and curvature
// 0).
RayDerivatives hinge_ray(const HingeSample& sample, const ScoreLine& line, double h, double t,
                         int n_threads);

// argmin over t >= from of ½ quadratic t² + linear t + C R(s(t)), exactly and in O(n) expected: the
// slope is bracketed by sweeps that take it at several t at once, then the breakpoints inside the
// bracket are selected among.
double hinge_ray_minimum(const HingeSample& sample, const ScoreLine& line, double quadratic,
                         double linear, double C, double from, int n_threads);

struct HingeAdvance {
  double value;  // R at the new incumbent
  ScoreCut cut;  // at the cut point
};

// OCA's step in one sweep and in place: `s` becomes s + step (end - s), the new incumbent, and
// `end` the coefficients of the cut at the new s + mu (end - s).
HingeAdvance hinge_advance(const HingeSample& sample, double* s, double* end, double step,
                           double mu, int n_threads);

// s becomes s + step (end - s); returns the risk there.
double hinge_move(const HingeSample& sample, float* s, const float* end, double step,
                  int n_threads);

// What rounding over h costs.
double hinge_rounding_error(const HingeSample& sample, AnyScores s, double h, int n_threads);

// Planes of the hinge from scores in single precision.
//
// Scores are what training takes beside the data: single precision halves them, and coefficients
// are made while rows are added up and never in memory as a whole. A plane lies below the risk
// whatever its coefficients are, and is summed up in double: rounded scores cost it nothing.

// out = X w rounded to single precision; false where that is too small for it.
bool single_scores(const Matrix& matrix, const double* w, float* out, int n_threads);

// slope, offset and value of the plane at s + mu (end - s).
ScoreCut hinge_cut_plane(const Matrix& matrix, const HingeSample& sample, const float* s,
                         const float* end, double mu, double* slope, int n_threads);

// The same of the rounded hinge.
SmoothedSums hinge_smoothed_plane(const Matrix& matrix, const HingeSample& sample, AnyScores s,
                                  double h, double* slope, int n_threads);

// The same at s = X w, or base + X w if there is a base; s goes to out. The value is infinite where
// s is too large for its precision. S: float or double.
template <class S>
SmoothedSums hinge_scored_plane(const Matrix& matrix, const HingeSample& sample, const double* w,
                                const S* base, double h, S* out, double* slope, int n_threads);

// X' times what hinge_extrapolated gives.
void hinge_extrapolated_slope(const Matrix& matrix, const HingeSample& sample, const float* s,
                              double h, double reach, double* slope, int n_threads);

}  // namespace cutplane
