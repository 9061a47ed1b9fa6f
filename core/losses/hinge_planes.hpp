// Planes of the hinge from scores in single precision.
//
// Scores are what training takes beside the data: single precision halves them, and coefficients
// are made while rows are added up and never in memory as a whole. A plane lies below the risk
// whatever its coefficients are, and is summed up in double: rounded scores cost it nothing.
#pragma once

#include "core/losses/hinge.hpp"
#include "core/matrix/matrix.hpp"

namespace cutplane {

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
