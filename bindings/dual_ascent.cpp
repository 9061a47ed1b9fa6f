#include "core/ascent/dual_ascent.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/matrix.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;

// Made once for all the bounds that an ascent may have.
struct PyAscentScale {
  explicit PyAscentScale(Vector<const double> squares)
      : scale(std::make_unique<const AscentScale>(
            std::vector<double>(squares.data(), squares.data() + squares.shape(0)))) {}

  std::unique_ptr<const AscentScale> scale;
};

using Weights = std::optional<Vector<const double>>;

struct PyDualAscent {
  PyDualAscent(const PyMatrix& X, const PyAscentScale& of, nb::object arrays, DualLoss loss,
               double weight, AscentIntercept intercept, std::uint64_t seed)
      : owners(nb::make_tuple(nb::cast(X), arrays)), matrix(X.matrix) {
    if (std::ssize(of.scale->squares) != matrix->rows())
      throw std::invalid_argument("the scale is not that of these examples");
    nb::gil_scoped_release release;
    ascent = std::make_unique<DualAscent>(*matrix, *of.scale, loss, weight, intercept, seed);
  }

  nb::object owners;
  std::shared_ptr<Matrix> matrix;
  std::unique_ptr<DualAscent> ascent;
};

template <class... Arrays>
void require_one_each(const PyMatrix& X, const Arrays&... arrays) {
  const auto fits = [&](const auto& array) {
    return static_cast<index_t>(array.shape(0)) == X.matrix->rows();
  };
  const auto given = [&](const auto& array) {
    if constexpr (requires { array.has_value(); })
      return !array || fits(*array);
    else
      return fits(array);
  };
  if (!(given(arrays) && ...))
    throw std::invalid_argument("one target (and weight, and score) per example is needed");
}

const double* data_of(const Weights& array) { return array ? array->data() : nullptr; }

double mean_of(const Weights& each, double all) {
  if (!each || each->shape(0) == 0) return all;
  const double sum = std::accumulate(each->data(), each->data() + each->shape(0), 0.0);
  return sum / static_cast<double>(each->shape(0));
}

std::unique_ptr<PyDualAscent> hinge_ascent(const PyMatrix& X, const PyAscentScale& scale,
                                           Vector<const std::int8_t> y, Weights each, double all,
                                           bool intercept, double constant, std::uint64_t seed) {
  require_one_each(X, y, each);
  const DualLoss loss{.weights = {data_of(each), all}, .labels = y.data()};
  return std::make_unique<PyDualAscent>(X, scale, nb::make_tuple(y, each), loss, mean_of(each, all),
                                        AscentIntercept{intercept, constant}, seed);
}

std::unique_ptr<PyDualAscent> quadratic_ascent(const PyMatrix& X, const PyAscentScale& scale,
                                               Vector<const double> y, Weights base, Weights each,
                                               double all, double above, double below,
                                               double epsilon, double ridge, bool one_sided,
                                               bool intercept, double constant,
                                               std::uint64_t seed) {
  require_one_each(X, y, base, each);
  const DualLoss loss{.kind = DualLoss::Kind::quadratic,
                      .weights = {data_of(each), all},
                      .y = y.data(),
                      .base = data_of(base),
                      .above = above,
                      .below = below,
                      .epsilon = epsilon,
                      .ridge = ridge,
                      .one_sided = one_sided};
  return std::make_unique<PyDualAscent>(X, scale, nb::make_tuple(y, base, each), loss,
                                        mean_of(each, all), AscentIntercept{intercept, constant},
                                        seed);
}

std::unique_ptr<PyDualAscent> logistic_ascent(const PyMatrix& X, const PyAscentScale& scale,
                                              Vector<const double> y, Weights base, Weights each,
                                              double all, bool intercept, double constant,
                                              std::uint64_t seed) {
  require_one_each(X, y, base, each);
  const DualLoss loss{.kind = DualLoss::Kind::logistic,
                      .weights = {data_of(each), all},
                      .y = y.data(),
                      .base = data_of(base)};
  return std::make_unique<PyDualAscent>(X, scale, nb::make_tuple(y, base, each), loss,
                                        mean_of(each, all), AscentIntercept{intercept, constant},
                                        seed);
}

}  // namespace

void bind_dual_ascent(nb::module_& m) {
  nb::class_<PyAscentScale>(m, "AscentScale", "The lengths of examples.")
      .def(nb::init<Vector<const double>>(), "squares"_a)
      .def_prop_ro("mean_square", [](PyAscentScale& self) { return self.scale->mean_square; });
  nb::class_<PyDualAscent>(m, "DualAscent", "Dual coordinate ascent.")
      .def_static("hinge", &hinge_ascent, "matrix"_a, "scale"_a, "y"_a, "each"_a.none(), "all"_a,
                  "intercept"_a, "constant"_a, "seed"_a)
      .def_static("quadratic", &quadratic_ascent, "matrix"_a, "scale"_a, "y"_a, "base"_a.none(),
                  "each"_a.none(), "all"_a, "above"_a, "below"_a, "epsilon"_a, "ridge"_a,
                  "one_sided"_a, "intercept"_a, "constant"_a, "seed"_a)
      .def_static("logistic", &logistic_ascent, "matrix"_a, "scale"_a, "y"_a, "base"_a.none(),
                  "each"_a.none(), "all"_a, "intercept"_a, "constant"_a, "seed"_a)
      .def("epoch",
           [](PyDualAscent& self) {
             nb::gil_scoped_release release;
             self.ascent->epoch();
           })
      .def_prop_rw(
          "sweeps", [](PyDualAscent& self) { return self.ascent->sweeps(); },
          [](PyDualAscent& self, index_t sweeps) { self.ascent->set_sweeps(sweeps); })
      .def(
          "go_in_batches",
          [](PyDualAscent& self, const PyAscentScale& scale, int n_threads) {
            nb::gil_scoped_release release;
            return self.ascent->go_in_batches(*scale.scale, n_threads);
          },
          "scale"_a, "n_threads"_a)
      .def(
          "keep_above",
          [](PyDualAscent& self, Vector<const double> floor) {
            if (static_cast<index_t>(floor.shape(0)) != self.matrix->cols())
              throw std::invalid_argument("one number per feature is needed");
            self.ascent->keep_above(floor.data());
          },
          "floor"_a)
      .def(
          "resume",
          [](PyDualAscent& self, Vector<const double> coefficients, Vector<const double> v,
             double intercept, double roundings) {
            if (coefficients.shape(0) != static_cast<std::size_t>(self.matrix->rows()) ||
                static_cast<index_t>(v.shape(0)) != self.ascent->weights())
              throw std::invalid_argument(
                  "one coefficient per example, one entry per feature are needed");
            self.ascent->resume(coefficients.data(), v.data(), intercept, roundings);
          },
          "coefficients"_a, "v"_a, "intercept"_a, "roundings"_a = INFINITY)
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
          "climb",
          [](PyDualAscent& self, index_t products, double gap, double seconds) {
            Climb done;
            {
              nb::gil_scoped_release release;
              done = self.ascent->climb({products, gap, Deadline(seconds)});
            }
            return std::make_tuple(done.products, done.rise, done.stands);
          },
          "products"_a, "gap"_a, "seconds"_a)
      .def(
          "coefficients",
          [](PyDualAscent& self, double scale, bool balanced) {
            return to_numpy(self.ascent->coefficients(scale, balanced));
          },
          "scale"_a, "balanced"_a)
      .def_prop_ro(
          "v", [](PyDualAscent& self) { return to_numpy(self.ascent->v()); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "w", [](PyDualAscent& self) { return to_numpy(self.ascent->w()); },
          nb::rv_policy::automatic)
      .def_prop_ro("dual_value", [](PyDualAscent& self) { return self.ascent->dual_value(); })
      .def_prop_ro("cost_of_lean", [](PyDualAscent& self) { return self.ascent->cost_of_lean(); })
      .def_prop_ro("share_at_bounds",
                   [](PyDualAscent& self) { return self.ascent->share_at_bounds(); })
      .def_prop_ro("travelled", [](PyDualAscent& self) { return self.ascent->travelled(); })
      .def_prop_ro("roundings", [](PyDualAscent& self) { return self.ascent->roundings(); })
      .def_prop_ro("gain", [](PyDualAscent& self) { return self.ascent->gain(); })
      .def_prop_ro("open_gap", [](PyDualAscent& self) { return self.ascent->open_gap(); })
      .def_prop_ro("intercept", [](PyDualAscent& self) { return self.ascent->intercept(); })
      .def_prop_ro("centre", [](PyDualAscent& self) { return self.ascent->centre(); })
      .def_prop_ro("active", [](PyDualAscent& self) { return self.ascent->active(); });
}

}  // namespace cutplane::bind
