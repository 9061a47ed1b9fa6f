#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/bind.hpp"
#include "core/ascent/dual_ascent.hpp"
#include "core/interior/interior_point.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Numbers = std::optional<Vector<const double>>;

// With what it lies on.
struct PyDualAscent : DualAscent {
  PyMatrix matrix;
  nb::object arrays;

  void require(std::size_t size, index_t wanted, const char* sentence) const {
    if (static_cast<index_t>(size) != wanted) throw std::invalid_argument(sentence);
  }
  const double* scores_of(const Vector<const double>& scores) const {
    require(scores.shape(0), matrix.matrix->rows(), "one score per example is needed");
    return scores.data();
  }
};

const double* data_of(const Numbers& array) { return array ? array->data() : nullptr; }

double mean_of(const Numbers& each, double all) {
  if (!each || each->shape(0) == 0) return all;
  const double sum = std::accumulate(each->data(), each->data() + each->shape(0), 0.0);
  return sum / static_cast<double>(each->shape(0));
}

// The loss gets what examples may have besides their targets.
void complete(DualLoss& loss, const PyMatrix& X, std::size_t targets, const Numbers& base,
              const Numbers& each, double all) {
  const auto n = static_cast<std::size_t>(X.matrix->rows());
  if (targets != n || (base && base->shape(0) != n) || (each && each->shape(0) != n))
    throw std::invalid_argument("one target (and weight, and score) per example is needed");
  loss.base = data_of(base);
  loss.weights = {data_of(each), all};
}

// Of a loss whose arrays have these sizes.
template <class Labels>
PyDualAscent make(const PyMatrix& X, const AscentScale& scale, const Labels& y, const Numbers& base,
                  const Numbers& each, double all, DualLoss loss, AscentIntercept intercept,
                  std::uint64_t seed) {
  complete(loss, X, y.shape(0), base, each, all);
  if (scale.squares.size() != y.shape(0))
    throw std::invalid_argument("the scale is not that of these examples");
  const double weight = mean_of(each, all);
  return {released([&] { return DualAscent(*X.matrix, scale, loss, weight, intercept, seed); }), X,
          nb::make_tuple(y, base, each)};
}

PyDualAscent hinge_ascent(const PyMatrix& X, const AscentScale& scale, Vector<const std::int8_t> y,
                          Numbers each, double all, bool intercept, double constant,
                          std::uint64_t seed) {
  return make(X, scale, y, {}, each, all, {.labels = y.data()}, {intercept, constant}, seed);
}

DualLoss quadratic_loss(const Vector<const double>& y, double above, double below, double epsilon,
                        double ridge, bool one_sided) {
  return {.kind = DualLoss::Kind::quadratic,
          .y = y.data(),
          .above = above,
          .below = below,
          .epsilon = epsilon,
          .ridge = ridge,
          .one_sided = one_sided};
}

PyDualAscent quadratic_ascent(const PyMatrix& X, const AscentScale& scale, Vector<const double> y,
                              Numbers base, Numbers each, double all, double above, double below,
                              double epsilon, double ridge, bool one_sided, bool intercept,
                              double constant, std::uint64_t seed) {
  return make(X, scale, y, base, each, all,
              quadratic_loss(y, above, below, epsilon, ridge, one_sided), {intercept, constant},
              seed);
}

std::unique_ptr<InteriorPoint> interior_point(const PyMatrix& X, Vector<const double> y,
                                              Numbers base, Numbers each, double all, double above,
                                              double below, double epsilon, double ridge,
                                              bool one_sided, bool intercept, double constant,
                                              int n_threads) {
  DualLoss loss = quadratic_loss(y, above, below, epsilon, ridge, one_sided);
  complete(loss, X, y.shape(0), base, each, all);
  nb::gil_scoped_release release;
  return std::make_unique<InteriorPoint>(*X.matrix, loss, AscentIntercept{intercept, constant},
                                         n_threads);
}

PyDualAscent logistic_ascent(const PyMatrix& X, const AscentScale& scale, Vector<const double> y,
                             Numbers base, Numbers each, double all, bool intercept,
                             double constant, std::uint64_t seed) {
  const DualLoss loss{.kind = DualLoss::Kind::logistic, .y = y.data()};
  return make(X, scale, y, base, each, all, loss, {intercept, constant}, seed);
}

}  // namespace

void bind_dual_ascent(nb::module_& m) {
  // Made once for all the bounds that an ascent may have.
  nb::class_<AscentScale>(m, "AscentScale", "The lengths of examples.")
      .def(
          "__init__",
          [](AscentScale* self, Vector<const double> squares) {
            new (self) AscentScale({squares.data(), squares.data() + squares.shape(0)});
          },
          "squares"_a)
      .def_ro("mean_square", &AscentScale::mean_square);
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<PyDualAscent>(m, "DualAscent", "Dual coordinate ascent.")
      .def_static("hinge", &hinge_ascent, "matrix"_a, "scale"_a, "y"_a, "each"_a.none(), "all"_a,
                  "intercept"_a, "constant"_a, "seed"_a)
      .def_static("quadratic", &quadratic_ascent, "matrix"_a, "scale"_a, "y"_a, "base"_a.none(),
                  "each"_a.none(), "all"_a, "above"_a, "below"_a, "epsilon"_a, "ridge"_a,
                  "one_sided"_a, "intercept"_a, "constant"_a, "seed"_a)
      .def_static("logistic", &logistic_ascent, "matrix"_a, "scale"_a, "y"_a, "base"_a.none(),
                  "each"_a.none(), "all"_a, "intercept"_a, "constant"_a, "seed"_a)
      .def("epoch", &PyDualAscent::epoch, unlocked)
      .def("extrapolate", &PyDualAscent::extrapolate, unlocked)
      .def_prop_rw("sweeps", &PyDualAscent::sweeps, &PyDualAscent::set_sweeps)
      .def("go_in_batches", &PyDualAscent::go_in_batches, "scale"_a, "n_threads"_a, unlocked)
      .def(
          "keep_above",
          [](PyDualAscent& self, Vector<const double> floor) {
            self.require(floor.shape(0), self.matrix.matrix->cols(),
                         "one number per feature is needed");
            self.keep_above(floor.data());
          },
          "floor"_a)
      .def(
          "resume",
          [](PyDualAscent& self, Vector<const double> coefficients, Vector<const double> v,
             double intercept, double roundings) {
            const char* sentence = "one coefficient per example, one entry per feature are needed";
            self.require(coefficients.shape(0), self.matrix.matrix->rows(), sentence);
            self.require(v.shape(0), self.weights(), sentence);
            self.resume(coefficients.data(), v.data(), intercept, roundings);
          },
          "coefficients"_a, "v"_a, "intercept"_a, "roundings"_a = INFINITY)
      .def("unshrink", [](PyDualAscent& self) { self.unshrink(); })
      .def(
          "unshrink",
          [](PyDualAscent& self, Vector<const double> scores) {
            self.unshrink(self.scores_of(scores));
          },
          "scores"_a)
      .def(
          "shrink",
          [](PyDualAscent& self, Vector<const double> scores, double distance) {
            self.shrink(self.scores_of(scores), distance);
          },
          "scores"_a, "distance"_a)
      .def(
          "climb",
          [](PyDualAscent& self, index_t products, double gap, double seconds) {
            const Climb done = self.climb({products, gap, Deadline(seconds)});
            return std::make_tuple(done.products, done.rise, done.stands);
          },
          "products"_a, "gap"_a, "seconds"_a, unlocked)
      .def(
          "coefficients",
          [](const PyDualAscent& self, double scale, bool balanced) {
            return to_numpy(self.coefficients(scale, balanced));
          },
          "scale"_a, "balanced"_a)
      .def_prop_ro(
          "v", [](const PyDualAscent& self) { return to_numpy(self.v()); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "w", [](const PyDualAscent& self) { return to_numpy(self.w()); },
          nb::rv_policy::automatic)
      .def_prop_ro("dual_value", &PyDualAscent::dual_value)
      .def_prop_ro("cost_of_lean", &PyDualAscent::cost_of_lean)
      .def_prop_ro("share_at_bounds", &PyDualAscent::share_at_bounds)
      .def_prop_ro("travelled", &PyDualAscent::travelled)
      .def_prop_ro("roundings", &PyDualAscent::roundings)
      .def_prop_ro("gain", &PyDualAscent::gain)
      .def_prop_ro("open_gap", &PyDualAscent::open_gap)
      .def_prop_ro("intercept", &PyDualAscent::intercept)
      .def_prop_ro("centre", &PyDualAscent::centre)
      .def_prop_ro("active", &PyDualAscent::active);
  nb::class_<InteriorPoint>(m, "InteriorPoint", "A primal-dual interior point over all examples.")
      .def(nb::new_(&interior_point), "matrix"_a, "y"_a, "base"_a.none(), "each"_a.none(), "all"_a,
           "above"_a, "below"_a, "epsilon"_a, "ridge"_a, "one_sided"_a, "intercept"_a, "constant"_a,
           "n_threads"_a)
      .def("step",
           [](InteriorPoint& self) {
             nb::gil_scoped_release release;
             return self.step();
           })
      .def_prop_ro("gap", &InteriorPoint::gap)
      .def_prop_ro("upper", &InteriorPoint::upper)
      .def(
          "coefficients",
          [](InteriorPoint& self, double scale) { return to_numpy(self.coefficients(scale)); },
          "scale"_a)
      .def_prop_ro(
          "w", [](InteriorPoint& self) { return to_numpy(self.weights()); },
          nb::rv_policy::automatic)
      .def_prop_ro("intercept", &InteriorPoint::intercept);
}

}  // namespace cutplane::bind
