#include "core/losses/hinge.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/matrix.hpp"
#include "core/losses/hinge_planes.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
template <class S>
using ScoresOf = Vector<const S>;
using Scores = ScoresOf<double>;
using Singles = ScoresOf<float>;

// The labels and weights of a sample, with the sums over it that training asks for.
class Hinge {
 public:
  Hinge(Vector<const std::int8_t> y, std::optional<Vector<const double>> c, double each)
      : y_(std::move(y)), c_(std::move(c)), each_(each) {
    if (c_ && c_->shape(0) != y_.shape(0))
      throw std::invalid_argument("one weight per label is needed");
  }

  template <class S>
  double value(ScoresOf<S> s, int n_threads) const {
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

  double offset(Scores coef, int n_threads) const {
    check(coef);
    nb::gil_scoped_release release;
    return hinge_offset(sample(), coef.data(), n_threads);
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

  template <class S>
  std::tuple<Array1<std::int64_t>, Array1<double>> kinks(ScoresOf<S> s, double h,
                                                         int n_threads) const {
    check(s);
    std::vector<std::int64_t> rows;
    std::vector<double> weights;
    {
      nb::gil_scoped_release release;
      hinge_kinks(sample(), s.data(), h, rows, weights, n_threads);
    }
    return {to_numpy(std::move(rows)), to_numpy(std::move(weights))};
  }

  template <class S>
  std::tuple<double, double, double> ray(ScoresOf<S> s, std::optional<ScoresOf<S>> other,
                                         bool towards, double t, double h, int n_threads) const {
    check(s, other);
    nb::gil_scoped_release release;
    const RayDerivatives at = hinge_ray(sample(), line(s, other, towards), h, t, n_threads);
    return {at.value, at.slope, at.curvature};
  }

  template <class S>
  double ray_minimum(ScoresOf<S> s, std::optional<ScoresOf<S>> other, bool towards,
                     double quadratic, double linear, double C, double start, int n_threads) const {
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

  std::tuple<Array1<double>, double, double> cut_plane(const PyMatrix& X, Singles s, Singles end,
                                                       double mu, int n_threads) const {
    check<float>(X, s, end);
    std::vector<double> slope(X.matrix->cols());
    HingeCut result;
    {
      nb::gil_scoped_release release;
      result =
          hinge_cut_plane(*X.matrix, sample(), s.data(), end.data(), mu, slope.data(), n_threads);
    }
    return {to_numpy(std::move(slope)), result.offset, result.value};
  }

  template <class S>
  std::tuple<Array1<double>, SmoothedHinge> smoothed_plane(const PyMatrix& X, ScoresOf<S> s,
                                                           double h, int n_threads) const {
    check(X, s);
    std::vector<double> slope(X.matrix->cols());
    SmoothedHinge result;
    {
      nb::gil_scoped_release release;
      result = hinge_smoothed_plane(*X.matrix, sample(), s.data(), h, slope.data(), n_threads);
    }
    return {to_numpy(std::move(slope)), result};
  }

  template <class S>
  std::tuple<Array1<S>, Array1<double>, SmoothedHinge> scored_plane(const PyMatrix& X,
                                                                    Vector<const double> w,
                                                                    std::optional<ScoresOf<S>> base,
                                                                    double h, int n_threads) const {
    check(X, w.shape(0));
    if (base) check(*base);
    Array1<S> scores = X.template take<S>();
    std::vector<double> slope(X.matrix->cols());
    SmoothedHinge result;
    {
      nb::gil_scoped_release release;
      result = hinge_scored_plane(*X.matrix, sample(), w.data(), base ? base->data() : nullptr, h,
                                  scores.data(), slope.data(), n_threads);
    }
    return {std::move(scores), to_numpy(std::move(slope)), result};
  }

  Array1<double> extrapolated_slope(const PyMatrix& X, Singles s, double h, double reach,
                                    int n_threads) const {
    check(X, s);
    std::vector<double> slope(X.matrix->cols());
    {
      nb::gil_scoped_release release;
      hinge_extrapolated_slope(*X.matrix, sample(), s.data(), h, reach, slope.data(), n_threads);
    }
    return to_numpy(std::move(slope));
  }

  template <class S>
  double rounding_error(ScoresOf<S> s, double h, int n_threads) const {
    check(s);
    nb::gil_scoped_release release;
    return hinge_rounding_error(sample(), s.data(), h, n_threads);
  }

  double move(Vector<float> s, Singles end, double step, int n_threads) const {
    check(end);
    if (s.shape(0) != y_.shape(0)) throw std::invalid_argument("one score per label is needed");
    nb::gil_scoped_release release;
    return hinge_move(sample(), s.data(), end.data(), step, n_threads);
  }

 private:
  HingeSample sample() const {
    return {y_.data(), c_ ? c_->data() : nullptr, each_, static_cast<index_t>(y_.shape(0))};
  }
  template <class S>
  static LineOf<S> line(const ScoresOf<S>& s, const std::optional<ScoresOf<S>>& other,
                        bool towards) {
    if (!other) return {s.data()};
    return {s.data(), other->data(), towards ? LineKind::kTowards : LineKind::kAlong};
  }
  template <class S>
  void check(const ScoresOf<S>& s, const std::optional<ScoresOf<S>>& direction = {}) const {
    if (s.shape(0) != y_.shape(0) || (direction && direction->shape(0) != y_.shape(0)))
      throw std::invalid_argument("one score per label is needed");
  }
  template <class S>
  void check(const PyMatrix& X, const ScoresOf<S>& s,
             const std::optional<ScoresOf<S>>& end = {}) const {
    check(s, end);
    check(X, static_cast<std::size_t>(X.matrix->cols()));
  }
  void check(const PyMatrix& X, std::size_t weights) const {
    if (static_cast<std::size_t>(X.matrix->rows()) != y_.shape(0))
      throw std::invalid_argument("one label per row is needed");
    if (static_cast<std::size_t>(X.matrix->cols()) != weights)
      throw std::invalid_argument("one weight per feature is needed");
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
      .def("value", &Hinge::value<double>, "scores"_a, "n_threads"_a = 0)
      .def("value", &Hinge::value<float>, "scores"_a, "n_threads"_a = 0)
      .def("cut", &Hinge::cut, "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def("balanced_cut", &Hinge::balanced_cut, "scores"_a, "width"_a, "n_threads"_a = 0,
           "(coef, offset, value), coef summing to zero")
      .def("offset", &Hinge::offset, "coef"_a, "n_threads"_a = 0)
      .def("smoothed", &Hinge::smoothed, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("extrapolated", &Hinge::extrapolated, "scores"_a, "h"_a, "reach"_a, "n_threads"_a = 0)
      .def("kinks", &Hinge::kinks<double>, "scores"_a, "h"_a, "n_threads"_a = 0,
           "(rows, weights) of the examples on the rounded kink")
      .def("kinks", &Hinge::kinks<float>, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("ray", &Hinge::ray<float>, "scores"_a, "other"_a.none(), "towards"_a, "t"_a, "h"_a = 0.0,
           "n_threads"_a = 0)
      .def("ray_minimum", &Hinge::ray_minimum<float>, "scores"_a, "other"_a.none(), "towards"_a,
           "quadratic"_a, "linear"_a, "C"_a, "start"_a = 0.0, "n_threads"_a = 0)
      .def("ray", &Hinge::ray<double>, "scores"_a, "other"_a.none(), "towards"_a, "t"_a,
           "h"_a = 0.0, "n_threads"_a = 0,
           "(value, slope, curvature) at scores + t * direction: other, other - scores if towards, "
           "or 1 if None")
      .def("ray_minimum", &Hinge::ray_minimum<double>, "scores"_a, "other"_a.none(), "towards"_a,
           "quadratic"_a, "linear"_a, "C"_a, "start"_a = 0.0, "n_threads"_a = 0)
      .def("cut_plane", &Hinge::cut_plane, "matrix"_a, "scores"_a.noconvert(), "end"_a.noconvert(),
           "mu"_a, "n_threads"_a = 0, "(slope, offset, value) at scores + mu * (end - scores)")
      .def("smoothed_plane", &Hinge::smoothed_plane<float>, "matrix"_a, "scores"_a.noconvert(),
           "h"_a, "n_threads"_a = 0)
      .def("smoothed_plane", &Hinge::smoothed_plane<double>, "matrix"_a, "scores"_a, "h"_a,
           "n_threads"_a = 0)
      .def("scored_plane", &Hinge::scored_plane<double>, "matrix"_a, "w"_a, "base"_a.none(), "h"_a,
           "n_threads"_a = 0, "(base + X @ w, slope, sums of the rounded hinge there) in one pass")
      .def("single_scored_plane", &Hinge::scored_plane<float>, "matrix"_a, "w"_a,
           "base"_a.noconvert().none(), "h"_a, "n_threads"_a = 0,
           "The same in single precision; the value is infinite where that is too small.")
      .def("extrapolated_slope", &Hinge::extrapolated_slope, "matrix"_a, "scores"_a.noconvert(),
           "h"_a, "reach"_a, "n_threads"_a = 0)
      .def("rounding_error", &Hinge::rounding_error<float>, "scores"_a.noconvert(), "h"_a,
           "n_threads"_a = 0)
      .def("rounding_error", &Hinge::rounding_error<double>, "scores"_a, "h"_a, "n_threads"_a = 0)
      .def("move", &Hinge::move, "scores"_a.noconvert(), "end"_a.noconvert(), "step"_a,
           "n_threads"_a = 0, "The scores are moved towards end; the risk there.")
      .def(
          "advance", &Hinge::advance, "scores"_a, "end"_a, "step"_a, "mu"_a, "n_threads"_a = 0,
          "scores are moved, end becomes the coefficients of the cut; (value, the cut's offset and "
          "value)");
}

}  // namespace cutplane::bind
