#include "core/interior/interior_point.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "bindings/matrix.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Each = std::optional<Vector<const double>>;

std::unique_ptr<InteriorPoint> interior_point(const PyMatrix& X, Vector<const double> y, Each base,
                                              Each each, double all, double above, double below,
                                              double epsilon, double ridge, bool one_sided,
                                              bool intercept, double constant, int n_threads) {
  const auto n = static_cast<std::size_t>(X.matrix->rows());
  if (y.shape(0) != n || (base && base->shape(0) != n) || (each && each->shape(0) != n))
    throw std::invalid_argument("one target (and weight, and score) per example is needed");
  const DualLoss loss{.kind = DualLoss::Kind::quadratic,
                      .weights = {each ? each->data() : nullptr, all},
                      .y = y.data(),
                      .base = base ? base->data() : nullptr,
                      .above = above,
                      .below = below,
                      .epsilon = epsilon,
                      .ridge = ridge,
                      .one_sided = one_sided};
  nb::gil_scoped_release release;
  return std::make_unique<InteriorPoint>(*X.matrix, loss, AscentIntercept{intercept, constant},
                                         n_threads);
}

}  // namespace

void bind_interior_point(nb::module_& m) {
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
