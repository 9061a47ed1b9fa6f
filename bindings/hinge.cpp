#include "core/hinge.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/bind.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Scores = Vector<const double>;

// The labels and weights of a sample, with the sums over it that training asks for.
class Hinge {
 public:
  Hinge(Vector<const std::int8_t> y, std::optional<Vector<const double>> c, double each)
      : y_(std::move(y)), c_(std::move(c)), each_(each) {
    if (c_ && c_->shape(0) != y_.shape(0))
      throw std::invalid_argument("one weight per label is needed");
  }

  double value(Scores s, int n_threads) const {
    check(s);
    nb::gil_scoped_release release;
    return hinge_value(sample(), s.data(), n_threads);
  }

  // Taken once in a run, mostly: the memory of its coefficients is not kept.
  std::tuple<Array1<double>, double, double> cut(Scores s, int n_threads) const {
    check(s);
    auto coef = std::make_shared<Buffers>()->take(s.shape(0));
    HingeCut result;
    {
      nb::gil_scoped_release release;
      result = hinge_cut(sample(), s.data(), coef.data(), n_threads);
    }
    return {coef, result.offset, result.value};
  }

  std::tuple<Array1<double>, double, double> balanced_cut(Scores s, double width,
                                                          int n_threads) const {
    check(s);
    auto coef = std::make_shared<Buffers>()->take(s.shape(0));
    HingeCut result;
    {
      nb::gil_scoped_release release;
      result = hinge_balanced_cut(sample(), s.data(), width, coef.data(), n_threads);
    }
    return {coef, result.offset, result.value};
  }

  std::tuple<Array1<double>, SmoothedHinge> smoothed(Scores s, double h, int n_threads) const {
    check(s);
    auto coef = std::make_shared<Buffers>()->take(s.shape(0));
    SmoothedHinge result;
    {
      nb::gil_scoped_release release;
      result = hinge_smoothed(sample(), s.data(), h, coef.data(), n_threads);
    }
    return {coef, result};
  }

  Array1<double> extrapolated(Scores s, double h, double reach, int n_threads) const {
    check(s);
    auto coef = std::make_shared<Buffers>()->take(s.shape(0));
    {
      nb::gil_scoped_release release;
      hinge_extrapolated(sample(), s.data(), h, reach, coef.data(), n_threads);
    }
    return coef;
  }

  std::tuple<Array1<std::int64_t>, Array1<double>> kinks(Scores s, double h, int n_threads) const {
    check(s);
    std::vector<std::int64_t> rows;
    std::vector<double> weights;
    {
      nb::gil_scoped_release release;
      hinge_kinks(sample(), s.data(), h, rows, weights, n_threads);
    }
    return {to_numpy(std::move(rows)), to_numpy(std::move(weights))};
  }

  std::tuple<double, double, double> ray(Scores s, std::optional<Scores> other, bool towards,
                                         double t, double h, int n_threads) const {
    check(s, other);
    nb::gil_scoped_release release;
    const RayDerivatives at = hinge_ray(sample(), line(s, other, towards), h, t, n_threads);
    return {at.value, at.slope, at.curvature};
  }

  double ray_minimum(Scores s, std::optional<Scores> other, bool towards, double quadratic,
                     double linear, double C, double start, int n_threads) const {
    check(s, other);
    nb::gil_scoped_release release;
    return hinge_ray_minimum(sample(), line(s, other, towards), quadratic, linear, C, start,
                             n_threads);
  }

  std::tuple<double, double, double> advance(Vector<double> s, Vector<double> end, double step,
                                             double mu, int n_threads) const {
    if (s.shape(0) != y_.shape(0) || end.shape(0) != y_.shape(0))
      throw std::invalid_argument("one score per label is needed");
    if (s.data() == end.data()) throw std::invalid_argument("two arrays are needed");
    nb::gil_scoped_release release;
    const HingeAdvance result = hinge_advance(sample(), s.data(), end.data(), step, mu, n_threads);
    return {result.value, result.cut.offset, result.cut.value};
  }

 private:
  HingeSample sample() const {
    return {y_.data(), c_ ? c_->data() : nullptr, each_, static_cast<index_t>(y_.shape(0))};
  }
  static ScoreLine line(const Scores& s, const std::optional<Scores>& other, bool towards) {
    if (!other) return {s.data()};
    return {s.data(), other->data(), towards ? ScoreLine::Kind::kTowards : ScoreLine::Kind::kAlong};
  }
  void check(const Scores& s, const std::optional<Scores>& direction = {}) const {
    if (s.shape(0) != y_.shape(0) || (direction && direction->shape(0) != y_.shape(0)))
      throw std::invalid_argument("one score per label is needed");
  }

  Vector<const std::int8_t> y_;
  std::optional<Vector<const double>> c_;
  double each_;
  std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

}  // namespace

void bind_hinge(nb::module_& m) {
  nb::class_<SmoothedHinge>(m, "SmoothedHinge")
      .def_ro("value", &SmoothedHinge::value)
      .def_ro("offset", &SmoothedHinge::offset)
      .def_ro("error", &SmoothedHinge::error)
      .def_ro("kinks", &SmoothedHinge::kinks);
  nb::class_<Hinge>(m, "Hinge", "Sums over a sample of the hinge and its rounded version.")
      .def(nb::init<Vector<const std::int8_t>, std::optional<Vector<const double>>, double>(),
           "y"_a, "weights"_a.none(), "each"_a)
      .def("value", &Hinge::value, "scores"_a, "n_threads"_a = 0)
      .def("cut", &Hinge::cut, "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def("balanced_cut", &Hinge::balanced_cut, "scores"_a, "width"_a, "n_threads"_a = 0,
           "(coef, offset, value), coef summing to zero")
      .def("smoothed", &Hinge::smoothed, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("extrapolated", &Hinge::extrapolated, "scores"_a, "h"_a, "reach"_a, "n_threads"_a = 0)
      .def("kinks", &Hinge::kinks, "scores"_a, "h"_a, "n_threads"_a = 0,
           "(rows, weights) of the examples on the rounded kink")
      .def("ray", &Hinge::ray, "scores"_a, "other"_a.none(), "towards"_a, "t"_a, "h"_a = 0.0,
           "n_threads"_a = 0,
           "(value, slope, curvature) at scores + t * direction: other, other - scores if towards, "
           "or 1 if None")
      .def("ray_minimum", &Hinge::ray_minimum, "scores"_a, "other"_a.none(), "towards"_a,
           "quadratic"_a, "linear"_a, "C"_a, "start"_a = 0.0, "n_threads"_a = 0)
      .def(
          "advance", &Hinge::advance, "scores"_a, "end"_a, "step"_a, "mu"_a, "n_threads"_a = 0,
          "scores are moved, end becomes the coefficients of the cut; (value, the cut's offset and "
          "value)");
}

}  // namespace cutplane::bind
