#include "core/losses/separable.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bindings/bind.hpp"

namespace cutplane::bind {
namespace {

using nb::literals::operator""_a;
using Scores = Vector<const double>;

Loss make_loss(const std::string& name, const std::vector<double>& parameters) {
  if (name == "squared_hinge" && parameters.empty()) return SquaredHingeLoss{};
  if (name == "logistic" && parameters.empty()) return LogisticLoss{};
  if (name == "squared_epsilon" && parameters.size() == 1) return SquaredEpsilonLoss{parameters[0]};
  if (name == "huber" && parameters.size() == 1) return HuberLoss{parameters[0]};
  if (name == "tube" && parameters.size() == 3)
    return TubeLoss{parameters[0], parameters[1], parameters[2]};
  throw std::invalid_argument("there is no loss " + name + " with that many parameters");
}

// The targets and weights of a sample under one loss, with the sums over it that training asks for.
class Separable {
 public:
  Separable(const std::string& loss, const std::vector<double>& parameters, Vector<const double> y,
            std::optional<Vector<const double>> c, double each)
      : loss_(make_loss(loss, parameters)), y_(std::move(y)), c_(std::move(c)), each_(each) {
    if (c_ && c_->shape(0) != y_.shape(0))
      throw std::invalid_argument("one weight per target is needed");
  }

  double value(Scores s, int n_threads) const {
    check(s);
    nb::gil_scoped_release release;
    return separable_value(loss_, sample(), s.data(), n_threads);
  }

  std::tuple<Array1<double>, double, double> cut(Scores s, int n_threads) const {
    check(s);
    auto coef = buffers_->take(s.shape(0));
    SeparableCut result;
    {
      nb::gil_scoped_release release;
      result = separable_cut(loss_, sample(), s.data(), coef.data(), n_threads);
    }
    return {coef, result.offset, result.value};
  }

  std::tuple<Array1<double>, double, double, double, index_t> smoothed(Scores s, double h,
                                                                       int n_threads) const {
    check(s);
    auto coef = buffers_->take(s.shape(0));
    SeparableSmoothed result;
    {
      nb::gil_scoped_release release;
      result = separable_smoothed(loss_, sample(), s.data(), h, coef.data(), n_threads);
    }
    return {coef, result.offset, result.value, result.error, result.curved};
  }

  Array1<double> extrapolated(Scores s, double h, double reach, int n_threads) const {
    check(s);
    auto coef = buffers_->take(s.shape(0));
    {
      nb::gil_scoped_release release;
      tube_extrapolated(tube(), sample(), s.data(), h, reach, coef.data(), n_threads);
    }
    return coef;
  }

  std::tuple<Array1<std::int64_t>, Array1<double>> curved(Scores s, double h, int n_threads) const {
    check(s);
    CurvedExamples found;
    {
      nb::gil_scoped_release release;
      found = separable_curved(loss_, sample(), s.data(), h, n_threads);
    }
    return {to_numpy(std::move(found.rows), found.count),
            to_numpy(std::move(found.weights), found.count)};
  }

  std::tuple<double, double, double> ray(Scores s, std::optional<Scores> other, bool towards,
                                         double t, double h, int n_threads) const {
    check(s, other);
    nb::gil_scoped_release release;
    const RayDerivatives at =
        separable_ray(loss_, sample(), line(s, other, towards), h, t, n_threads);
    return {at.value, at.slope, at.curvature};
  }

  double ray_minimum(Scores s, std::optional<Scores> other, bool towards, double quadratic,
                     double linear, double C, double start, int n_threads) const {
    check(s, other);
    const TubeLoss& loss = tube();
    nb::gil_scoped_release release;
    return tube_ray_minimum(loss, sample(), line(s, other, towards), quadratic, linear, C, start,
                            n_threads);
  }

  double offset(Scores coef, int n_threads) const {
    check(coef);
    nb::gil_scoped_release release;
    return separable_offset(loss_, sample(), coef.data(), n_threads);
  }

 private:
  SeparableSample sample() const {
    return {y_.data(), c_ ? c_->data() : nullptr, each_, static_cast<index_t>(y_.shape(0))};
  }
  const TubeLoss& tube() const {
    const auto* loss = std::get_if<TubeLoss>(&loss_);
    if (!loss) throw std::invalid_argument("a smooth loss has no kinks");
    return *loss;
  }
  static ScoreLine line(const Scores& s, const std::optional<Scores>& other, bool towards) {
    if (!other) return {s.data()};
    return {s.data(), other->data(), towards ? ScoreLine::Kind::kTowards : ScoreLine::Kind::kAlong};
  }
  void check(const Scores& s, const std::optional<Scores>& direction = {}) const {
    if (s.shape(0) != y_.shape(0) || (direction && direction->shape(0) != y_.shape(0)))
      throw std::invalid_argument("one score per target is needed");
  }

  Loss loss_;
  Vector<const double> y_;
  std::optional<Vector<const double>> c_;
  double each_;
  std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

}  // namespace

void bind_separable(nb::module_& m) {
  nb::class_<Separable>(m, "Separable", "Sums over a sample of a loss of one score per example.")
      .def(nb::init<const std::string&, const std::vector<double>&, Vector<const double>,
                    std::optional<Vector<const double>>, double>(),
           "loss"_a, "parameters"_a, "y"_a, "weights"_a.none(), "each"_a)
      .def("value", &Separable::value, "scores"_a, "n_threads"_a = 0)
      .def("cut", &Separable::cut, "scores"_a, "n_threads"_a = 0, "(coef, offset, value)")
      .def("smoothed", &Separable::smoothed, "scores"_a, "h"_a, "n_threads"_a = 0,
           "(coef, offset, value, error, examples where it is curved)")
      .def("extrapolated", &Separable::extrapolated, "scores"_a, "h"_a, "reach"_a,
           "n_threads"_a = 0)
      .def("curved", &Separable::curved, "scores"_a, "h"_a, "n_threads"_a = 0,
           "(rows, h times the second derivatives) where the rounded loss is curved")
      .def("ray", &Separable::ray, "scores"_a, "other"_a.none(), "towards"_a, "t"_a, "h"_a = 0.0,
           "n_threads"_a = 0,
           "(value, slope, curvature) at scores + t * direction: other, other - scores if towards, "
           "or 1 if None")
      .def("ray_minimum", &Separable::ray_minimum, "scores"_a, "other"_a.none(), "towards"_a,
           "quadratic"_a, "linear"_a, "C"_a, "start"_a = 0.0, "n_threads"_a = 0)
      .def("offset", &Separable::offset, "coef"_a, "n_threads"_a = 0);
}

}  // namespace cutplane::bind
