#include "core/ascent/dual_ascent.hpp"

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "bindings/matrix.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;

// Made once for all the bounds that an ascent may have.
struct PyAscentScale {
  PyAscentScale(const PyMatrix& X, bool intercept, int n_threads) {
    nb::gil_scoped_release release;
    scale = std::make_shared<const AscentScale>(*X.matrix, intercept, n_threads);
  }

  std::shared_ptr<const AscentScale> scale;
};

struct PyDualAscent {
  PyDualAscent(const PyMatrix& X, const PyAscentScale& of, Vector<const std::int8_t> y,
               std::optional<Vector<const double>> upper, double upper_all, std::uint64_t seed)
      : owners(nb::make_tuple(nb::cast(X), y, upper)), matrix(X.matrix) {
    if (std::ssize(of.scale->per_curvature) != matrix->rows())
      throw std::invalid_argument("the scale is not that of these examples");
    if (static_cast<index_t>(y.shape(0)) != matrix->rows() ||
        (upper && upper->shape(0) != y.shape(0)))
      throw std::invalid_argument("one label (and bound) per example is needed");
    nb::gil_scoped_release release;
    ascent = std::make_unique<DualAscent>(*matrix, of.scale, y.data(),
                                          upper ? upper->data() : nullptr, upper_all, seed);
  }

  nb::object owners;
  std::shared_ptr<Matrix> matrix;
  std::unique_ptr<DualAscent> ascent;
};

}  // namespace

void bind_dual_ascent(nb::module_& m) {
  nb::class_<PyAscentScale>(m, "AscentScale", "The curvature along each example.")
      .def(nb::init<const PyMatrix&, bool, int>(), "matrix"_a, "intercept"_a, "n_threads"_a)
      .def_prop_ro("mean_square", [](PyAscentScale& self) { return self.scale->mean_square; });
  nb::class_<PyDualAscent>(m, "DualAscent", "Dual coordinate ascent for the hinge.")
      .def(nb::init<const PyMatrix&, const PyAscentScale&, Vector<const std::int8_t>,
                    std::optional<Vector<const double>>, double, std::uint64_t>(),
           "matrix"_a, "scale"_a, "y"_a, "upper"_a.none(), "upper_all"_a, "seed"_a)
      .def("epoch",
           [](PyDualAscent& self) {
             nb::gil_scoped_release release;
             self.ascent->epoch();
           })
      .def(
          "start",
          [](PyDualAscent& self, double fraction, Vector<const double> all) {
            if (all.shape(0) != self.ascent->v().size())
              throw std::invalid_argument("one entry per feature is needed");
            self.ascent->start(fraction, all.data());
          },
          "fraction"_a, "all"_a)
      .def(
          "resume",
          [](PyDualAscent& self, Vector<const double> alpha, Vector<const double> v,
             double intercept) {
            if (alpha.shape(0) != static_cast<std::size_t>(self.matrix->rows()) ||
                v.shape(0) != self.ascent->v().size())
              throw std::invalid_argument(
                  "one alpha per example, one entry per feature are needed");
            self.ascent->resume(alpha.data(), v.data(), intercept);
          },
          "alpha"_a, "v"_a, "intercept"_a)
      .def("unshrink", [](PyDualAscent& self) { self.ascent->unshrink(); })
      .def(
          "unshrink",
          [](PyDualAscent& self, Vector<const double> scores) {
            if (scores.shape(0) != static_cast<std::size_t>(self.matrix->rows()))
              throw std::invalid_argument("one score per example is needed");
            self.ascent->unshrink(scores.data());
          },
          "scores"_a)
      .def(
          "shrink",
          [](PyDualAscent& self, Vector<const double> scores, double distance) {
            if (scores.shape(0) != static_cast<std::size_t>(self.matrix->rows()))
              throw std::invalid_argument("one score per example is needed");
            self.ascent->shrink(scores.data(), distance);
          },
          "scores"_a, "distance"_a)
      .def("extrapolate",
           [](PyDualAscent& self) {
             nb::gil_scoped_release release;
             self.ascent->extrapolate();
           })
      .def(
          "coefficients",
          [](PyDualAscent& self, double scale, bool balanced) {
            return to_numpy(self.ascent->coefficients(scale, balanced));
          },
          "scale"_a, "balanced"_a)
      .def_prop_ro(
          "v", [](PyDualAscent& self) { return to_numpy(std::vector<double>(self.ascent->v())); },
          nb::rv_policy::move)
      .def_prop_ro("dual_value", [](PyDualAscent& self) { return self.ascent->dual_value(); })
      .def_prop_ro("share_at_bounds",
                   [](PyDualAscent& self) { return self.ascent->share_at_bounds(); })
      .def_prop_ro("gain", [](PyDualAscent& self) { return self.ascent->gain(); })
      .def_prop_ro("open_gap", [](PyDualAscent& self) { return self.ascent->open_gap(); })
      .def_prop_ro("intercept", [](PyDualAscent& self) { return self.ascent->intercept(); })
      .def_prop_ro("active", [](PyDualAscent& self) { return self.ascent->active(); });
}

}  // namespace cutplane::bind
