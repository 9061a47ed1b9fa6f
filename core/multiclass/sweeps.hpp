// Multi-class risks in score space: sums over examples of a maximum over classes, one sweep each.
//
// Example i has a score s_y for every class y and the class k = y_i. Its loss is the highest of the
// lines
//
//     z_y = cost(k, y) + factor(k, y) (s_y - s_k),        z_k = 0,
//
// factor being 1 for margin re-scaling and the cost itself for slack re-scaling. Weights p on the
// simplex give a plane below it, sum_y p_y z_y, whatever they are: the subgradient has p = 1 at the
// highest line, and rounding over a width h has the p that maximises  p.z - (h/4) |p|², which is
// the projection of 2 z / h on the simplex (for two classes: clip(z / h + 1/2, 0, 1)).
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix/matrix.hpp"

namespace cutplane {

struct MulticlassSample {
  const std::int32_t* y;
  const double* c;  // null: `each` for every example
  double each;
  index_t n;
  index_t classes;
  const double* cost;    // classes x classes, row: the true class
  const double* factor;  // the same; its rows are so far apart, 0: one row for all classes
  index_t factor_stride;
  bool equal_costs;  // whether every mistake costs 1
};

struct MulticlassCut {
  double value;   // the risk at the scores
  double offset;  // sum of c_i p_iy cost(y_i, y)
};

struct SmoothedMulticlass {
  double value;   // the risk itself, exactly
  double offset;  // of the plane
  double error;   // value - plane: what rounding adds to the gap
  index_t kinks;  // examples with two classes or more of positive weight
};

struct MulticlassDerivatives {
  double value, slope, curvature;
};

// The examples on a kink and the classes that meet there: those of rows[r] are
// classes[starts[r]] .. classes[starts[r + 1] - 1].
struct Kinks {
  std::vector<std::int64_t> rows;
  std::vector<double> weights;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> classes;
};

double multiclass_value(const MulticlassSample& sample, const double* s, int n_threads);

// coef (n x classes): the plane is <coef, S> + offset, tight at s.
MulticlassCut multiclass_cut(const MulticlassSample& sample, const double* s, double* coef,
                             int n_threads);

// Of coefficients: the plane's offset, and their sizes added up.
struct MulticlassPlane {
  double offset, mass;
};

// Make coefficients those of a plane that holds, where costs are added to differences of scores:
// none negative but the true class's, none that add up to more than the example's weight.
MulticlassPlane multiclass_feasible(const MulticlassSample& sample, double* coef, int n_threads);

struct MulticlassAdvance {
  double value;       // the risk at the new incumbent
  MulticlassCut cut;  // at the cut point
};

// OCA's step in one sweep: moved = s + step (end - s), the cut at moved + mu (end - moved). Of the
// cut, the class chosen for every example: the true one where no other costs more. moved may be s.
MulticlassAdvance multiclass_advance(const MulticlassSample& sample, const double* s,
                                     const double* end, double step, double mu, double* moved,
                                     std::int32_t* chosen, int n_threads);

// The coefficients (n x classes) of the plane of these choices: of an example, its weight for the
// chosen class and as much less for the true one. change_choices
// sums up without them.
void multiclass_coefficients(const MulticlassSample& sample, const std::int32_t* chosen,
                             double* coef, int n_threads);

// The slope of a plane that chooses one class for every example: out (d x classes) += by how much
// the slope changes when the choices do. The slope is the sum over i of c_i factor(k, y) x_i (e_y -
// e_k)', y the chosen class and k the true one. From a choice of the true classes, it changes from
// zero.
void change_choices(const Matrix& matrix, const MulticlassSample& sample, const std::int32_t* from,
                    const std::int32_t* to, double* out, int n_threads);

SmoothedMulticlass multiclass_smoothed(const MulticlassSample& sample, const double* s, double h,
                                       double* coef, int n_threads);

// Coefficients rounded over h as if the classes on the kink of width `reach` stayed on it: there p
// is not clipped.
void multiclass_extrapolated(const MulticlassSample& sample, const double* s, double h,
                             double reach, double* coef, int n_threads);

// The examples on their kinks of width h, in order.
Kinks multiclass_kinks(const MulticlassSample& sample, const double* s, double h, int n_threads);

// h times the second derivative in the scores, applied to t (rows x classes) for the examples of
// `kinks`.
void multiclass_curvature(const MulticlassSample& sample, const Kinks& kinks, const double* t,
                          double* out, int n_threads);

// Along s + t * (other, or other - s if towards), rounded over h (0: the risk itself, and the slope
// is its right derivative).
MulticlassDerivatives multiclass_ray(const MulticlassSample& sample, const double* s,
                                     const double* other, bool towards, double t, double h,
                                     int n_threads);

// The risk rounded over h with intercepts b added to the scores, as a function of b: its value, its
// gradient (classes) and its second derivative (classes x classes).
double multiclass_intercepts(const MulticlassSample& sample, const double* s, const double* b,
                             double h, double* gradient, double* hessian, int n_threads);

// How much weight flows from each true class to each class: out[k, y] = sum over i of class k of
// coef_iy, y != k. The plane does not depend on the intercepts iff as much flows into every class
// as out of it.
void multiclass_flows(const MulticlassSample& sample, const double* coef, double* out);

// Given flows (classes x classes, none negative, zero diagonal), the fraction of each to keep so
// that as much flows into every class as out of it. What is taken away are paths from classes with
// too much outflow to classes with too much inflow, each as short as there is, so that it adds up
// to little more than the imbalance.
std::vector<double> circulation(const double* flows, index_t classes);

// Scale the flows: coef_iy *= keep[k, y], coef_ik = -sum of the others. Returns the plane's offset.
double multiclass_scale_flows(const MulticlassSample& sample, const double* keep, double* coef,
                              int n_threads);

// argmin over t >= 0 of ½ quadratic t² + linear t + C R(s + t (end - s)), exactly: the slope is
// bracketed by sweeps, the upper envelopes of the examples that have a breakpoint inside the
// bracket are taken in O(Y log Y), and the root is selected among their breakpoints.
double multiclass_ray_minimum(const MulticlassSample& sample, const double* s, const double* end,
                              double quadratic, double linear, double C, int n_threads);

}  // namespace cutplane
